/**
 * Rows of stores that keep records as bytes, and their checksums.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { crc32 as zlibCrc32 } from 'node:zlib';
import type { Delta } from '../../src/collections/deltas.js';
import type { ConduitBytes, MediaReader, SpoolReader } from '../../src/primitives/readers.js';
import { Media } from '../../src/primitives/media.js';
import { Message } from '../../src/primitives/message.js';
import { SpooledArtifact } from '../../src/primitives/spooled-artifact.js';
import { Tokenizable } from '../../src/primitives/tokenizable.js';
import { ToolCall, type ToolCallResults } from '../../src/primitives/tool-call.js';
import { MemoryReader } from '../../src/readers/memory-reader.js';
import { storeError } from '../../src/store-errors.js';
import { storedError } from '../../src/stored-errors.js';
import { crc32, Sha256 } from '../../src/stored/checksum.js';
import { type BytesStore, readRow, rowsOf, sumOf } from '../../src/stored/rows.js';
import { openedBy } from '../../src/stored/stored-reader.js';
import { collectBytes } from '../../src/store/byte-store.js';

const at = new Date(1_700_000_000_123);
const times = { createdAt: at, updatedAt: at };

class Bytes implements BytesStore {
  readonly kept = new Map<string, MemoryReader>();
  puts = 0;

  async putBytes(session: string, id: string, content: ConduitBytes): Promise<void> {
    this.puts++;
    this.kept.set(`${session}/${id}`, new MemoryReader(await collectBytes(content)));
  }

  openBytes(session: string, id: string): MemoryReader {
    const reader = this.kept.get(`${session}/${id}`);
    if (reader === undefined) throw storeError('E_BYTES_NOT_FOUND', `session ${session}, id ${id}`);
    return reader;
  }
}

function call(id: string, results: string | ToolCallResults): ToolCall {
  const parts = { id, tool: 'search', args: {}, checksum: '1f', isComplete: true, isError: false };
  return new ToolCall({ ...parts, results, ...times, completedAt: at });
}

const stored = (record: ToolCall): Delta => ({ op: 'store', kind: 'toolCall', record });

/** A reader that is one of texts only. */
function spool(readAll: () => string): SpoolReader {
  const reader = new MemoryReader('');
  return {
    line: () => undefined,
    byteLength: () => 0,
    lineCount: () => reader.lineCount(),
    readAll,
  };
}

function media(stream: () => ReadableStream<Uint8Array>): SpoolReader & MediaReader {
  return Object.assign(
    spool(() => ''),
    { stream },
  );
}

describe('rows', () => {
  it('have the stored forms, and what the session lacks is put into it once', async () => {
    const store = new Bytes();
    const blob = new MemoryReader('one\ntwo');
    const attachment = { kind: 'image', mimeType: 'image/png', filename: 'a.png' } as const;
    const message = new Message({
      id: 'm',
      role: 'user',
      content: 'look',
      attachments: [Media.userAttachment({ ...attachment, reader: blob })],
      ...times,
    });
    const own = new SpooledArtifact(openedBy(store, 'a')('own', 3));
    const text = new SpooledArtifact(spool(() => 'one\ntwo'));
    const rows = await rowsOf(store, 'a', [
      { op: 'store', kind: 'message', record: message },
      { op: 'mutate', kind: 'toolCall', record: call('c', [new SpooledArtifact(blob), own, text]) },
      { op: 'delete', kind: 'memory', id: 'gone' },
      { op: 'mutate', kind: 'standingInstruction', record: new Tokenizable('new'), old: 'old' },
      { op: 'replaceToolCallGroup', kind: 'toolCall', ids: ['c', 'd'], records: [call('e', 'x')] },
    ]);
    const id = `sha256-${createHash('sha256').update('one\ntwo').digest('hex')}`;
    assert.deepEqual(rows[0]!.bytes, [id]);
    assert.deepEqual(rows[1]!.bytes, [id, 'own']);
    assert.equal(store.puts, 1);
    assert.equal(store.openBytes('a', id).readAll(), 'one\ntwo');
    const { op, kind, id: gone, body } = rows[2]!;
    assert.deepEqual([op, kind, gone, body], ['delete', 'memory', 'gone', undefined]);
    assert.deepEqual([rows[3]!.id, rows[3]!.ids], ['new', ['old']]);
    assert.deepEqual([rows[4]!.ids, rows[4]!.group[0]!.id], [['c', 'd'], 'e']);
    assert.equal(rows[4]!.group[0]!.at, +at);
    const head = Buffer.concat([Buffer.from('\x03m\x00'), rows[0]!.body!]);
    assert.equal(rows[0]!.sum, zlibCrc32(head));

    const read = readRow(store, 'a', { ...rows[1]!, body: rows[1]!.body! }) as ToolCall;
    const [first, second] = read.results as readonly SpooledArtifact[];
    assert.equal(await first!.asString(), 'one\ntwo');
    await assert.rejects(second!.asString(), { code: 'E_BYTES_NOT_FOUND' });
    const again = await rowsOf(store, 'a', [stored(read)]);
    assert.deepEqual(again[0]!.body, rows[1]!.body);
    assert.equal(store.puts, 1);
    await rowsOf(store, 'b', [stored(call('c', first!))]);
    assert.equal(store.puts, 2);
    assert.equal(store.openBytes('b', id).readAll(), 'one\ntwo');
  });

  it('refuse readers that fail, by name, and pass on the errors of the store', async () => {
    let reads = 0;
    const readers = {
      'the disk is gone': spool(() => {
        throw new Error('the disk is gone');
      }),
      'its bytes change': media(() => {
        const text = 'x'.repeat(++reads);
        return new MemoryReader(text).stream();
      }),
    };
    for (const [why, reader] of Object.entries(readers)) {
      const rows = rowsOf(new Bytes(), 'a', [stored(call('c', new SpooledArtifact(reader)))]);
      await assert.rejects(rows, (error: Error & { details: unknown; code: string }) => {
        assert.equal(error.code, 'E_RECORD_UNSTORABLE');
        const details = { session: 'a', kind: 'toolCall', id: 'c', field: 'results.reader' };
        assert.deepEqual(error.details, details);
        assert.ok(error.message.includes(`session "a", toolCall "c": results.reader: ${why}`));
        return true;
      });
    }
    const full = new Bytes();
    full.putBytes = () => Promise.reject(storedError('E_STORE_FAILED', 'the disk is full'));
    const artifact = new SpooledArtifact(new MemoryReader('text'));
    await assert.rejects(rowsOf(full, 'a', [stored(call('c', artifact))]), {
      code: 'E_STORE_FAILED',
    });
  });

  it('notice every flipped bit', async () => {
    const [row] = await rowsOf(new Bytes(), 'a', [stored(call('c', 'text'))]);
    for (let bit = 0; bit < row!.body!.length * 8; bit++) {
      const body = row!.body!.slice();
      body[bit >> 3]! ^= 1 << (bit & 7);
      assert.throws(() => readRow(new Bytes(), 'a', { ...row!, body }), {
        code: 'E_STORED_RECORD_INVALID',
        message: /session "a", toolCall "c"/,
      });
    }
    const other = { ...row!, id: 'd', body: row!.body!, sum: sumOf('toolCall', 'd', row!.body!) };
    assert.throws(() => readRow(new Bytes(), 'a', other), { code: 'E_STORED_RECORD_INVALID' });
  });
});

describe('checksums', () => {
  it('are those of the platform', () => {
    for (const size of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 1000, 70_000]) {
      const bytes = randomBytes(size);
      assert.equal(crc32(bytes), zlibCrc32(bytes));
      assert.equal(crc32(bytes.subarray(3), crc32(bytes.subarray(0, 3))), zlibCrc32(bytes));
      const digest = new Sha256();
      for (let i = 0; i < size; i += 37) digest.add(bytes.subarray(i, i + 37));
      assert.equal(digest.hex(), createHash('sha256').update(bytes).digest('hex'), `${size}`);
    }
  });
});
