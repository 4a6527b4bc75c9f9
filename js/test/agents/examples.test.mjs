/**
 * The agents of examples/agents, which build/agents has, give the event logs that they give in Go.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { playAgent } from './play.mjs';

const root = new URL('../../../', import.meta.url);
const text = (path) => readFile(new URL(path, root), 'utf8');

describe('example agents', () => {
  for (const name of ['research', 'moderation']) {
    it(name, async () => {
      const file = new Uint8Array(await readFile(new URL(`build/agents/${name}.wasm`, root)));
      const grant = JSON.parse(await text(`examples/agents/${name}/grant.json`));
      const play = JSON.parse(await text(`examples/agents/testdata/${name}.json`));
      const log = await playAgent(file, grant, play);
      assert.equal(log, await text(`examples/agents/testdata/${name}.golden`));
    });
  }
});
