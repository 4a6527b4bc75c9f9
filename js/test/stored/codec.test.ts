/**
 * The stored forms of records: the vectors that Go reads too, what is refused, readers and classes.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { RecordName } from '../../src/collections/deltas.js';
import type { Entry } from '../../src/collections/kinds.js';
import { isTurncoreError, type TurncoreError } from '../../src/errors.js';
import { Identity } from '../../src/primitives/identity.js';
import { Media } from '../../src/primitives/media.js';
import { Message } from '../../src/primitives/message.js';
import { Retrievable } from '../../src/primitives/retrievable.js';
import { SpooledArtifact } from '../../src/primitives/spooled-artifact.js';
import { SpooledJsonArtifact } from '../../src/primitives/spooled-json-artifact.js';
import { Thought } from '../../src/primitives/thought.js';
import { Tokenizable } from '../../src/primitives/tokenizable.js';
import { ToolCall, type ToolCallResults } from '../../src/primitives/tool-call.js';
import { MemoryReader } from '../../src/readers/memory-reader.js';
import {
  bytesOf,
  decodeRecord,
  encodeRecord,
  recordFromJSON,
  recordToJSON,
} from '../../src/stored/codec.js';
import { StoredReader } from '../../src/stored/stored-reader.js';
import { root } from '../instance/go-guest.js';

interface Vector {
  readonly kind: RecordName;
  readonly record: Record<string, unknown>;
  readonly msgpack: string;
}

const folder = new URL('abi/testdata/records/', root);
const vectors = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /^v\d+[\\/].*\.json$/.test(file))
  .map(
    (file) => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Vector] as const,
  );

const at = new Date(1_700_000_000_123);
const times = { createdAt: at, updatedAt: at };
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function toolCall(results: string | ToolCallResults): ToolCall {
  const call = { id: 'c1', tool: 'search', args: { q: 'tea' }, checksum: '1f' };
  return new ToolCall({
    ...call,
    isComplete: true,
    isError: false,
    results,
    ...times,
    completedAt: at,
  });
}

function kept(id: string, size?: number): StoredReader {
  return new StoredReader(id, size, () => new MemoryReader('1\n2'));
}

function image(reader: StoredReader | MemoryReader, stash?: object): Media {
  const parts = { id: 'i1', kind: 'image', mimeType: 'image/png', filename: 'a.png' } as const;
  return Media.userAttachment({ ...parts, reader, stash: stash as undefined });
}

function coded(code: string, run: () => unknown): TurncoreError {
  try {
    run();
  } catch (error) {
    assert.ok(isTurncoreError(error), String(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail(`no ${code}`);
}

describe('stored forms', () => {
  it('has vectors', () => assert.ok(vectors.length >= 27, `${vectors.length}`));

  for (const [name, { kind, record, msgpack }] of vectors) {
    it(`reads and writes ${name} like Go`, () => {
      const spellings = {
        msgpack: decodeRecord(kind, Buffer.from(msgpack, 'hex')),
        json: recordFromJSON(kind, record),
      };
      for (const [spelling, entry] of Object.entries(spellings)) {
        assert.equal(hex(encodeRecord(entry)), msgpack, spelling);
        assert.equal(JSON.stringify(recordToJSON(entry)), JSON.stringify(record), spelling);
      }
    });
  }

  it('refuses what cannot be written down, by name', () => {
    const blob = new MemoryReader('text');
    const dynamic = new Tokenizable(() => 'now');
    const message = (more: object): Message =>
      new Message({ id: 'm1', role: 'user', content: 'Hello', ...times, ...more });
    const noted = image(kept('b1'));
    noted.stash.set('note', 'no fact');
    const cases: readonly (readonly [string, Entry])[] = [
      ['attachments[1].reader', message({ attachments: [image(kept('b1')), image(blob)] })],
      ['attachments[0].stash.note', message({ attachments: [noted] })],
      ['content', message({ content: dynamic })],
      [
        'identity.representation',
        message({ identity: new Identity({ identifier: 'a', representation: dynamic }) }),
      ],
      ['results.reader', toolCall(new SpooledArtifact(blob))],
      ['results[0].reader', toolCall([new SpooledArtifact(blob)])],
      ['results', toolCall(dynamic)],
    ];
    for (const [field, record] of cases) {
      const error = coded('E_RECORD_UNSTORABLE', () => encodeRecord(record));
      const { id } = record as Message;
      const kind = record instanceof ToolCall ? 'toolCall' : 'message';
      assert.deepEqual(error.details, { kind, id, field });
      assert.match(
        error.message,
        new RegExp(`: ${kind} "${id}": ${field.replace(/[[\]]/g, '\\$&')}: `),
      );
    }
    const error = coded('E_RECORD_UNSTORABLE', () => encodeRecord(dynamic));
    assert.deepEqual(error.details, { kind: 'standingInstruction', id: '', field: 'text' });
  });

  it('refuses forms of another shape, by name', () => {
    const form = { v: 1, id: 'm', role: 'user', content: 'x' };
    const ends = { createdAt: at.toISOString(), updatedAt: at.toISOString() };
    const cases: readonly (readonly [unknown, string])[] = [
      [{ ...form, colour: 'red', ...ends }, 'colour: it is no member'],
      [{ ...form, v: 2, ...ends }, 'v: version 2: a record of a later version'],
      [{ ...form, v: 0, ...ends }, 'v: it is no version'],
      [{ ...form, ...ends, v: undefined }, 'v: it is missing'],
      [{ ...form, ...ends, id: undefined }, 'id: it is missing'],
      [{ ...form, ...ends, createdAt: '2024' }, 'createdAt: it is not a time'],
      [{ ...form, ...ends, createdAt: 5 }, 'createdAt: it is not a time'],
      [{ ...form, ...ends, role: 'boss' }, 'role'],
      [{ ...form, ...ends, id: 7 }, 'id: it is not a text'],
      [{ ...form, ...ends, metadata: [] }, 'metadata'],
      [{ ...form, ...ends, identity: {} }, 'identity.identifier: it is missing'],
      [{ ...form, ...ends, attachments: [{ id: 'i', a: 1 }] }, 'attachments[0].a: it is no member'],
      [JSON.parse('{"__proto__": 1}'), '__proto__: it is no member'],
      [[], 'it is not an object'],
    ];
    for (const [data, want] of cases) {
      const error = coded('E_STORED_RECORD_INVALID', () => recordFromJSON('message', data));
      assert.ok(error.message.includes(want), `${error.message}, want ${want}`);
    }
    const bytes = encodeRecord(new Message({ id: 'm', role: 'user', content: 'x', ...times }));
    for (let n = 0; n < bytes.length; n++) {
      coded('E_STORED_RECORD_INVALID', () => decodeRecord('message', bytes.subarray(0, n)));
    }
    coded('E_STORED_RECORD_INVALID', () => decodeRecord('message', Buffer.concat([bytes, bytes])));
    coded('E_STORED_RECORD_INVALID', () => decodeRecord('memory', bytes));
  });

  it('opens readers when they are first read', async () => {
    const hinted = new SpooledJsonArtifact(kept('b1'), { byteLength: 3, lineCount: 2 }, 'jsonl');
    const bytes = encodeRecord(toolCall([hinted, new SpooledArtifact(kept('b2', 5))]));
    const contents = new Map([
      ['b1', '1\n2'],
      ['b2', 'other'],
    ]);
    let opened = 0;
    const read = decodeRecord('toolCall', bytes, {
      open: (id, size) =>
        new StoredReader(id, size, () => {
          opened++;
          return new MemoryReader(contents.get(id)!);
        }),
    }) as ToolCall;
    assert.deepEqual(bytesOf(read), ['b1', 'b2']);
    const [first, second] = read.results as readonly SpooledArtifact[];
    assert.ok(first instanceof SpooledJsonArtifact && first.form === 'jsonl');
    assert.equal(await first.lineCount(), 2);
    assert.equal(opened, 0);
    assert.deepEqual(await first.cat(), ['1', '2']);
    assert.equal(await second!.asString(), 'other');
    assert.equal(opened, 2);

    const alone = decodeRecord('toolCall', bytes) as ToolCall;
    const [lost] = alone.results as readonly SpooledArtifact[];
    await assert.rejects(lost!.asString(), { code: 'E_BYTES_NOT_FOUND', message: /"b1"/ });
    const other = decodeRecord('toolCall', bytes, { open: (id, size) => kept(id, size) });
    const [, shorter] = (other as ToolCall).results as readonly SpooledArtifact[];
    await assert.rejects(shorter!.asString(), { code: 'E_STORED_RECORD_INVALID' });
  });

  it("keeps the application's own fields and classes", () => {
    class Invoice extends SpooledArtifact {
      static override readonly className = 'Invoice';
    }
    const metadata = JSON.parse('{"tags": ["a", 1], "__proto__": {"x": 0.5}}') as Record<
      string,
      unknown
    >;
    metadata['raw'] = Uint8Array.of(1, 2);
    const record = new Retrievable({
      id: 'd',
      content: new Invoice(kept('b1')),
      trustTier: 'first-party',
      artifactConstructor: () => Invoice,
      metadata,
      ...times,
    });
    const bytes = encodeRecord(record);
    for (const classes of [undefined, [Invoice]]) {
      const read = decodeRecord('retrievable', bytes, { classes }) as Retrievable;
      assert.equal(JSON.stringify(read.metadata), JSON.stringify(record.metadata));
      assert.equal((read.content as SpooledArtifact).kind, 'Invoice');
      assert.equal(read.content instanceof Invoice, classes !== undefined);
      assert.equal(hex(encodeRecord(read)), hex(bytes));
      const again = recordFromJSON('retrievable', JSON.parse(JSON.stringify(recordToJSON(read))));
      assert.equal(hex(encodeRecord(again)), hex(bytes));
    }
  });

  it('keeps texts that are empty or not well-formed', () => {
    const records: readonly (readonly [RecordName, Entry])[] = [
      ['message', new Message({ id: 'm', role: 'user', content: new Tokenizable(''), ...times })],
      ['thought', new Thought({ id: 't', content: new Tokenizable(''), ...times })],
      ['message', new Message({ id: '\ud800', role: 'user', content: '\udfff', ...times })],
    ];
    for (const [kind, record] of records) {
      const bytes = encodeRecord(record);
      assert.equal(hex(encodeRecord(decodeRecord(kind, bytes))), hex(bytes));
      const spelled: unknown = JSON.parse(JSON.stringify(recordToJSON(record)));
      assert.equal(hex(encodeRecord(recordFromJSON(kind, spelled))), hex(bytes));
    }
  });

  it('stay what they are, or are refused, whatever a byte of them becomes', () => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    let read = 0;
    for (const [name, { kind, msgpack }] of vectors) {
      for (let i = 0; i < 300; i++) {
        const bytes = Uint8Array.from(Buffer.from(msgpack, 'hex'));
        for (let n = random(3); n >= 0; n--) bytes[random(bytes.length)] = random(256);
        let record: Entry;
        try {
          record = decodeRecord(kind, bytes);
        } catch (error) {
          assert.ok(isTurncoreError(error), `${name}: ${hex(bytes)}: ${String(error)}`);
          assert.equal(error.code, 'E_STORED_RECORD_INVALID');
          continue;
        }
        read++;
        const first = encodeRecord(record);
        assert.equal(hex(encodeRecord(decodeRecord(kind, first))), hex(first), hex(bytes));
        const spelled: unknown = JSON.parse(JSON.stringify(recordToJSON(record)));
        assert.equal(hex(encodeRecord(recordFromJSON(kind, spelled))), hex(first), hex(bytes));
      }
    }
    assert.ok(read > 100, `${read} were read`);
  });
});
