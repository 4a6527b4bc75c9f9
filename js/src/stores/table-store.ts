/**
 * A store on the tables of a database.
 */
import type { Awaitable } from '../awaitable.js';
import { type Clock, systemClock } from '../entropy.js';
import { invalidValue, isTurncoreError } from '../errors.js';
import type { ConduitBytes } from '../primitives/readers.js';
import type { Conversation } from '../sessions/conversation.js';
import {
  type Append,
  type Appender,
  type Artifact,
  type EventQuery,
  type ForkPoint,
  NO_REVISION,
  type SessionEvent,
  type StateValue,
} from '../store/appender.js';
import { noArtifact } from '../store/append-faults.js';
import type { Journal, JournalAppend, JournalCompaction, JournalPart } from '../store/journal.js';
import {
  requireAppend,
  requireCompaction,
  requireCount,
  requireEpochNumber,
  requireJournalAppend,
  requireText,
} from '../store/requirements.js';
import { requireSession } from '../store/session-id.js';
import type {
  BytesReader,
  Commit,
  PageOptions,
  SessionInfo,
  SessionPage,
  Sessions,
} from '../store/store.js';
import { sessionError, storeError } from '../store-errors.js';
import { isContentId } from '../stored/checksum.js';
import { bytesOf } from '../stored/codec.js';
import { type Row, rowsOf } from '../stored/rows.js';
import { openedBy, StoredReader } from '../stored/stored-reader.js';
import { append as appendTo, artifactOf, artifactsOf, eventsOf, stateOf } from './append.js';
import { forkAt } from './fork-at.js';
import { checkRecord, Committing, readRecord } from './commit.js';
import { type ContentPlace, contentReader, type Files, putContent } from './contents.js';
import {
  failure,
  invalidBytes,
  invalidInScope,
  invalidSession,
  tooLong,
  tooLongInJournal,
} from './faults.js';
import { appendEntries, compactEntries, deleteEntries, readEntries } from './journal-rows.js';
import { forgetOldKeys } from './keys.js';
import {
  addSession,
  begin,
  checkSession,
  infoOf,
  nextRevision,
  readRevision,
  revisionText,
  sessionOf,
  setSession,
  shown,
} from './session-rows.js';
import { allRecords, freeForks, ownRecords, recordsOfKind } from './shared-records.js';
import {
  ask,
  bytesSum,
  type BytesRow,
  type RecordRow,
  type SessionRow,
  type Step,
  type Tables,
} from './tables.js';

/** A store in a database. */
export interface DatabaseStore extends Sessions, Appender, Journal {
  newest(session: string): Awaitable<number | undefined>;
  /**
   * Deletes bytes that are older than an hour and that no record refers to, and forgets the keys of turns that have
   * committed nothing for a week and have no journal. Commits do so at times.
   *
   * @returns how many were deleted
   */
  collect(): Promise<number>;
  /** How many events a session has; they are not read. 0 if it is not there. */
  countEvents(session: string): Promise<number>;
  /** Waits for what is being written and closes the database. Later calls fail with E_STORE_FAILED. */
  close(): Promise<void>;
  /** How many transactions have been written. */
  readonly transactions: number;
}

/** A database with the tables. */
export interface Database {
  /** Reads in a transaction. */
  view<T>(run: (tables: Tables) => Step<T>): Promise<T>;
  /** Writes in a transaction: all of it, or nothing and an error. */
  update<T>(run: (tables: Tables) => Step<T>): Promise<T>;
  /** What an error of the database means, if that is known. */
  reason(error: unknown): string | undefined;
  /** How many transactions have been written. */
  readonly transactions: number;
  /** The most bytes of a row; undefined for no bound that a record would meet. */
  readonly maxRow?: number | undefined;
  /** Files for contents; undefined where all of them are in the tables. */
  readonly files?: Files | undefined;
  /** Deletes what was left beside the tables. Returns how much. */
  collect?(): Promise<number>;
  close(): Awaitable<void>;
}

/** How long bytes stay to which no record refers, in microseconds: a turn stores them before the record that has them. */
const UNUSED = 3_600_000_000;
/** How long the keys of a turn are kept that nobody says has ended, after its last commit, in microseconds. */
const KEPT_KEYS = 7 * 24 * UNUSED;
/** How many sessions a page has where no limit is given. */
const PAGE = 100;
/** How many bytes of a row are not its id and body. */
const REST_OF_ROW = 128;
/** How many sessions or contents are looked at together. */
const SWEEP = 100;

const utf8 = new TextEncoder();

const lists = [
  'instructions',
  'memories',
  'retrievables',
  'messages',
  'thoughts',
  'toolCalls',
] as const;

/** Keeps conversations in a database. */
export class TableStore implements DatabaseStore {
  readonly #db: Database;
  /** The time in microseconds. */
  readonly #now: () => number;
  /** Where contents are. */
  readonly #place: ContentPlace;
  #closing = false;
  #collecting: Promise<void> | undefined;
  /** When unused bytes were last collected; undefined until that is read. */
  #collected: number | undefined;

  constructor(db: Database, clock: Clock = systemClock) {
    this.#db = db;
    this.#now = () => clock() * 1000;
    this.#place = {
      view: (session, run) => this.#view(session, run),
      update: (session, run) => this.#update(session, run),
      files: db.files,
    };
  }

  async load(id: string, after = ''): Promise<Conversation> {
    const session = requireSession(id);
    const { revision, since, rows } = await this.#view(session, function* (tables) {
      const row = yield* sessionOf(tables, session);
      if (row === undefined)
        return { revision: NO_REVISION, since: after === NO_REVISION, rows: [] };
      const known = shown(row, after);
      const since = known !== undefined && known >= row.settled;
      const rows = since && known > 0 ? addedTo(tables, row, known) : allOf(tables, row);
      return { revision: revisionText(row), since, rows: yield* rows };
    });
    const conversation: Record<(typeof lists)[number], unknown[]> = {
      ...{ instructions: [], memories: [], retrievables: [] },
      ...{ messages: [], thoughts: [], toolCalls: [] },
    };
    const options = { open: openedBy(this, session) };
    for (const row of rows) {
      const record = readRecord(session, row, options);
      conversation[lists[row.kind]!].push(record);
    }
    return {
      ...(conversation as unknown as Conversation),
      revision,
      ...(since ? { after } : {}),
    };
  }

  async commit(id: string, commit: Commit): Promise<string> {
    const session = requireSession(id);
    const once = async (): Promise<string> => {
      const rows = await rowsOf(this, session, commit.deltas);
      this.#checkSizes(session, rows);
      return this.#update(session, (tables) =>
        new Committing(tables, session, commit, this.#now).run(rows),
      );
    };
    let revision;
    try {
      revision = await once();
    } catch (error) {
      // Bytes that were there may have been collected: then they are put again.
      if (!isTurncoreError(error, 'E_BYTES_NOT_FOUND')) throw error;
      revision = await once();
    }
    this.#collectAtTimes();
    return revision;
  }

  /** @throws TurncoreError E_RECORD_UNSTORABLE for a record that is longer than a row */
  #checkSizes(session: string, rows: readonly Row[]): void {
    const most = this.#db.maxRow ?? Infinity;
    for (const { kind, id, body, group } of rows) {
      this.#checkSizes(session, group);
      const size = REST_OF_ROW + utf8.encode(id).length + (body?.length ?? 0);
      if (body !== undefined && size > most) throw tooLong(session, kind, id, body.length, most);
    }
  }

  async putBytes(id: string, bytes: string, content: ConduitBytes): Promise<void> {
    const session = requireSession(id);
    if (typeof bytes !== 'string') throw invalidValue('id', 'must be a string');
    const now = this.#now;
    await putContent(this.#place, session, content, now, (tables, number, size) =>
      setBytes(tables, session, bytes, number, size, now),
    );
  }

  async openBytes(id: string, bytes: string): Promise<BytesReader> {
    const session = requireSession(id);
    const find = async (): Promise<{ content: number; size: number }> => {
      const row = await this.#view(session, function* (tables) {
        const of = yield* sessionOf(tables, session);
        return of && (yield* bytesRow(tables, of, bytes));
      });
      if (row === undefined) throw sessionError('E_BYTES_NOT_FOUND', { session, id: bytes });
      return row;
    };
    const { content, size } = await find();
    const reader = contentReader(this.#place, {
      ...{ session, content, size },
      again: async () => {
        // Only an id that says what the bytes are keeps its bytes.
        const other = await find();
        return isContentId(bytes) && other.size === size ? other.content : undefined;
      },
      missing: () => sessionError('E_BYTES_NOT_FOUND', { session, id: bytes }),
      damaged: (why) => invalidBytes(session, bytes, why),
    });
    // A record that has it is written down with the id of the bytes: this store has them.
    return new StoredReader(bytes, size, () => reader, this, session);
  }

  async newest(id: string): Promise<number | undefined> {
    const session = requireSession(id);
    const row = await this.#view(session, (tables) => sessionOf(tables, session));
    return row?.newest ?? undefined;
  }

  async list({
    cursor = '',
    prefix = '',
    limit: asked = 0,
  }: PageOptions = {}): Promise<SessionPage> {
    const limit = asked > 0 ? asked : PAGE;
    const [number, revision] = readRevision(cursor) ?? [
      // Above the damaged ones too.
      Number.MAX_VALUE,
      Number.MAX_VALUE,
    ];
    const rows = await this.#view('', (tables) =>
      ask(
        prefix === ''
          ? tables.listSessions(revision, number, limit + 1)
          : tables.listSessionsOf(prefix, revision, number, limit + 1),
      ),
    );
    rows.forEach(checkSession);
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? revisionText(page.at(-1)!) : '';
    return { sessions: page.map(infoOf), next };
  }

  async find(id: string): Promise<SessionInfo | undefined> {
    const session = requireSession(id);
    const row = await this.#view(session, (tables) => sessionOf(tables, session));
    return row && infoOf(row);
  }

  async countEvents(id: string): Promise<number> {
    const session = requireSession(id);
    const row = await this.#view(session, (tables) => sessionOf(tables, session));
    return row?.events ?? 0;
  }

  async fork(from: string, to: string): Promise<void> {
    requireSession(from, 'from');
    requireSession(to, 'to');
    const now = this.#now;
    await this.#update(from, function* (tables) {
      const old = yield* sessionOf(tables, from);
      if (old === undefined) throw ofSession('E_SESSION_NOT_FOUND', from);
      const at = yield* nextRevision(tables, old.revision, now);
      if (old.base !== 0) {
        yield* ownRecords(tables, old);
        yield* setSession(tables, old);
      }
      const shared = { base: old.number, cut: old.revision };
      const row = { ...old, id: to, created: at, revision: at, keys: 0, ...shared };
      if (!(yield* addSession(tables, row))) throw ofSession('E_SESSION_EXISTS', to);
      yield* ask(tables.fork(row.number, old.number));
    });
  }

  async forkAt(from: string, to: string, at: ForkPoint): Promise<void> {
    requireSession(from, 'from');
    requireSession(to, 'to');
    requireAppend({ state: at.state });
    this.#checkAppend(to, { state: at.state });
    const now = this.#now;
    await this.#update(from, (tables) => forkAt(tables, from, to, at, now));
  }

  async delete(id: string): Promise<void> {
    const session = requireSession(id);
    await this.#update(session, function* (tables) {
      // One that is damaged can be deleted too.
      const row = yield* ask(tables.findSession(session));
      if (row === undefined) return;
      yield* freeForks(tables, row, 0);
      const contents = (yield* ask(tables.allBytes(row.number))).map(({ content }) => content);
      contents.push(...(yield* ask(tables.contentsOfArtifacts(row.number))));
      yield* ask(tables.dropSession(row.number));
      for (const content of new Set(contents)) yield* dropContent(tables, content);
    });
  }

  async setTitle(id: string, title: string): Promise<void> {
    const session = requireSession(id);
    await this.#update(session, function* (tables) {
      const row = yield* sessionOf(tables, session);
      if (row === undefined) throw ofSession('E_SESSION_NOT_FOUND', session);
      row.title = title;
      yield* setSession(tables, row);
    });
  }

  async append(id: string, append: Append): Promise<string> {
    const session = requireSession(id);
    requireAppend(append);
    this.#checkAppend(session, append);
    return this.#update(session, (tables) => appendTo(tables, session, append, this.#now));
  }

  /** @throws TurncoreError E_RECORD_UNSTORABLE for what is longer than a row */
  #checkAppend(session: string, { event, state = [], artifacts = [] }: Append): void {
    const most = this.#db.maxRow ?? Infinity;
    const check = (kind: string, id: string, scope: string, body: Uint8Array): void => {
      const names = utf8.encode(scope + id).length;
      if (REST_OF_ROW + names + body.length > most) {
        throw tooLong(session, kind, id, body.length, most);
      }
    };
    if (event !== undefined) check('event', event.id, '', event.body);
    for (const { scope, name, value } of state) {
      if (value !== null) check('state', name, scope, value);
    }
    for (const { scope, name, body } of artifacts) check('artifact', name, scope, body);
  }

  async events(id: string, query: EventQuery = {}): Promise<SessionEvent[]> {
    const session = requireSession(id);
    return this.#view(session, (tables) => eventsOf(tables, session, query));
  }

  async state(id: string, scope: string): Promise<StateValue[]> {
    const session = requireSession(id);
    requireText(scope, 'scope');
    return this.#view(session, (tables) => stateOf(tables, session, scope));
  }

  async artifacts(id: string, scope: string): Promise<Artifact[]> {
    const session = requireSession(id);
    requireText(scope, 'scope');
    return this.#view(session, (tables) => artifactsOf(tables, session, scope));
  }

  async openArtifact(
    id: string,
    scope: string,
    name: string,
    version: number,
  ): Promise<BytesReader> {
    const session = requireSession(id);
    requireText(scope, 'scope');
    requireText(name, 'name');
    requireCount(version, 'version');
    const row = await this.#view(session, (tables) =>
      artifactOf(tables, session, scope, name, version),
    );
    const gone = (): Error => noArtifact(session, scope, name, version);
    if (row === undefined) throw gone();
    const { content, size } = row;
    return contentReader(this.#place, {
      ...{ session, content, size },
      again: () => Promise.resolve(undefined),
      missing: gone,
      damaged: (why) => invalidInScope(session, 'artifact', row, `version ${version}: ${why}`),
    });
  }

  async appendJournal(turn: string, append: JournalAppend): Promise<void> {
    requireJournalAppend(turn, append);
    const most = this.#mostOf(turn);
    for (const [i, { length }] of append.entries.entries()) {
      if (length > most) throw tooLongInJournal(turn, append.at + i, length, most);
    }
    await this.#update('', (tables) => appendEntries(tables, turn, append));
  }

  /** The most bytes of an entry or a checkpoint. */
  #mostOf(turn: string): number {
    return (this.#db.maxRow ?? Infinity) - REST_OF_ROW - utf8.encode(turn).length;
  }

  async readJournal(turn: string, from = 0): Promise<JournalPart | undefined> {
    requireText(turn, 'turn');
    requireCount(from, 'from');
    return this.#view('', (tables) => readEntries(tables, turn, from));
  }

  async compactJournal(turn: string, compaction: JournalCompaction): Promise<void> {
    requireCompaction(turn, compaction);
    const [{ length }, most] = [compaction.checkpoint, this.#mostOf(turn)];
    if (length > most) throw tooLongInJournal(turn, undefined, length, most);
    await this.#update('', (tables) => compactEntries(tables, turn, compaction));
  }

  async deleteJournal(turn: string, epoch: number): Promise<void> {
    requireText(turn, 'turn');
    requireEpochNumber(epoch);
    await this.#update('', (tables) => deleteEntries(tables, turn, epoch));
  }

  /**
   * Deletes bytes that are older than an hour and that no record refers to, and forgets the keys of turns that have
   * committed nothing for a week and have no journal. Commits do so at times.
   *
   * @returns how many were deleted
   */
  async collect(): Promise<number> {
    const at = this.#now();
    const before = at - UNUSED;
    let deleted = 0;
    for (let some = true; some;) {
      some = false;
      const sessions = await this.#view('', (tables) =>
        ask(tables.sessionsWithUnusedBytes(before, SWEEP)),
      );
      for (const session of sessions) {
        const count = await this.#update(session, (tables) =>
          collectSession(tables, session, before),
        );
        deleted += count;
        some ||= count > 0;
      }
    }
    for (let count = -1; count !== 0;) {
      count = await this.#update('', function* (tables) {
        const contents = yield* ask(tables.unusedContents(before, SWEEP));
        for (const number of contents) yield* dropContent(tables, number);
        return contents.length;
      });
      deleted += count;
    }
    const old = at - KEPT_KEYS;
    for (let sessions: readonly string[] = ['']; sessions.length > 0;) {
      sessions = await this.#view('', (tables) => ask(tables.sessionsWithOldKeys(old, SWEEP)));
      for (const session of sessions) {
        await this.#update(session, (tables) => forgetOldKeys(tables, session, old));
      }
    }
    deleted += (await this.#db.collect?.()) ?? 0;
    await this.#update('', (tables) => ask(tables.writeMeta('collected', at)));
    this.#collected = at;
    return deleted;
  }

  /** Waits for what is being written and closes the database. Later calls fail. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#collecting !== undefined) await this.#collecting;
    await this.#db.close();
  }

  get transactions(): number {
    return this.#db.transactions;
  }

  /** Collects where nobody has done so for an hour. */
  #collectAtTimes(): void {
    if (this.#collecting !== undefined || this.#closing) return;
    if (this.#now() - (this.#collected ?? -Infinity) < UNUSED) return;
    const collect = async (): Promise<void> => {
      try {
        this.#collected ??=
          (await this.#view('', (tables) => ask(tables.readMeta('collected')))) ?? 0;
        if (this.#now() - this.#collected < UNUSED) return;
        this.#collected = this.#now();
        await this.collect();
      } catch {
        // The next time tells again.
      } finally {
        this.#collecting = undefined;
      }
    };
    this.#collecting = collect();
  }

  async #view<T>(session: string, run: (tables: Tables) => Step<T>): Promise<T> {
    try {
      return await this.#db.view(run);
    } catch (error) {
      throw failure(session, error, this.#db.reason(error));
    }
  }

  async #update<T>(session: string, run: (tables: Tables) => Step<T>): Promise<T> {
    try {
      return await this.#db.update(run);
    } catch (error) {
      throw failure(session, error, this.#db.reason(error));
    }
  }
}

/** The records of a session. @throws TurncoreError E_STORED_RECORD_INVALID if one is damaged or missing */
function* allOf(tables: Tables, row: SessionRow): Step<RecordRow[]> {
  const rows = yield* allRecords(tables, row);
  if (rows.length !== row.records) {
    throw invalidSession(row.id, `it has ${rows.length} records, not ${row.records}`);
  }
  let digest = 0;
  for (const each of rows) {
    // A record whose own checksum is wrong has a name to tell.
    checkRecord(row.id, each);
    digest = (digest + each.sum) >>> 0;
  }
  if (digest !== row.digest) throw invalidSession(row.id, 'the checksum of its records is wrong');
  return rows;
}

/** The instructions of a session, and the records that were added after a revision. */
function* addedTo(tables: Tables, row: SessionRow, after: number): Step<RecordRow[]> {
  const instructions = yield* recordsOfKind(tables, row, 0);
  const later = after < row.revision ? yield* ask(tables.recordsAfter(row.number, after)) : [];
  const rows = [...instructions, ...later];
  for (const each of rows) checkRecord(row.id, each);
  return rows;
}

/** The row of bytes of a session. */
function* bytesRow(tables: Tables, session: SessionRow, id: string): Step<BytesRow | undefined> {
  const row = yield* ask(tables.findBytes(session.number, id));
  if (row !== undefined) checkBytes(session.id, row);
  return row;
}

/** @throws TurncoreError E_STORED_RECORD_INVALID for a row with a wrong checksum */
function checkBytes(session: string, row: BytesRow): void {
  if (row.sum !== bytesSum(row)) throw invalidBytes(session, row.id, 'their checksum is wrong');
}

/** Gives bytes of a session a content, in place of the one that they had. */
function* setBytes(
  tables: Tables,
  session: string,
  id: string,
  content: number,
  size: number,
  now: () => number,
): Step<void> {
  const of = yield* begin(tables, session, now);
  const old = yield* bytesRow(tables, of, id);
  const row = { id, content, size, added: now(), sum: 0 };
  row.sum = bytesSum(row);
  yield* ask(tables.putBytes(of.number, row));
  if (old !== undefined) yield* dropContent(tables, old.content);
}

/** Drops a content unless bytes or artifacts have it. */
function* dropContent(tables: Tables, content: number): Step<void> {
  if ((yield* ask(tables.usesOfContent(content))) === 0) yield* ask(tables.dropContent(content));
}

/** Deletes bytes of a session from before a time to which no record refers. Returns how many. */
function* collectSession(tables: Tables, session: string, before: number): Step<number> {
  const row = yield* sessionOf(tables, session);
  if (row === undefined) return 0;
  const used = new Set<string>();
  // What records say counts, not the table of references.
  for (const each of yield* allOf(tables, row)) {
    for (const id of bytesOf(readRecord(row.id, each))) used.add(id);
  }
  let deleted = 0;
  const all = yield* ask(tables.allBytes(row.number));
  for (const each of all) checkBytes(session, each);
  for (const { id, content, added } of all) {
    if (added >= before || used.has(id)) continue;
    yield* ask(tables.dropBytes(row.number, id));
    yield* dropContent(tables, content);
    deleted++;
  }
  return deleted;
}

function ofSession(code: 'E_SESSION_NOT_FOUND' | 'E_SESSION_EXISTS', session: string): Error {
  return storeError(code, JSON.stringify(session), { details: { session } });
}
