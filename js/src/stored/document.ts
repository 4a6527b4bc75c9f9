/**
 * Conversations as documents: JSON that another store, another host or a person can read.
 */
import type { Awaitable } from '../awaitable.js';
import type { Delta, RecordName } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import { hex } from '../bytes.js';
import { systemEntropy } from '../entropy.js';
import { isTurncoreError, messageOf } from '../errors.js';
import type { MediaReader, SpoolReader } from '../primitives/readers.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import type { Conversation } from '../sessions/conversation.js';
import type { Append, Appender, StateValue } from '../store/appender.js';
import type { PageOptions } from '../store/store.js';
import { sessionError, storeError } from '../store-errors.js';
import { storedError } from '../stored-errors.js';
import { isObject } from '../validation/field-kinds.js';
import { sizeOf } from '../validation/state-name.js';
import { fromBase64, toBase64 } from '../codec/base64.js';
import { contentId, Sha256 } from './checksum.js';
import { bytesOf, jsonKeeping, readersOf, recordFromJSON } from './codec.js';
import { ownEvent, wrongArtifact, wrongEvent, wrongName, wrongValue } from './document-checks.js';
import { unstorable } from './form.js';
import { type BytesStore, inSession, readOut } from './rows.js';
import { fromSpelled } from './spelling.js';
import { type BytesReference, type OpenBytes, StoredReader } from './stored-reader.js';

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
  /** What an `Appender` has of the session; absent for none. Events are in their order. */
  readonly events?: readonly { readonly id: string; readonly body: DocumentBytes }[];
  /** The session's own state. */
  readonly state?: readonly { readonly name: string; readonly value: DocumentBytes }[];
  /** The session's own artifacts: the versions of each in their order. */
  readonly artifacts?: readonly {
    readonly name: string;
    readonly version: number;
    readonly body: DocumentBytes;
    readonly content: DocumentBytes;
  }[];
  /** The bytes that records refer to, by id. */
  readonly bytes: Readonly<Record<string, DocumentBytes>>;
}

/**
 * A store whose conversations travel. One that lists its sessions exports their titles as well, and an `Appender` their
 * events, state and artifacts.
 */
export interface DocumentStore
  extends
    BytesStore,
    Partial<Pick<Appender, 'append' | 'events' | 'state' | 'artifacts' | 'openArtifact'>> {
  load(session: string): Awaitable<Conversation>;
  /** @returns the session's revision; other than a text if the store has none */
  commit(
    session: string,
    commit: { readonly deltas: readonly Delta[]; readonly revision?: string | undefined },
  ): Awaitable<unknown>;
  find?(
    session: string,
  ): Awaitable<{ readonly title: string; readonly createdAt: Date } | undefined>;
  setTitle?(session: string, title: string): Awaitable<void>;
  delete?(session: string): Awaitable<void>;
  /** With `list`, `find` and `delete` it makes imports all or nothing. */
  fork?(from: string, to: string): Awaitable<void>;
  list?(page: PageOptions): Awaitable<{ readonly sessions: readonly { readonly id: string }[] }>;
}

/**
 * A session as a document: JSON text that {@link importConversation} reads, and Go's `store.Import` too. Go writes the
 * same bytes.
 *
 * @throws TurncoreError (rejects) E_SESSION_NOT_FOUND if the session has no records and no events; E_BYTES_NOT_FOUND if
 * bytes are missing; E_RECORD_UNSTORABLE for a record that cannot be written down
 */
export async function exportConversation(store: DocumentStore, session: string): Promise<string> {
  const loaded = await store.load(session);
  const appended = await appendedTo(store, session);
  if (isEmpty(loaded) && Object.keys(appended).length === 0) {
    throw ofSession('E_SESSION_NOT_FOUND', session);
  }
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
    Object.assign(document, appended);
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
 * If the store has `find`, `list`, `fork` and `delete`, and the session is not there, the import is all or nothing:
 * whatever fails, and wherever the process ends. It writes another session first, whose id begins with `%import/`, and
 * then makes the session by `fork`. What an import that was cut off has left under such an id is deleted by the next
 * import of the same session. A session that somebody else has made meanwhile is E_SESSION_CONFLICT. In another store,
 * and in a session that is there and empty, the document is written bit by bit. If that fails, what has been stored of
 * a session that was not there before is deleted, as far as the store has `find` and `delete`.
 *
 * @param document the text of {@link exportConversation} or of Go's `store.Export`, or its data
 * @param session default: the document's own
 * @returns the session's id
 * @throws TurncoreError (rejects) E_SESSION_EXISTS if the session has records or events; E_STORED_RECORD_INVALID, which
 * names the member, if the document is none; E_RECORD_UNSTORABLE if it has events, state or artifacts and the store is
 * no `Appender`. Nothing is stored then.
 */
export async function importConversation(
  store: DocumentStore,
  document: string | ConversationDocument,
  session?: string,
): Promise<string> {
  const data = requireDocument(typeof document === 'string' ? parse(document) : document);
  const id = session ?? data.id;
  const loaded = await store.load(id);
  const there = Object.keys(await appendedTo(store, id)).length > 0;
  if (there || !isEmpty(loaded)) {
    await sweep(store, id);
    throw ofSession('E_SESSION_EXISTS', id);
  }
  const appends = appendsOf(data);
  if (appends.length > 0 && !isAppender(store)) {
    const why = `session ${JSON.stringify(id)}: the store keeps no events, state and artifacts`;
    throw storedError('E_RECORD_UNSTORABLE', why, { details: { session: id } });
  }
  const fresh = store.find !== undefined && (await store.find(id)) === undefined;
  const whole =
    fresh &&
    (['fork', 'list', 'delete'] as const).every((name) => typeof store[name] === 'function');
  /** What is written: the session, or one aside. */
  const at = whole ? asideOf(id) + hex(systemEntropy(16)) : id;
  let deltas: Delta[];
  const bytes = new Map<string, string | Uint8Array>();
  try {
    deltas = deltasOf(data, openedAt(store, at, id));
    for (const delta of deltas) {
      for (const name of delta.op === 'store' ? bytesOf(delta.record) : []) {
        if (!bytes.has(name)) bytes.set(name, bytesIn(data, name));
      }
    }
  } catch (error) {
    throw inSession(id, error);
  }
  if (deltas.length + appends.length === 0) throw invalid('it has no records');
  try {
    for (const [name, content] of bytes) await store.putBytes(at, name, content);
    let revision = whole ? undefined : loaded.revision;
    if (deltas.length > 0) revision = textOrNone(await store.commit(at, { deltas, revision }));
    if (isAppender(store)) await appendAll(store, at, appends, revision);
    if (data.title !== undefined && data.title !== '') await store.setTitle?.(at, data.title);
    if (whole) await store.fork!(at, id);
  } catch (error) {
    // After a conflict the session has what another writer has stored.
    if (whole || (fresh && !isTurncoreError(error, 'E_SESSION_CONFLICT'))) {
      await attempt(() => store.delete?.(at)); // the first failure is the one to tell
    }
    // It was not there before; another import that has made it sweeps.
    const taken = ['E_SESSION_EXISTS', 'E_SESSION_NOT_FOUND'].some((c) =>
      isTurncoreError(error, c),
    );
    throw whole && taken ? sessionError('E_SESSION_CONFLICT', { session: id }) : error;
  }
  if (whole) await sweep(store, id);
  return id;
}

/** The beginning of the ids of what imports of a session write aside. */
function asideOf(session: string): string {
  const digest = new Sha256();
  digest.add(new TextEncoder().encode(session));
  return `%import/${contentId(digest.hex())}/`;
}

/**
 * Deletes what imports of a session have left aside. The session is there: none of them can make it any more. What
 * stays, because the store fails, is swept by another import.
 */
async function sweep(store: DocumentStore, session: string): Promise<void> {
  if (store.fork === undefined) return;
  await attempt(async () => {
    const page = await store.list?.({ prefix: asideOf(session) });
    for (const { id } of page?.sessions ?? []) await store.delete?.(id);
  });
}

async function attempt(call: () => Awaitable<void>): Promise<void> {
  try {
    await call();
  } catch {
    // It goes without.
  }
}

/**
 * Gives readers of the bytes that an import writes. A record of a store that keeps it as it is reads them from the
 * session, and from where the import writes until that is there.
 */
function openedAt(store: DocumentStore, at: string, session: string): OpenBytes {
  const open = async (id: string): Promise<SpoolReader & MediaReader> => {
    try {
      return await store.openBytes(session, id);
    } catch (error) {
      if (at === session || !isTurncoreError(error, 'E_BYTES_NOT_FOUND')) throw error;
      return store.openBytes(at, id);
    }
  };
  return (id, byteLength) => new StoredReader(id, byteLength, () => open(id), store, at);
}

/** Appends, each with the revision of the one before: another writer is a conflict. */
async function appendAll(
  store: DocumentStore & Appender,
  id: string,
  appends: readonly DocumentAppend[],
  seen: string | undefined,
): Promise<void> {
  let revision = seen;
  for (const { content, ...append } of appends) {
    const [artifact] = append.artifacts ?? [];
    if (artifact !== undefined) await store.putBytes(id, artifact.bytes, content!);
    revision = await store.append(id, { ...append, revision });
  }
}

function textOrNone(revision: unknown): string | undefined {
  return typeof revision === 'string' ? revision : undefined;
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

function isAppender(store: DocumentStore): store is DocumentStore & Appender {
  return store.append !== undefined;
}

/** A session's events, state and artifacts in a store, without the empty ones. */
async function appendedTo(
  store: DocumentStore,
  session: string,
): Promise<Pick<ConversationDocument, 'events' | 'state' | 'artifacts'>> {
  if (!isAppender(store)) return {};
  const events = (await store.events(session)).map(({ id, body }) => {
    return { id, body: asText(ownEvent(body)) };
  });
  const state = (await store.state(session, '')).map(({ name, value }) => {
    return { name, value: asText(value) };
  });
  const artifacts = [];
  for (const { name, version, body } of await store.artifacts(session, '')) {
    const content = await contentOf(await store.openArtifact(session, '', name, version));
    artifacts.push({ name, version, body: asText(body), content });
  }
  return {
    ...(events.length > 0 && { events }),
    ...(state.length > 0 && { state }),
    ...(artifacts.length > 0 && { artifacts }),
  };
}

/** An append of a document, with the content of its artifact. */
type DocumentAppend = Append & { readonly content?: Uint8Array };

/** What is appended to a session for a document: artifacts, state, events. */
function appendsOf(data: ConversationDocument): DocumentAppend[] {
  const events = eventsOf(data);
  const state = stateOf(data);
  return [...artifactsOf(data), ...(state.length > 0 ? [{ state }] : []), ...events];
}

function eventsOf(data: ConversationDocument): DocumentAppend[] {
  const ids = new Set<string>();
  return membersOf(data, 'events', ['id', 'body']).map((one, i) => {
    const at = `events[${i}]`;
    const id = textOf(one, 'id', at);
    if (ids.has(id)) throw invalid(`${at}.id: an earlier event has it`);
    ids.add(id);
    const body = binary(contentIn(`${at}.body`, one['body']));
    refuse(`${at}.body`, wrongEvent(id, body));
    return { event: { id, body: ownEvent(body) } };
  });
}

function stateOf(data: ConversationDocument): StateValue[] {
  const names = new Set<string>();
  let size = 0;
  return membersOf(data, 'state', ['name', 'value']).map((one, i) => {
    const at = `state[${i}]`;
    const name = textOf(one, 'name', at);
    refuse(`${at}.name`, names.has(name) ? 'an earlier value has it' : wrongName(name));
    names.add(name);
    const value = binary(contentIn(`${at}.value`, one['value']));
    size += sizeOf(name) + value.length;
    refuse(`${at}.value`, wrongValue(value, size));
    return { scope: '', name, value };
  });
}

function artifactsOf(data: ConversationDocument): DocumentAppend[] {
  const versions = new Map<string, number>();
  return membersOf(data, 'artifacts', ['name', 'version', 'body', 'content']).map((one, i) => {
    const at = `artifacts[${i}]`;
    const name = textOf(one, 'name', at);
    const version = versions.get(name) ?? 0;
    if (one['version'] !== version) throw invalid(`${at}.version: it is not ${version}`);
    versions.set(name, version + 1);
    const body = binary(contentIn(`${at}.body`, one['body']));
    refuse(`${at}.body`, wrongArtifact(body));
    const content = binary(contentIn(`${at}.content`, one['content']));
    const digest = new Sha256();
    digest.add(content);
    const bytes = contentId(digest.hex());
    return { artifacts: [{ scope: '', name, version, bytes, body }], content };
  });
}

function refuse(member: string, why: string | undefined): void {
  if (why !== undefined) throw invalid(`${member}: ${why}`);
}

/** The members of a list, objects of certain members. */
function membersOf(
  data: ConversationDocument,
  list: 'events' | 'state' | 'artifacts',
  names: readonly string[],
): Record<string, unknown>[] {
  const all: unknown = data[list] ?? [];
  if (!Array.isArray(all)) throw invalid(`${list}: it is not a list`);
  return all.map((one: unknown, i) => {
    if (!isObject(one)) throw invalid(`${list}[${i}]: it is not an object`);
    const other = otherThan(one, names);
    if (other !== undefined) throw invalid(`${list}[${i}].${other}: it is no member`);
    return one;
  });
}

/** The first member by name that is not known. */
function otherThan(members: object, known: readonly string[]): string | undefined {
  return Object.keys(members)
    .sort()
    .find((name) => !known.includes(name));
}

function textOf(one: Record<string, unknown>, name: string, at: string): string {
  const value = one[name];
  if (typeof value !== 'string') throw invalid(`${at}.${name}: it is not a text`);
  return value;
}

function binary(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content;
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
  return asText(whole);
}

/** What a document has of bytes. */
function asText(whole: Uint8Array): DocumentBytes {
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
  return storedError('E_STORED_RECORD_INVALID', `the document: ${why}`, { cause });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`it is not JSON: ${messageOf(error)}`, error);
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
  'events',
  'state',
  'artifacts',
  'bytes',
];

function requireDocument(data: unknown): ConversationDocument {
  if (!isObject(data)) throw invalid('it is not an object');
  const { format, v, id, title = '', createdAt, instructions = [], bytes = {} } = data;
  if (format !== FORMAT) throw invalid(`its format is not "${FORMAT}"`);
  if (!Number.isSafeInteger(v) || (v as number) < 1) throw invalid('it has no version');
  if ((v as number) > VERSION) throw invalid(`version ${String(v)}: a document of a later version`);
  const other = otherThan(data, MEMBERS);
  if (other !== undefined) throw invalid(`${other}: it is no member of a document`);
  if (typeof id !== 'string') throw invalid('id: it is not a text');
  if (typeof title !== 'string') throw invalid('title: it is not a text');
  if (
    createdAt !== undefined &&
    (typeof createdAt !== 'string' || Number.isNaN(fromSpelled(createdAt)))
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

function deltasOf(data: ConversationDocument, open: OpenBytes): Delta[] {
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
  return contentIn(name, bytes[id]);
}

/** Reads bytes of a document. `name` is that of the member, for errors. */
function contentIn(name: string, content: unknown): string | Uint8Array {
  if (!isObject(content)) throw invalid(`${name}: it is not an object`);
  const { text, base64 } = content;
  const other = otherThan(content, ['text', 'base64']);
  if (other !== undefined) throw invalid(`${name}: ${other}: it is no member of bytes`);
  if (typeof text === 'string' && base64 === undefined) return text;
  if (typeof base64 !== 'string' || text !== undefined) {
    throw invalid(`${name}: one of text and base64 is required`);
  }
  const decoded = fromBase64(base64);
  if (decoded === undefined) throw invalid(`${name}: it is not base64`);
  return decoded;
}
