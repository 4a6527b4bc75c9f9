/**
 * A store on the tables of a database.
 */
import type { Awaitable } from '../awaitable.js';
import { type Clock, systemClock } from '../entropy.js';
import { invalidValue, isTurncoreError } from '../errors.js';
import type { ConduitBytes } from '../primitives/readers.js';
import { RangeReader } from '../readers/range-reader.js';
import type { Conversation } from '../sessions/conversation.js';
import { requireSession } from '../store/session-id.js';
import type { BytesReader, Commit, PageOptions, SessionPage, Sessions } from '../store/store.js';
import { sessionError, storeError } from '../store-errors.js';
import { isContentId } from '../stored/checksum.js';
import { bytesOf } from '../stored/codec.js';
import { type Row, rowsOf } from '../stored/rows.js';
import { openedBy, StoredReader } from '../stored/stored-reader.js';
import { checkRecord, Committing, readRecord } from './commit.js';
import { failure, invalidBytes, invalidSession, tooLong } from './faults.js';
import { PART, partsOf } from './parts.js';
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
import {
  ask,
  bytesSum,
  type BytesRow,
  type PartRow,
  partSum,
  type RecordRow,
  type SessionRow,
  type Step,
  type Tables,
} from './tables.js';

/** A store in a database. */
export interface DatabaseStore extends Sessions {
  /**
   * Deletes bytes that are older than an hour and that no record refers to. Commits do so at times.
   *
   * @returns how many were deleted
   */
  collect(): Promise<number>;
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
  close(): Awaitable<void>;
}

/** How long bytes stay to which no record refers, in microseconds: a turn stores them before the record that has them. */
const UNUSED = 3_600_000_000;
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
  #closing = false;
  #collecting: Promise<void> | undefined;
  /** When unused bytes were last collected; undefined until that is read. */
  #collected: number | undefined;

  constructor(db: Database, clock: Clock = systemClock) {
    this.#db = db;
    this.#now = () => clock() * 1000;
  }

  async load(id: string, after = ''): Promise<Conversation> {
    const session = requireSession(id);
    const { revision, since, rows } = await this.#view(session, function* (tables) {
      const row = yield* sessionOf(tables, session);
      if (row === undefined) return { revision: '0.0', since: after === '0.0', rows: [] };
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
    const parts = partsOf(content);
    const first = await parts.next();
    const whole = first.done === true ? new Uint8Array(0) : first.value;
    if (whole.length < PART) {
      await this.#update(session, function* (tables) {
        const number = yield* ask(tables.addContent(now()));
        if (whole.length > 0) yield* addPart(tables, number, 0, whole);
        yield* setBytes(tables, session, bytes, number, whole.length, now);
      });
      return;
    }
    // A transaction for each part: none of them is in memory longer than that.
    const number = await this.#update(session, (tables) => ask(tables.addContent(now())));
    try {
      let size = 0;
      let part = 0;
      for (let next = first; next.done !== true; next = await parts.next()) {
        const data = next.value;
        await this.#update(session, (tables) => addPart(tables, number, part, data));
        part++;
        size += data.length;
      }
      await this.#update(session, (tables) => setBytes(tables, session, bytes, number, size, now));
    } catch (error) {
      // Otherwise they would stay until they are collected.
      const drop = this.#update(session, (tables) => dropContent(tables, number));
      await drop.catch(() => undefined);
      throw error;
    }
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
    const row = await find();
    const { size } = row;
    let { content } = row;
    let held: { readonly part: number; readonly data: Uint8Array } | undefined;
    const hold = async (part: number): Promise<Uint8Array> => {
      if (held?.part !== part) {
        const read = (): Promise<PartRow | undefined> =>
          this.#view(session, (tables) => ask(tables.findPart(content, part)));
        let found = await read();
        if (found === undefined) {
          // Another writer has put the same bytes, where their id says what they are.
          const other = await find();
          if (isContentId(bytes) && other.size === size) {
            ({ content } = other);
            found = await read();
          }
        }
        if (found === undefined) {
          throw sessionError('E_BYTES_NOT_FOUND', { session, id: bytes });
        }
        if (found.sum !== partSum(content, part, found.data)) {
          throw invalidBytes(session, bytes, `the checksum of part ${part} is wrong`);
        }
        if (found.data.length !== Math.min(PART, size - part * PART)) {
          throw invalidBytes(session, bytes, `part ${part} has ${found.data.length} bytes`);
        }
        held = { part, data: found.data };
      }
      return held.data;
    };
    const reader = new RangeReader({
      size: () => size,
      read: async (from, to) => {
        const read = new Uint8Array(to - from);
        for (let at = from; at < to;) {
          const data = await hold(Math.floor(at / PART));
          const piece = data.subarray(at % PART, Math.min(data.length, (at % PART) + to - at));
          read.set(piece, at - from);
          at += piece.length;
        }
        return read;
      },
    });
    // A record that has it is written down with the id of the bytes: this store has them.
    return new StoredReader(bytes, size, () => reader, this, session);
  }

  async newest(id: string): Promise<number | undefined> {
    const session = requireSession(id);
    const row = await this.#view(session, (tables) => sessionOf(tables, session));
    return row?.newest ?? undefined;
  }

  async list({ cursor = '', limit: asked = 0 }: PageOptions = {}): Promise<SessionPage> {
    const limit = asked > 0 ? asked : PAGE;
    const [number, revision] = readRevision(cursor) ?? [
      // Above the damaged ones too.
      Number.MAX_VALUE,
      Number.MAX_VALUE,
    ];
    const rows = await this.#view('', (tables) =>
      ask(tables.listSessions(revision, number, limit + 1)),
    );
    rows.forEach(checkSession);
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? revisionText(page.at(-1)!) : '';
    return { sessions: page.map(infoOf), next };
  }

  async fork(from: string, to: string): Promise<void> {
    requireSession(from, 'from');
    requireSession(to, 'to');
    const now = this.#now;
    await this.#update(from, function* (tables) {
      const old = yield* sessionOf(tables, from);
      if (old === undefined) throw ofSession('E_SESSION_NOT_FOUND', from);
      const at = yield* nextRevision(tables, old.revision, now);
      const row = { ...old, id: to, created: at, revision: at, keys: 0 };
      if (!(yield* addSession(tables, row))) throw ofSession('E_SESSION_EXISTS', to);
      yield* ask(tables.fork(row.number, old.number));
    });
  }

  async delete(id: string): Promise<void> {
    const session = requireSession(id);
    await this.#update(session, function* (tables) {
      // One that is damaged can be deleted too.
      const row = yield* ask(tables.findSession(session));
      if (row === undefined) return;
      const all = yield* ask(tables.allBytes(row.number));
      yield* ask(tables.dropSession(row.number));
      for (const { content } of all) yield* dropContent(tables, content);
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

  /**
   * Deletes bytes that are older than an hour and that no record refers to. Commits do so at times.
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
  const rows = yield* ask(tables.allRecords(row.number));
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
  const instructions = yield* ask(tables.recordsOfKind(row.number, 0));
  const later = after < row.revision ? yield* ask(tables.recordsAfter(row.number, after)) : [];
  const rows = [...instructions, ...later];
  for (const each of rows) checkRecord(row.id, each);
  return rows;
}

function* addPart(tables: Tables, content: number, part: number, data: Uint8Array): Step<void> {
  yield* ask(tables.addPart(content, part, { data, sum: partSum(content, part, data) }));
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

/** Drops a content unless a session has it. */
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
