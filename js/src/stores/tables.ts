/**
 * The tables of a database that keeps conversations, as schema.sql in host/store/internal/sqlstore explains them, and
 * the sums of their rows.
 */
import { type Awaitable, isThenable } from '../awaitable.js';
import { crc32 } from '../stored/checksum.js';

/** A row of sessions. */
export interface SessionRow {
  number: number;
  id: string;
  revision: number;
  settled: number;
  newest: number | null;
  created: number;
  title: string;
  messages: number;
  records: number;
  digest: number;
  keys: number;
  events: number;
  appended: number;
  base: number;
  cut: number;
  sum: number;
}

/** A row of records. */
export interface RecordRow {
  kind: number;
  id: string;
  place: number;
  added: number;
  changed: number;
  body: Uint8Array;
  sum: number;
}

/** A row of keys. */
export interface KeyRow {
  key: string;
  turn: string;
  revision: number;
  sum: number;
}

/** A row of bytes. */
export interface BytesRow {
  id: string;
  content: number;
  size: number;
  added: number;
  sum: number;
}

/** A row of parts, without what identifies it. */
export interface PartRow {
  /** Undefined for a part that is in the file of its content. */
  data: Uint8Array | undefined;
  sum: number;
}

/** A row of events. */
export interface EventRow {
  revision: number;
  id: string;
  body: Uint8Array;
  sum: number;
}

/** A row of state. */
export interface StateRow {
  scope: string;
  name: string;
  value: Uint8Array;
  sum: number;
}

/** A row of artifacts. */
export interface ArtifactRow {
  scope: string;
  name: string;
  version: number;
  content: number;
  size: number;
  body: Uint8Array;
  sum: number;
}

/** A row of journals. */
export interface JournalRow {
  turn: string;
  epoch: number;
  first: number;
  next: number;
  checkpoint: Uint8Array | null;
  sum: number;
}

/** A row of entries. */
export interface EntryRow {
  turn: string;
  number: number;
  body: Uint8Array;
  sum: number;
}

/** The tables in a transaction. Sessions and contents go by their numbers. */
export interface Tables {
  findSession(id: string): Awaitable<SessionRow | undefined>;
  /** The number of a session that is added; undefined if there is one of its id. */
  addSession(row: SessionRow): Awaitable<number | undefined>;
  setSession(row: SessionRow): Awaitable<void>;
  /** Drops a session with all that belongs to it. The contents of its bytes and artifacts stay. */
  dropSession(session: number): Awaitable<void>;
  /** The forks that share records of a session up to a revision or a later one. */
  forksOf(base: number, cut: number): Awaitable<SessionRow[]>;
  lastRevision(): Awaitable<number>;
  /** Sessions behind a place in the list, those updated last first. */
  listSessions(revision: number, number: number, limit: number): Awaitable<SessionRow[]>;
  /** As {@link listSessions}, of the sessions whose ids begin with a text, which is not empty. */
  listSessionsOf(
    prefix: string,
    revision: number,
    number: number,
    limit: number,
  ): Awaitable<SessionRow[]>;
  /** All records by kind and place. */
  allRecords(session: number): Awaitable<RecordRow[]>;
  recordsOfKind(session: number, kind: number): Awaitable<RecordRow[]>;
  /** Records added after a revision, without instructions, by kind and place. */
  recordsAfter(session: number, revision: number): Awaitable<RecordRow[]>;
  /** The records of a session that were added up to a revision, by kind and place. */
  sharedRecords(base: number, cut: number): Awaitable<RecordRow[]>;
  sharedOfKind(base: number, kind: number, cut: number): Awaitable<RecordRow[]>;
  /** Gives a fork rows of its own of the records that were added up to a revision, and of their references. */
  copyShared(fork: number, base: number, cut: number): Awaitable<void>;
  findRecord(session: number, kind: number, id: string): Awaitable<RecordRow | undefined>;
  lastPlace(session: number, kind: number): Awaitable<number>;
  placeAfter(session: number, kind: number, place: number): Awaitable<number | undefined>;
  addRecord(session: number, row: RecordRow): Awaitable<void>;
  /** Writes `changed`, `body` and `sum` of the row with the kind and id. */
  setRecord(session: number, row: RecordRow): Awaitable<void>;
  /** Writes `place` and `sum` of the row with the kind and id. */
  moveRecord(session: number, row: RecordRow): Awaitable<void>;
  dropRecord(session: number, kind: number, id: string): Awaitable<void>;
  findKey(session: number, key: string): Awaitable<KeyRow | undefined>;
  /** The key of a turn with its latest revision. */
  lastKey(session: number, turn: string): Awaitable<KeyRow | undefined>;
  /** A key of a turn with a revision. */
  keyOfRevision(session: number, turn: string, revision: number): Awaitable<KeyRow | undefined>;
  countKeys(session: number): Awaitable<number>;
  addKey(session: number, row: KeyRow): Awaitable<void>;
  /** Drops the keys of a turn. Returns how many there were. */
  dropKeysOfTurn(session: number, turn: string): Awaitable<number>;
  addRef(session: number, kind: number, record: string, bytes: string): Awaitable<void>;
  dropRefs(session: number, kind: number, record: string): Awaitable<void>;
  findBytes(session: number, id: string): Awaitable<BytesRow | undefined>;
  allBytes(session: number): Awaitable<BytesRow[]>;
  putBytes(session: number, row: BytesRow): Awaitable<void>;
  dropBytes(session: number, id: string): Awaitable<void>;
  /** Copies bytes, events, state and artifacts. */
  fork(to: number, from: number): Awaitable<void>;
  /** Gives a session the events of another one up to a revision. Returns how many. */
  forkEvents(to: number, from: number, revision: number): Awaitable<number>;
  /** Gives a session the first versions of an artifact of another one's own scope. */
  forkVersions(to: number, from: number, name: string, count: number): Awaitable<void>;
  /** The number of a content that is added. */
  addContent(added: number): Awaitable<number>;
  usesOfContent(content: number): Awaitable<number>;
  /** Drops a content and its parts. */
  dropContent(content: number): Awaitable<void>;
  addPart(content: number, part: number, row: PartRow): Awaitable<void>;
  findPart(content: number, part: number): Awaitable<PartRow | undefined>;
  /** Ids of sessions with bytes from before a time to which no record refers. */
  sessionsWithUnusedBytes(before: number, limit: number): Awaitable<string[]>;
  /** Contents from before a time that neither bytes nor artifacts have. */
  unusedContents(before: number, limit: number): Awaitable<number[]>;
  /** Ids of sessions with keys of turns that wrote last before a revision and have no journal. */
  sessionsWithOldKeys(before: number, limit: number): Awaitable<string[]>;
  /** Those turns of a session. */
  turnsWithOldKeys(session: number, before: number): Awaitable<string[]>;
  findEvent(session: number, id: string): Awaitable<EventRow | undefined>;
  /** The first events behind a revision. */
  eventsAfter(session: number, revision: number, limit: number): Awaitable<EventRow[]>;
  /** The last events behind a revision, the last one first. */
  lastEvents(session: number, revision: number, limit: number): Awaitable<EventRow[]>;
  addEvent(session: number, row: EventRow): Awaitable<void>;
  /** The values of a scope, in any order. */
  allState(session: number, scope: string): Awaitable<StateRow[]>;
  setState(session: number, row: StateRow): Awaitable<void>;
  dropState(session: number, scope: string, name: string): Awaitable<void>;
  /** The artifacts of a scope, in any order. */
  allArtifacts(session: number, scope: string): Awaitable<ArtifactRow[]>;
  findArtifact(
    session: number,
    scope: string,
    name: string,
    version: number,
  ): Awaitable<ArtifactRow | undefined>;
  /** The last version of an artifact. */
  lastArtifact(session: number, scope: string, name: string): Awaitable<ArtifactRow | undefined>;
  addArtifact(session: number, row: ArtifactRow): Awaitable<void>;
  /** The contents of a session's artifacts. */
  contentsOfArtifacts(session: number): Awaitable<number[]>;
  findJournal(turn: string): Awaitable<JournalRow | undefined>;
  addJournal(row: JournalRow): Awaitable<void>;
  setJournal(row: JournalRow): Awaitable<void>;
  /** Drops a journal with its entries. */
  dropJournal(turn: string): Awaitable<void>;
  /** The entries of a journal from a number on, in their order. */
  entriesFrom(turn: string, number: number): Awaitable<EntryRow[]>;
  addEntry(row: EntryRow): Awaitable<void>;
  dropEntriesBefore(turn: string, number: number): Awaitable<void>;
  readMeta(name: string): Awaitable<number | undefined>;
  writeMeta(name: string, value: number): Awaitable<void>;
}

/** A computation in a transaction, which waits for answers where a database gives them later. */
export type Step<T> = Generator<unknown, T, unknown>;

/** What a table answers. */
export function* ask<T>(answer: Awaitable<T>): Step<T> {
  if (!isThenable(answer)) return answer;
  return (yield answer) as T;
}

/** Runs a computation whose tables answer at once. */
export function runNow<T>(step: Step<T>): T {
  const { done, value } = step.next();
  if (done !== true) throw new Error('the database answers late');
  return value;
}

/** Runs a computation whose tables answer later. */
export async function runLater<T>(
  step: Step<T>,
  answered = async (question: unknown): Promise<unknown> => question,
): Promise<T> {
  let next = step.next();
  while (next.done !== true) {
    let answer: unknown;
    try {
      answer = await answered(next.value);
    } catch (error) {
      next = step.throw(error);
      continue;
    }
    next = step.next(answer);
  }
  return next.value;
}

const utf8 = new TextEncoder();
const END = new Uint8Array(1);

/** The checksum of a row's columns. Text counts as its UTF-8, null as nothing. */
function sum(...columns: readonly (number | string | Uint8Array | null)[]): number {
  let crc = 0;
  for (const column of columns) {
    if (column !== null) {
      crc = crc32(column instanceof Uint8Array ? column : utf8.encode(String(column)), crc);
    }
    crc = crc32(END, crc);
  }
  return crc;
}

/** The sum of a session's row. */
export function sessionSum(r: SessionRow): number {
  return sum(
    ...[r.id, r.revision, r.settled, r.newest, r.created, r.title, r.messages, r.records, r.digest],
    ...[r.keys, r.events, r.appended, r.base, r.cut],
  );
}

/** The sum of a record's row. */
export function recordSum({ kind, id, place, added, changed, body }: RecordRow): number {
  return sum(kind, id, place, added, changed, body);
}

/** The sum of a key's row. */
export function keySum({ key, turn, revision }: KeyRow): number {
  return sum(key, turn, revision);
}

/** The sum of a row of bytes. */
export function bytesSum({ id, content, size, added }: BytesRow): number {
  return sum(id, content, size, added);
}

/** The sum of a part. */
export function partSum(content: number, part: number, data: Uint8Array): number {
  return sum(content, part, data);
}

/** The sum of an event's row. */
export function eventSum({ revision, id, body }: EventRow): number {
  return sum(revision, id, body);
}

/** The sum of a value's row. */
export function stateSum({ scope, name, value }: StateRow): number {
  return sum(scope, name, value);
}

/** The sum of an artifact's row. */
export function artifactSum(row: ArtifactRow): number {
  const { scope, name, version, content, size, body } = row;
  return sum(scope, name, version, content, size, body);
}

/** The sum of a journal's row. */
export function journalSum({ turn, epoch, first, next, checkpoint }: JournalRow): number {
  return sum(turn, epoch, first, next, checkpoint);
}

/** The sum of an entry's row. */
export function entrySum({ turn, number, body }: EntryRow): number {
  return sum(turn, number, body);
}
