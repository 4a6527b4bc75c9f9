/**
 * Writes of a store that keeps records as bytes.
 */
import type { Awaitable } from '../awaitable.js';
import type { Delta, RecordName } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import { isTurncoreError, messageOf, TurncoreError } from '../errors.js';
import { Message } from '../primitives/message.js';
import {
  type ConduitBytes,
  isMediaReader,
  isSpoolReader,
  type MediaReader,
  type SpoolReader,
} from '../primitives/readers.js';
import { Thought } from '../primitives/thought.js';
import { ToolCall } from '../primitives/tool-call.js';
import { storedError } from '../stored-errors.js';
import { isObject } from '../validation/field-kinds.js';
import { contentId, crc32, Sha256 } from './checksum.js';
import { decodeRecord, encodeKeeping, readersOf, type ReadOptions } from './codec.js';
import { idOf, kindNumber, kindOf, unstorable } from './form.js';
import { type BytesReference, openedBy, StoredReader } from './stored-reader.js';

/** A write of a store that keeps records as bytes: what {@link rowsOf} makes of a delta. */
export interface Row {
  readonly op: Delta['op'];
  readonly kind: RecordName;
  /** The id of the record that is written or deleted, of a standing instruction its text; empty for a replaced group. */
  readonly id: string;
  /** The tool calls that a group replaces, and the old text of a mutated instruction. */
  readonly ids: readonly string[];
  /** The record's stored form, as `encodeRecord` writes it; undefined for a deletion and a group. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** The checksum of kind, id and body; see {@link sumOf}. */
  readonly sum: number;
  /** The ids of the session's bytes that the record refers to, each once. */
  readonly bytes: readonly string[];
  /** When a message, a thought or a tool call was created, in ms: the newest of them is what `newest` returns. */
  readonly at: number | undefined;
  /** The rows of the tool calls that replace `ids`, each with the operation `store`. */
  readonly group: readonly Row[];
}

/** The part of a store that keeps bytes. */
export interface BytesStore {
  putBytes(session: string, id: string, content: ConduitBytes): Awaitable<void>;
  openBytes(session: string, id: string): Awaitable<SpoolReader & MediaReader>;
}

const utf8 = new TextEncoder();

/**
 * The checksum that a store keeps with a stored record, the same as in Go: CRC-32 (IEEE) of the kind's number as a
 * byte, the id in UTF-8, a zero byte, and the body.
 */
export function sumOf(kind: RecordName, id: string, body: Uint8Array): number {
  const name = utf8.encode(id);
  const head = new Uint8Array(name.length + 2);
  head[0] = kindNumber(kind);
  head.set(name, 1);
  return crc32(body, crc32(head));
}

/**
 * The rows of the writes of a session, for stores that keep records as bytes. What the records' readers read and the
 * session does not have is put into the store first, under an id made of its content: `sha256-` and 64 hexadecimal
 * digits.
 *
 * @throws TurncoreError (rejects) E_RECORD_UNSTORABLE that names session, record and field
 */
export async function rowsOf(
  store: BytesStore,
  session: string,
  deltas: readonly Delta[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const delta of deltas) {
    try {
      rows.push(await rowOf(store, session, delta));
    } catch (error) {
      throw inSession(session, error);
    }
  }
  return rows;
}

async function rowOf(store: BytesStore, session: string, delta: Delta): Promise<Row> {
  const { op } = delta;
  const none = { body: undefined, sum: 0, bytes: [], at: undefined, group: [] };
  if (op === 'delete') return { ...none, op, kind: delta.kind, id: delta.id, ids: [] };
  if (op === 'replaceToolCallGroup') {
    const group: Row[] = [];
    for (const call of delta.records) group.push(await put(store, session, 'store', call));
    return { ...none, op, kind: 'toolCall', id: '', ids: delta.ids, group };
  }
  const row = await put(store, session, op, delta.record);
  const old = op === 'mutate' ? delta.old : undefined;
  return old === undefined || old === row.id ? row : { ...row, ids: [old] };
}

async function put(
  store: BytesStore,
  session: string,
  op: Delta['op'],
  record: Entry,
): Promise<Row> {
  const references = new Map<unknown, BytesReference>();
  for (const [field, reader] of readersOf(record)) {
    references.set(reader, await keepBytes(store, session, reader, record, field));
  }
  const body = encodeKeeping(record, (reader) => references.get(reader)!);
  const kind = kindOf(record);
  const id = new TextDecoder('utf-8', { ignoreBOM: true }).decode(utf8.encode(idOf(record)));
  const bytes = [...new Set([...references.values()].map(({ bytesId }) => bytesId))];
  const dated =
    record instanceof Message || record instanceof Thought || record instanceof ToolCall;
  const at = dated ? +record.createdAt : undefined;
  return { op, kind, id, ids: [], body, sum: sumOf(kind, id, body), bytes, at, group: [] };
}

/**
 * Makes the record of a row that a store of the session has loaded: checks the sum, and opens readers with `openedBy`.
 *
 * @throws TurncoreError E_STORED_RECORD_INVALID that names session, kind and id
 */
export function readRow(
  store: BytesStore,
  session: string,
  row: Pick<Row, 'kind' | 'id' | 'sum'> & { readonly body: Uint8Array },
  options: Omit<ReadOptions, 'open'> = {},
): Entry {
  const { kind, id, sum, body } = row;
  const invalid = (why: string): Error => {
    const text = `session ${JSON.stringify(session)}, ${kind} ${JSON.stringify(id)}: ${why}`;
    return storedError('E_STORED_RECORD_INVALID', text, { details: { session, kind, id } });
  };
  if (sumOf(kind, id, body) !== sum) throw invalid('its checksum is wrong');
  let record: Entry;
  try {
    record = decodeRecord(kind, body, { ...options, open: openedBy(store, session) });
  } catch (error) {
    throw inSession(session, error);
  }
  if (idOf(record) !== id) {
    throw invalid(`it is the record of ${JSON.stringify(idOf(record))}`);
  }
  return record;
}

/** @internal The same error of a record with the session's name in it. */
export function inSession(session: string, error: unknown): unknown {
  if (!isTurncoreError(error)) return error;
  const { code } = error;
  if (code !== 'E_RECORD_UNSTORABLE' && code !== 'E_STORED_RECORD_INVALID') return error;
  const start = error.message.indexOf(': ');
  const text = `session ${JSON.stringify(session)}, ${error.message.slice(start + 2)}`;
  const details = isObject(error.details) ? { session, ...error.details } : { session };
  return storedError(code, text, { details, cause: error.cause });
}

/** A reference to the bytes of a reader in a session, which it puts there if need be. */
async function keepBytes(
  store: BytesStore,
  session: string,
  reader: unknown,
  record: Entry,
  field: string,
): Promise<BytesReference> {
  if (reader instanceof StoredReader && reader.isIn(store, session)) return reader;
  const fail = (error: unknown): never => {
    throw unstorable(record, field, messageOf(error), error);
  };
  const digest = new Sha256();
  let size = 0;
  const whole = await readOut(reader, (piece) => {
    digest.add(piece);
    size += piece.length;
  }).catch(fail);
  const hash = digest.hex();
  const id = contentId(hash);
  const reference = { bytesId: id, bytesLength: size };
  if ((await sizeIn(store, session, id)) === size) return reference;
  if (whole !== undefined) {
    await store.putBytes(session, id, whole);
    return reference;
  }
  const again = new Sha256();
  let changed = false;
  const checked = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      again.add(piece);
      controller.enqueue(piece);
    },
    flush(controller) {
      changed = again.hex() !== hash;
      if (changed) controller.error(new Error('its bytes change while they are read'));
    },
  });
  const stream = await Promise.resolve((reader as MediaReader).stream()).catch(fail);
  try {
    await store.putBytes(session, id, stream.pipeThrough(checked));
  } catch (error) {
    if (changed) fail(error);
    throw error;
  }
  return reference;
}

/** How many bytes a session has under an id; undefined for none. */
async function sizeIn(store: BytesStore, session: string, id: string): Promise<number | undefined> {
  try {
    return await (await store.openBytes(session, id)).byteLength();
  } catch (error) {
    if (isTurncoreError(error) && error.code === 'E_BYTES_NOT_FOUND') return undefined;
    throw error;
  }
}

/** @internal Hands on all that a reader reads, in pieces. Returns the whole of a text that comes in one. */
export async function readOut(
  reader: unknown,
  take: (piece: Uint8Array) => void,
): Promise<Uint8Array | undefined> {
  if (!isMediaReader(reader)) {
    if (!isSpoolReader(reader)) throw TurncoreError.of('E_NOT_A_SPOOL_READER');
    const whole = utf8.encode(await reader.readAll());
    take(whole);
    return whole;
  }
  const from = (await reader.stream()).getReader();
  for (let next = await from.read(); !next.done; next = await from.read()) take(next.value);
  return undefined;
}
