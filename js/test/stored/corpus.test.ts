/**
 * Every record that the conformance corpus writes has a stored form that gives it again, with the same bytes as in Go.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Delta, memoryStore, type Store } from '../../src/index.js';
import { type CorpusFile, features, playable, Player } from '../../src/conformance/index.js';
import {
  bytesOf,
  encodeRecord,
  type Entry,
  openedBy,
  readRow,
  recordFromJSON,
  recordToJSON,
  type Row,
  rowsOf,
} from '../../src/entries/records.js';
import type { Commit } from '../../src/entries/stores.js';
import { root } from '../instance/go-guest.js';
import { fullModule, skip, testHost } from '../turn/harness.js';

/** A store that writes every record down and reads it, in both spellings. */
function spelling(bodies: Map<string, Uint8Array[]>): Store {
  const memory = memoryStore();
  const seen = new Set<string>();
  const spell = (session: string, row: Row): Entry => {
    const { kind, bytes } = row;
    const body = row.body!;
    bodies.set(session, [...(bodies.get(session) ?? []), body]);
    const read = readRow(memory, session, { ...row, body });
    const data: unknown = JSON.parse(JSON.stringify(recordToJSON(read)));
    const fromJSON = recordFromJSON(kind, data, { open: openedBy(memory, session) });
    for (const record of [read, fromJSON]) {
      assert.deepEqual(encodeRecord(record), body);
      assert.deepEqual(bytesOf(record), bytes);
    }
    return read;
  };
  const commit = async (session: string, of: Commit): Promise<string> => {
    if (seen.has(of.key!)) return memory.commit(session, of);
    const rows = await rowsOf(memory, session, of.deltas);
    seen.add(of.key!);
    const deltas = of.deltas.map((delta, i): Delta => {
      const row = rows[i]!;
      if (delta.op === 'delete') return delta;
      if (delta.op !== 'replaceToolCallGroup') return { ...delta, record: spell(session, row) };
      return { ...delta, records: row.group.map((one) => spell(session, one)) as never };
    });
    return memory.commit(session, { ...of, deltas });
  };
  return {
    load: (session) => memory.load(session),
    commit,
    putBytes: (session, id, content) => memory.putBytes(session, id, content),
    openBytes: (session, id) => memory.openBytes(session, id),
  };
}

describe('stored forms of the corpus', { skip }, () => {
  it('are those of Go', async () => {
    const file = new URL('abi/testdata/records/corpus.json', root);
    const sums = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const want: Record<string, string> = {};
    const bodies = new Map<string, Uint8Array[]>();
    const folder = new URL('runtime/testdata/conformance/', root);
    const host = await testHost({ module: await fullModule() });
    const player = new Player({ host, store: spelling(bodies) });
    for (const name of readdirSync(folder).sort()) {
      if (!name.endsWith('.json')) continue;
      const { scenarios } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as CorpusFile;
      for (const scenario of scenarios) {
        // Go does not play what only JavaScript can do.
        if (!playable(scenario, features) || !playable(scenario, ['full'])) continue;
        await player.play(scenario);
        const sum = sums[scenario.id];
        if (sum !== undefined) want[scenario.id] = sum;
      }
    }
    assert.ok(player.commits > 1000, `${player.commits} commits`);
    const got: Record<string, string> = {};
    for (const [id, list] of bodies) {
      const digest = createHash('sha256');
      for (const body of list) digest.update(body);
      got[id] = digest.digest('hex');
    }
    assert.deepEqual(got, want);
  });
});
