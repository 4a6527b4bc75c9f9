import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { needCommand, temporaryFolder, turncore } from './turncore.js';

describe('turncore replay', () => {
  let folder: string;
  let journal: string;
  let bytes: Buffer;

  before(async () => {
    await needCommand();
    folder = await temporaryFolder();
    journal = join(folder, 'journal');
    const { status, stderr } = await turncore(['run', 'calculate 2*3', '--log', journal]);
    assert.equal(status, 0, stderr);
    bytes = readFileSync(journal);
  });

  async function replayOf(content: Uint8Array | string): ReturnType<typeof turncore> {
    const file = join(folder, 'changed');
    await writeFile(file, content);
    return turncore(['replay', file]);
  }

  it('plays what a run has logged', async () => {
    const { status, stdout, stderr } = await turncore(['replay', journal]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /journal: \d+ entries from node replayed on node, all bytes are equal\n$/);
    assert.equal(stderr, '');
  });

  it(
    'leaves the journal to its owner',
    { skip: process.platform === 'win32' && 'modes are of POSIX' },
    () => {
      assert.equal(statSync(journal).mode & 0o777, 0o600);
    },
  );

  it('notices another answer', async () => {
    const changed = Buffer.from(bytes);
    // In the last frames out is the answer's full text.
    const at = changed.lastIndexOf('answered');
    assert.ok(at > 0);
    changed[at] = changed[at]! ^ 1;
    const { status, stdout, stderr } = await replayOf(changed);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^error: \S+: E_REPLAY_DIVERGED: .*entry \d+, frame \d+/);
  });

  it('refuses anything that is not a whole journal', async () => {
    const hostile: (Uint8Array | string)[] = [
      '',
      'text that is not a journal',
      bytes.subarray(0, 20),
      bytes.subarray(0, bytes.length - 3),
      Buffer.concat([bytes, Buffer.from([0x93])]),
      // An array, a map and a string that claim to be endless.
      Buffer.concat([bytes, Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff])]),
      Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff]),
      Buffer.concat([bytes, Buffer.from([0x92, 0xc6, 0xff, 0xff, 0xff, 0xff])]),
      Buffer.alloc(100_000, 0x91),
    ];
    for (const content of hostile) {
      const { status, stdout, stderr } = await replayOf(content);
      assert.equal(status, 1, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /^(note: .*\n)?error: .+\n/);
      assert.ok(stderr.length < 2000, 'it says little');
    }
  });

  it('survives frames that are garbage', async () => {
    let refused = 0;
    for (let at = 0.1; at < 1; at += 0.1) {
      const changed = Buffer.from(bytes);
      const i = Math.floor(bytes.length * at);
      changed[i] = changed[i]! ^ 0xff;
      const { status, stderr } = await replayOf(changed);
      assert.ok(status === 0 || status === 1, `${status}: ${stderr}`);
      if (status === 1) refused++;
    }
    assert.ok(refused > 0, 'no change was noticed');
  });
});
