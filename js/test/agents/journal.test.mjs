/**
 * Journals of agents' turns replay in the agent's file.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { loadModule } from 'turncore';
import { loadAgent } from 'turncore/agents';
import { MemoryJournal, replay } from 'turncore/replay';

import { answersOf, hostOf, playOn } from './play.mjs';
import { example, names } from './examples.mjs';

describe('a journal of an agent', () => {
  for (const name of names) {
    it(`replays: ${name}`, async () => {
      const { file, grant, play } = await example(name);
      const journals = [];
      const { host, model } = hostOf(play, answersOf(play));
      const journal = () => {
        journals.push(new MemoryJournal());
        return journals.at(-1);
      };
      const options = { grant, options: play.options, model, host: { ...host, journal } };
      const agent = await loadAgent(file, options);
      await playOn(agent.createRunner(), play);
      assert.equal(journals.length, play.turns.length);
      for (const written of journals) {
        const report = await replay(written.bytes(), loadModule(file));
        assert.equal(report.difference, undefined);
        assert.ok(report.entries > 5 && report.sameModule === true, JSON.stringify(report.header));
      }
    });
  }
});
