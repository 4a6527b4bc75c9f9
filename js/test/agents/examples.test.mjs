/**
 * The agents of examples/agents give the event logs that they give in Go.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { meterAgent } from 'turncore/agents';

import { example, names } from './examples.mjs';
import { playAgent } from './play.mjs';

describe('example agents', () => {
  it('are metered to the same bytes as by the command', async () => {
    const { file } = await example('panel');
    const path = new URL('../../../build/agents/panel-metered.wasm', import.meta.url);
    const metered = await readFile(path);
    assert.ok(metered.length > file.length && metered.equals(meterAgent(file)));
  });
  for (const name of names) {
    it(name, async () => {
      const { file, grant, play, log } = await example(name);
      assert.equal(await playAgent(file, grant, play), log);
    });
  }
});
