/**
 * Conversations as documents: JSON that another store, another host or a person can read.
 */
import type { Awaitable } from '../awaitable.js';
import type { Delta, RecordName } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import { messageOf } from '../errors.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import type { Conversation } from '../sessions/conversation.js';
import { storeError } from '../store-errors.js';
import { isObject } from '../validation/field-kinds.js';
import { fromBase64, toBase64 } from './base64.js';
import { contentId, Sha256 } from './checksum.js';
import { bytesOf, jsonKeeping, readersOf, recordFromJSON } from './codec.js';
import { unstorable } from './form.js';
import { type BytesStore, inSession, readOut } from './rows.js';
import { fromSpelled } from './spelling.js';
import { type BytesReference, openedBy, StoredReader } from './stored-reader.js';

const FORMAT = 'turncore.conversation';
const VERSION = 1;

/** The lists of records of a document, in their order, with their kinds. */
const LISTS = [
  ['memories', 'memory'],
  ['retrievables', 'retrievable'],
  ['messages', 'message'],
  ['thoughts', 'thought'],
  ['toolCalls', 'toolCall'],
] as const satisfies readonly (readonly [string, RecordName])[];

/** Bytes of a document: text if they are UTF-8. */
export type DocumentBytes = { readonly text: string } | { readonly base64: string };

/** A conversation as JSON data. Its records are what `recordToJSON` gives. */
export interface ConversationDocument {
  readonly format: typeof FORMAT;
  /** Version of the format. */
  readonly v: number;
  /** The session's id. */
  readonly id: string;
  readonly title?: string;
  /** When the session began, in ISO 8601. */
  readonly createdAt?: string;
  readonly instructions: readonly string[];
  readonly memories: readonly Readonly<Record<string, unknown>>[];
  readonly retrievables: readonly Readonly<Record<string, unknown>>[];
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly thoughts: readonly Readonly<Record<string, unknown>>[];
  readonly toolCalls: readonly Readonly<Record<string, unknown>>[];
  /** The bytes that records refer to, by id. */
  readonly bytes: Readonly<Record<string, DocumentBytes>>;
}

/** A store whose conversations travel. One that lists its sessions exports their titles as well. */
export interface DocumentStore extends BytesStore {
  load(session: string): Awaitable<Conversation>;
  commit(session: string, commit: { readonly deltas: readonly Delta[] }): Awaitable<unknown>;
  find?(
    session: string,
  ): Awaitable<{ readonly title: string; readonly createdAt: Date } | undefined>;
  setTitle?(session: string, title: string): Awaitable<void>;
}

/**
 * A session as a document: JSON text that {@link importConversation} reads, and Go's `store.Import` too. Go writes the
 * same bytes.
 *
 * @throws TurncoreError (rejects) E_SESSION_NOT_FOUND if the session has no records; E_BYTES_NOT_FOUND if bytes are
 * missing; E_RECORD_UNSTORABLE for a record that cannot be written down
 */
export async function exportConversation(store: DocumentStore, session: string): Promise<string> {
  const loaded = await store.load(session);
  if (isEmpty(loaded)) throw ofSession('E_SESSION_NOT_FOUND', session);
  const document: Record<string, unknown> = { format: FORMAT, v: VERSION, id: wellFormed(session) };
  await describe(store, session, document);
  const readers = new Map<string, unknown>();
  try {
    document['instructions'] = loaded.instructions.map((text) => {
      if (text.dynamic) throw unstorable(text, 'text', 'a text that a function renders');
      return wellFormed(text.toString());
    });
    for (const [list] of LISTS) {
      const records: unknown[] = [];
      for (const record of loaded[list]) records.push(await toJSON(record, readers));
      document[list] = records;
    }
    const bytes = {};
    for (const [id, reader] of readers) define(bytes, id, await contentOf(reader));
    document['bytes'] = bytes;
  } catch (error) {
    throw inSession(session, error);
  }
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Writes a document into a session that has no records.
 *
 * @param document the text of {@link exportConversation} or of Go's `store.Export`, or its data
 * @param session default: the document's own
 * @returns the session's id
 * @throws TurncoreError (rejects) E_SESSION_EXISTS if the session has records; E_STORED_RECORD_INVALID if the document is
 * none. The session has no records then.
 */
export async function importConversation(
  store: DocumentStore,
  document: string | ConversationDocument,
  session?: string,
): Promise<string> {
  const data = requireDocument(typeof document === 'string' ? parse(document) : document);
  const id = session ?? data.id;
  if (!isEmpty(await store.load(id))) throw ofSession('E_SESSION_EXISTS', id);
  let deltas: Delta[];
  const bytes = new Map<string, string | Uint8Array>();
  try {
    deltas = deltasOf(data, store, id);
    for (const delta of deltas) {
      for (const name of delta.op === 'store' ? bytesOf(delta.record) : []) {
        if (!bytes.has(name)) bytes.set(name, bytesIn(data, name));
      }
    }
  } catch (error) {
    throw inSession(id, error);
  }
  if (deltas.length === 0) throw invalid('it has no records');
  for (const [name, content] of bytes) await store.putBytes(id, name, content);
  await store.commit(id, { deltas });
  if (data.title !== undefined && data.title !== '') await store.setTitle?.(id, data.title);
  return id;
}

function isEmpty(loaded: Conversation): boolean {
  return loaded.instructions.length === 0 && LISTS.every(([list]) => loaded[list].length === 0);
}

function ofSession(code: 'E_SESSION_NOT_FOUND' | 'E_SESSION_EXISTS', session: string): Error {
  return storeError(code, JSON.stringify(session), { details: { session } });
}

/** Says of a session what a store that lists its sessions knows. */
async function describe(
  store: DocumentStore,
  session: string,
  document: Record<string, unknown>,
): Promise<void> {
  const found = await store.find?.(session);
  if (found === undefined) return;
  if (found.title !== '') document['title'] = wellFormed(found.title);
  document['createdAt'] = found.createdAt.toISOString();
}

/** A record as JSON data. Notes the readers of its bytes; those without an id get one by their content. */
async function toJSON(record: Entry, readers: Map<string, unknown>): Promise<unknown> {
  const references = new Map<unknown, BytesReference>();
  for (const [field, reader] of readersOf(record)) {
    let reference: BytesReference;
    if (reader instanceof StoredReader) reference = reader;
    else {
      const digest = new Sha256();
      let bytesLength = 0;
      await readOut(reader, (piece) => {
        digest.add(piece);
        bytesLength += piece.length;
      }).catch((error: unknown) => {
        throw unstorable(record, field, messageOf(error), error);
      });
      reference = { bytesId: contentId(digest.hex()), bytesLength };
    }
    references.set(reader, reference);
    if (!readers.has(reference.bytesId)) readers.set(reference.bytesId, reader);
  }
  return jsonKeeping(record, (reader) => references.get(reader)!);
}

async function contentOf(reader: unknown): Promise<DocumentBytes> {
  const pieces: Uint8Array[] = [];
  await readOut(reader, (piece) => void pieces.push(piece));
  const whole = new Uint8Array(pieces.reduce((n, piece) => n + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(whole) };
  } catch {
    return { base64: toBase64(whole) };
  }
}

function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true });
}

/** A text as UTF-8 has it: lone surrogates become U+FFFD. */
function wellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}

function invalid(why: string, cause?: unknown): Error {
  return storeError('E_STORED_RECORD_INVALID', `the document: ${why}`, { cause });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(messageOf(error), error);
  }
}

const MEMBERS: readonly string[] = [
  'format',
  'v',
  'id',
  'title',
  'createdAt',
  'instructions',
  ...LISTS.map(([list]) => list),
  'bytes',
];

function requireDocument(data: unknown): ConversationDocument {
  if (!isObject(data)) throw invalid('it is not an object');
  const { format, v, id, title = '', createdAt, instructions = [], bytes = {} } = data;
  if (format !== FORMAT) throw invalid(`its format is ${JSON.stringify(format)}, not "${FORMAT}"`);
  if (!Number.isSafeInteger(v) || (v as number) < 1) throw invalid('it has no version');
  if ((v as number) > VERSION) throw invalid(`version ${String(v)}: a document of a later version`);
  for (const name of Object.keys(data)) {
    if (!MEMBERS.includes(name)) throw invalid(`${name}: it is no member of a document`);
  }
  if (typeof id !== 'string') throw invalid('id: it is not a text');
  if (typeof title !== 'string') throw invalid('title: it is not a text');
  if (
    createdAt !== undefined &&
    Number.isNaN(fromSpelled(JSON.stringify(createdAt).slice(1, -1)))
  ) {
    throw invalid('createdAt: it is not a time');
  }
  if (!Array.isArray(instructions)) throw invalid('instructions: it is not a list');
  instructions.forEach((text: unknown, i) => {
    if (typeof text !== 'string') throw invalid(`instructions[${i}]: it is not a text`);
    if (text === '') throw invalid(`instructions[${i}]: it is empty`);
  });
  const lists: Record<string, unknown> = {};
  for (const [list] of LISTS) {
    lists[list] = data[list] ?? [];
    if (!Array.isArray(lists[list])) throw invalid(`${list}: it is not a list`);
  }
  if (!isObject(bytes)) throw invalid('bytes: it is not an object');
  return { ...data, ...lists, instructions, bytes } as unknown as ConversationDocument;
}

function deltasOf(data: ConversationDocument, store: DocumentStore, session: string): Delta[] {
  const open = openedBy(store, session);
  const instructions = data.instructions.map((text): Delta => {
    return { op: 'store', kind: 'standingInstruction', record: new Tokenizable(text) };
  });
  const records = LISTS.flatMap(([list, kind]) =>
    data[list].map((one): Delta => {
      return { op: 'store', kind, record: recordFromJSON(kind, one, { open }) };
    }),
  );
  return [...instructions, ...records];
}

function bytesIn({ bytes }: ConversationDocument, id: string): string | Uint8Array {
  const name = `bytes ${JSON.stringify(id)}`;
  if (!Object.hasOwn(bytes, id)) throw invalid(`${name} are missing`);
  const { text, base64, ...others } = bytes[id] as { text?: unknown; base64?: unknown };
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`${name}: ${other}: it is no member of bytes`);
  if (typeof text === 'string' && base64 === undefined) return text;
  if (typeof base64 !== 'string' || text !== undefined) {
    throw invalid(`${name}: one of text and base64 is required`);
  }
  const decoded = fromBase64(base64);
  if (decoded === undefined) throw invalid(`${name}: it is not base64`);
  return decoded;
}
