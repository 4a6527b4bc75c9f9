// Made recordings of all shapes that traffic has go as they should, and leave the same event log in Node as on the
// native engine, which plays all of them in the tests of the Go command; MADE_SHARD=2/3 plays every third here, from
// the second on.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';

import { play } from './engines.mjs';

const file = new URL('../../host/internal/recording/testdata/conversations.json', import.meta.url);
const [part, parts] = (process.env.MADE_SHARD ?? '1/1').split('/').map(Number);
const folder = mkdtempSync(join(tmpdir(), 'turncore-made-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('made recordings', { concurrency: 2 }, () => {
  const all = JSON.parse(readFileSync(file, 'utf8'));
  for (const { name, why, interactions, want } of all.filter((_, n) => n % parts === part - 1)) {
    it(`${name}: ${why}`, async () => {
      const path = join(folder, `${name}.json`);
      writeFileSync(path, JSON.stringify({ name: 'made', interactions }));
      const logs = new Map();
      for (const engine of ['native', 'node']) {
        const { status, stdout, stderr } = await play(engine, path);
        assert.equal(status, want.exit, `on ${engine}: ${stderr}`);
        const end = JSON.parse(stdout.trimEnd().split('\n').at(-1));
        assert.equal(end.status, want.status);
        assert.deepEqual(
          end.toolCalls.map(({ results }) => results),
          want.results,
        );
        const refused = stderr.matchAll(/^request \d+, (\/[^:]*): sent/gm);
        assert.deepEqual([...refused].map(([, at]) => at).sort(), want.differences ?? []);
        logs.set(stdout, engine);
      }
      assert.equal(logs.size, 1, `the logs of ${[...logs.values()].join(', ')} differ`);
    });
  }
});
