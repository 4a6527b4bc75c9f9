/**
 * The conformance corpus in Node: functions that answer at once, and functions that take a moment. CORPUS_SHARD=2/4 is
 * every fourth scenario of each file, the second first; without it all are played.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import {
  check,
  checkStorage,
  type CorpusFile,
  failing,
  features,
  logText,
  playable,
  Player,
} from '../../src/conformance/index.js';
import { fullModule, skip, testHost } from '../turn/harness.js';

const corpus = new URL('../../../../runtime/testdata/conformance/', import.meta.url);
const [which = 1, of = 1] = (process.env['CORPUS_SHARD'] ?? '1/1').split('/').map(Number);
const mine = (_: unknown, i: number): boolean => i % of === which - 1;
const files = readdirSync(corpus)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => JSON.parse(readFileSync(new URL(name, corpus), 'utf8')) as CorpusFile);

describe('conformance corpus', { skip }, () => {
  const logs = new Map<string, string>();

  for (const patient of [false, true]) {
    describe(patient ? 'functions that take a moment' : 'functions that answer at once', () => {
      for (const file of files) {
        let player: Player | undefined;
        for (const scenario of file.scenarios.filter(mine).filter((s) => playable(s, features))) {
          it(scenario.id, async () => {
            player ??= new Player({
              host: await testHost({ module: await fullModule() }),
              patient,
            });
            const log = await player.play(scenario);
            check(scenario, log);
            const text = logText(log);
            assert.equal(text, logs.get(scenario.id) ?? text);
            logs.set(scenario.id, text);
            for (const one of failing(scenario, log)) {
              const failed = await player.play(one);
              checkStorage(one, failed);
              assert.equal(logText(failed), logs.get(one.id) ?? logText(failed));
              logs.set(one.id, logText(failed));
            }
          });
        }
      }
    });
  }

  it('ran', () => assert.ok(logs.size > 0));
});
