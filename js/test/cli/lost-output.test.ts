/**
 * What the command says and exits with when standard output takes no more.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';

import { command, needCommand, temporaryFolder, turncore } from './turncore.js';

describe('standard output', () => {
  let lines: readonly (readonly string[])[];

  before(async () => {
    await needCommand();
    const journal = join(await temporaryFolder(), 'journal');
    const { status, stderr } = await turncore(['run', 'calculate 2*3', '--log', journal]);
    assert.equal(status, 0, stderr);
    lines = [
      ['help'],
      ['help', 'inspect'],
      ['version'],
      ['run', 'hello'],
      ['run', 'hello', '--json'],
      ['replay', journal],
      ['inspect', journal],
      ['inspect', journal, '--json'],
    ];
  });

  it(
    'fails where it is full, with the reason',
    { skip: !existsSync('/dev/full') && 'this system has no /dev/full' },
    async () => {
      for (const args of lines) {
        const full = openSync('/dev/full', 'w');
        const child = spawn(process.execPath, [command, ...args], {
          stdio: ['ignore', full, 'pipe'],
        });
        const status = new Promise((ended) => child.once('close', ended));
        const said = await text(child.stderr!);
        assert.equal(await status, 1, args.join(' '));
        assert.match(said, /(^|\n)error: standard output: ENOSPC.*\n$/, args.join(' '));
        closeSync(full);
      }
    },
  );

  it('ends quietly where its reader has gone, and did not succeed', async () => {
    for (const args of lines) {
      const child = spawn(process.execPath, [command, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stdout.destroy();
      const status = new Promise((ended) => child.once('close', ended));
      const said = await text(child.stderr);
      assert.equal(await status, 1, args.join(' '));
      assert.equal(said.replace(/^note: the model is simulated.*\n/, ''), '', args.join(' '));
    }
  });
});
