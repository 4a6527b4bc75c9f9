/**
 * The conformance corpus in Node: functions that answer at once, and functions that take a moment. With
 * TURNCORE_CONFORMANCE_TO set to a folder the logs are written there, for other hosts' to be compared with.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import {
  check,
  type CorpusFile,
  features,
  logText,
  playable,
  Player,
} from '../../src/conformance/index.js';
import { skip, testHost } from '../turn/harness.js';

const corpus = new URL('../../../../runtime/testdata/conformance/', import.meta.url);
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
        for (const scenario of file.scenarios.filter((s) => playable(s, features))) {
          it(scenario.id, async () => {
            player ??= new Player({ host: await testHost(), patient });
            const log = await player.play(scenario);
            check(scenario, log);
            const text = logText(log);
            assert.equal(text, logs.get(scenario.id) ?? text);
            logs.set(scenario.id, text);
          });
        }
      }
    });
  }

  const folder = process.env['TURNCORE_CONFORMANCE_TO'];
  it('ran', () => {
    assert.ok(logs.size > 0);
    if (folder === undefined) return;
    const text = files
      .flatMap((file) => file.scenarios)
      .filter(({ needs = [] }) => needs.length === 0)
      .map(({ id }) => `# ${id}\n${logs.get(id) ?? ''}`);
    writeFileSync(join(folder, 'node.log'), text.join(''));
  });
});
