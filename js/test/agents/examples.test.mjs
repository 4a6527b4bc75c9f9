/**
 * The agents of examples/agents give the event logs that they give in Go.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { example, names } from './examples.mjs';
import { playAgent } from './play.mjs';

describe('example agents', () => {
  for (const name of names) {
    it(name, async () => {
      const { file, grant, play, log } = await example(name);
      assert.equal(await playAgent(file, grant, play), log);
    });
  }
});
