/**
 * Readers and stores of bytes.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { MemoryReader, SpooledArtifact } from '../../src/index.js';
import {
  blobReader,
  fileReader,
  isMediaReader,
  isSpoolReader,
  MemoryMediaStore,
  MemorySpoolStore,
  RangeReader,
} from '../../src/entries/stores.js';

const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Uint8Array> =>
  new Uint8Array(await new Response(stream as never).arrayBuffer());

/** The lines of a text as its reader gives them. */
async function lines(reader: RangeReader | MemoryReader): Promise<(string | undefined)[]> {
  const count = await reader.lineCount();
  const list: (string | undefined)[] = [];
  for (let i = 0; i < count; i++) list.push(await reader.line(i));
  assert.equal(await reader.line(count), undefined);
  assert.equal(await reader.line(-1), undefined);
  return list;
}

const texts = [
  '',
  '\n',
  'a',
  'a\nb\n',
  'ä€𝄞\r\nb\n\n',
  '\ufeffmarked\nx',
  `${'long '.repeat(40_000)}\nend`,
];

describe('readers', () => {
  it('H17: empty text has no lines, a line feed at the end begins another line', async () => {
    for (const text of texts) {
      const expected = text === '' ? [] : text.split('\n');
      for (const reader of [new MemoryReader(text), blobReader(new Blob([text]))]) {
        assert.deepEqual(await lines(reader), expected);
        assert.equal(await reader.readAll(), text);
        assert.equal(await reader.byteLength(), Buffer.byteLength(text));
        assert.deepEqual(Buffer.from(await bytesOf(reader.stream())), Buffer.from(text));
        assert.deepEqual(Buffer.from(await bytesOf(reader.stream())), Buffer.from(text));
        assert.ok(isSpoolReader(reader) && isMediaReader(reader));
      }
    }
  });

  it('read any line of a file, in any order, without all of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'readers-'));
    try {
      const path = join(folder, 'log.txt');
      const count = 5000;
      const line = (i: number): string => `${i} ${'é'.repeat(i % 97)}`;
      writeFileSync(path, Array.from({ length: count }, (_, i) => line(i)).join('\n'));
      const file = await open(path);
      try {
        let read = 0;
        const counted = {
          stat: () => file.stat(),
          read: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
            const done = await file.read(buffer, offset, length, position);
            read += done.bytesRead;
            return done;
          },
        };
        const reader = fileReader(counted);
        const artifact = new SpooledArtifact(reader);
        assert.deepEqual(await artifact.cat(4000, 4003), [4000, 4001, 4002].map(line));
        const before = read;
        for (const i of [4999, 0, 255, 256, 257, 2500, 2499])
          assert.equal(await reader.line(i), line(i));
        assert.ok(read - before < 8 * 2 * 65536, `${read - before} bytes`);
        assert.deepEqual(await artifact.grep(/^(1|22|333) /), [1, 22, 333].map(line));
        assert.deepEqual(await artifact.tail(1), [line(4999)]);
      } finally {
        await file.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('say so when the source is shorter than it said, and look again', async () => {
    let size = 10;
    const reader = new RangeReader({
      size: () => size,
      read: (from, to) => {
        if (size > 3) throw new Error('gone');
        return new TextEncoder().encode('a\nb').subarray(from, to);
      },
    });
    await assert.rejects(async () => reader.lineCount(), { message: 'gone' });
    size = 3;
    assert.equal(await reader.lineCount(), 2);
    assert.equal(await reader.line(1), 'b');
  });
});

describe('stores of bytes', () => {
  it('keep text, bytes and streams; readers outlive them', async () => {
    for (const store of [new MemorySpoolStore(), new MemoryMediaStore()]) {
      const first = await store.write('id', 'one');
      assert.equal(store.read('id'), first);
      await store.write('id', new Blob(['two']).stream());
      assert.equal(store.read('id')!.readAll(), 'two');
      const bytes = Uint8Array.of(104, 105);
      const held = await store.write('bytes', bytes);
      bytes[0] = 0;
      assert.equal(held.readAll(), 'hi');
      assert.equal(first.readAll(), 'one');
      assert.equal(store.delete('id'), true);
      assert.equal(store.delete('id'), false);
      assert.equal(store.read('id'), undefined);
      assert.equal(first.readAll(), 'one');
      for (const wrong of [undefined, null, 5, {}, ['a'], Promise.resolve('a')] as never[]) {
        await assert.rejects(store.write('id', wrong), {
          code: 'E_INVALID_VALUE',
          message: /bytes/,
        });
      }
      assert.equal(store.read('id'), undefined);
    }
  });
});
