// A turn recorded on one engine replays on the others: the command compares
// every outbound byte.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { engines, play, recordings, turncore } from './engines.mjs';

const folder = mkdtempSync(join(tmpdir(), 'turncore-replay-'));
after(() => rmSync(folder, { recursive: true }));

const journalOf = (recording, engine) => join(folder, `${recording.name}.${engine}`);

for (const recording of recordings()) {
  for (const engine of engines) {
    test(`${recording.name} from ${engine}`, async () => {
      const journal = journalOf(recording, engine);
      const run = await play(engine, recording.path, ['--log', journal]);
      assert.equal(run.status, 0, run.stderr);
      assert.ok(readFileSync(journal).length > 0, 'the journal is empty');
      for (const other of engines) {
        const replay = await turncore(other, 'replay', [journal]);
        assert.equal(replay.status, 0, `on ${other}: ${replay.stderr}${replay.stdout}`);
      }
    });
  }
}

test('a journal that was changed does not replay', async () => {
  const [recording] = recordings();
  const journal = readFileSync(journalOf(recording, 'wazero'));
  let refused = 0;
  const damaged = join(folder, 'damaged');
  for (let at = 0.2; at < 1; at += 0.2) {
    const bytes = Buffer.from(journal);
    bytes[Math.floor(bytes.length * at)] ^= 0x01;
    writeFileSync(damaged, bytes);
    if ((await turncore('wazero', 'replay', [damaged])).status !== 0) refused++;
  }
  assert.ok(refused > 0, 'no change of a byte was noticed');
});
