/**
 * A store on the tables of a database.
 */
import { recordName } from '../collections/deltas.js';
import { systemClock } from '../entropy.js';
import { isTurncoreError, messageOf } from '../errors.js';
import type { ConduitBytes } from '../primitives/readers.js';
import { RangeReader } from '../readers/range-reader.js';
import type { Conversation } from '../sessions/conversation.js';
import { sessionNamed } from '../store/session-id.js';
import type { BytesReader, Commit, PageOptions, SessionPage, Sessions } from '../store/store.js';
import { sessionError, storeError } from '../store-errors.js';
import { bytesOf, decodeRecord } from '../stored/codec.js';
import { rowsOf } from '../stored/rows.js';
import { openedBy, StoredReader } from '../stored/stored-reader.js';
import { checkRecord, Committing } from './commit.js';
import { failure, invalidBytes, invalidRecord, invalidSession } from './faults.js';
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
  /** Closes the database. Later calls fail with E_STORE_FAILED. */
  close(): void;
}

/** A database with the tables. */
export interface Database {
  /** Reads in a transaction. */
  view<T>(run: (tables: Tables) => Step<T>): Promise<T>;
  /** Writes in a transaction: all of it, or nothing and an error. */
  update<T>(run: (tables: Tables) => Step<T>): Promise<T>;
  /** What an error of the database means, if that is known. */
  reason(error: unknown): string | undefined;
  close(): void;
}

/** Bytes of a part: databases bound a row. */
const PART = 2 ** 20;
/** How long bytes stay to which no record refers, in microseconds: a turn stores them before the record that has them. */
const UNUSED = 3_600_000_000;
/** How many sessions or contents are looked at together. */
const SWEEP = 100;

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
  /** When unused bytes were last collected; undefined until that is read. */
  #collected: number | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  async load(id: string, after = ''): Promise<Conversation> {
    const session = sessionNamed(id, 'session');
    const found = await this.#view(session, function* (tables) {
      const row = yield* sessionOf(tables, session);
      if (row === undefined) return undefined;
      const known = after === '' || after === '0.0' ? undefined : shown(row, after);
      if (known === undefined || known < row.settled) {
        return { row, after: '', rows: yield* allOf(tables, row) };
      }
      return { row, after, rows: yield* addedTo(tables, row, known) };
    });
    const conversation: Record<(typeof lists)[number], unknown[]> = {
      ...{ instructions: [], memories: [], retrievables: [] },
      ...{ messages: [], thoughts: [], toolCalls: [] },
    };
    for (const row of found?.rows ?? []) {
      conversation[lists[row.kind]!].push(this.#record(session, row));
    }
    return {
      ...(conversation as unknown as Conversation),
      revision: found === undefined ? '0.0' : revisionText(found.row),
      ...(found?.after ? { after: found.after } : {}),
    };
  }

  async commit(id: string, commit: Commit): Promise<string> {
    const session = sessionNamed(id, 'session');
    const once = async (): Promise<string> => {
      const rows = await rowsOf(this, session, commit.deltas);
      return this.#update(session, (tables) =>
        new Committing(tables, session, commit, now).run(rows),
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
    void this.#collectAtTimes();
    return revision;
  }

  async putBytes(id: string, bytes: string, content: ConduitBytes): Promise<void> {
    const session = sessionNamed(id, 'session');
    const parts = partsOf(content);
    const first = await parts.next();
    const whole = first.done === true ? new Uint8Array(0) : first.value;
    if (whole.length < PART) {
      await this.#update(session, function* (tables) {
        const number = yield* ask(tables.addContent(now()));
        if (whole.length > 0) yield* addPart(tables, number, 0, whole);
        yield* setBytes(tables, session, bytes, number, whole.length);
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
      await this.#update(session, (tables) => setBytes(tables, session, bytes, number, size));
    } catch (error) {
      // Otherwise they would stay until they are collected.
      const drop = this.#update(session, (tables) => dropContent(tables, number));
      await drop.catch(() => undefined);
      throw error;
    }
  }

  async openBytes(id: string, bytes: string): Promise<BytesReader> {
    const session = sessionNamed(id, 'session');
    const row = await this.#view(session, function* (tables) {
      const of = yield* sessionOf(tables, session);
      return of && (yield* bytesRow(tables, of, bytes));
    });
    if (row === undefined) throw sessionError('E_BYTES_NOT_FOUND', { session, id: bytes });
    const { content, size } = row;
    let held: { readonly part: number; readonly data: Uint8Array } | undefined;
    const hold = async (part: number): Promise<Uint8Array> => {
      if (held?.part !== part) {
        const found = await this.#view(session, (tables) => ask(tables.findPart(content, part)));
        if (found === undefined) throw sessionError('E_BYTES_NOT_FOUND', { session, id: bytes });
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
    const session = sessionNamed(id, 'session');
    const row = await this.#view(session, (tables) => sessionOf(tables, session));
    return row?.newest ?? undefined;
  }

  async list({ cursor = '', limit = 100 }: PageOptions = {}): Promise<SessionPage> {
    const [number, revision] = readRevision(cursor) ?? [
      Number.MAX_SAFE_INTEGER,
      Number.MAX_SAFE_INTEGER,
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
    sessionNamed(from, 'from');
    sessionNamed(to, 'to');
    await this.#update(from, function* (tables) {
      const old = yield* sessionOf(tables, from);
      if (old === undefined) throw ofSession('E_SESSION_NOT_FOUND', from);
      const at = yield* nextRevision(tables, old.revision, now);
      const row = { ...old, id: to, created: at, revision: at, settled: 0, keys: 0 };
      if (!(yield* addSession(tables, row))) throw ofSession('E_SESSION_EXISTS', to);
      yield* ask(tables.fork(row.number, old.number));
    });
  }

  async delete(id: string): Promise<void> {
    const session = sessionNamed(id, 'session');
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
    const session = sessionNamed(id, 'session');
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
    const at = now();
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

  /** Closes the database. Later calls fail. */
  close(): void {
    this.#db.close();
  }

  async #collectAtTimes(): Promise<void> {
    try {
      this.#collected ??=
        (await this.#view('', (tables) => ask(tables.readMeta('collected')))) ?? 0;
      if (now() - this.#collected < UNUSED) return;
      this.#collected = now();
      await this.collect();
    } catch {
      // The next time tells again.
    }
  }

  #record(session: string, row: RecordRow): unknown {
    try {
      const record = decodeRecord(recordName(row.kind), row.body, {
        open: openedBy(this, session),
      });
      if (row.kind !== 0 && (record as { readonly id: string }).id !== row.id) {
        const id = (record as { readonly id: string }).id;
        throw invalidRecord(session, row, `its body is that of ${JSON.stringify(id)}`);
      }
      return record;
    } catch (error) {
      if (isTurncoreError(error) && error.message.includes(`session ${JSON.stringify(session)}`)) {
        throw error;
      }
      throw invalidRecord(session, row, whyOf(error), error);
    }
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

/** The time in microseconds. */
function now(): number {
  return systemClock() * 1000;
}

/** The detail of an error's message, behind the text of its code. */
function whyOf(error: unknown): string {
  const text = messageOf(error);
  return text.slice(text.indexOf(': ') + 1).trimStart();
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
    check(row.id, each);
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
  for (const each of rows) check(row.id, each);
  return rows;
}

function check(session: string, row: RecordRow): void {
  checkRecord(session, row);
  if (lists[row.kind] === undefined) throw invalidRecord(session, row, 'it is no kind of record');
}

function* addPart(tables: Tables, content: number, part: number, data: Uint8Array): Step<void> {
  yield* ask(tables.addPart(content, part, { data, sum: partSum(content, part, data) }));
}

/** The row of bytes of a session. */
function* bytesRow(tables: Tables, session: SessionRow, id: string): Step<BytesRow | undefined> {
  const row = yield* ask(tables.findBytes(session.number, id));
  if (row !== undefined && row.sum !== bytesSum(row)) {
    throw invalidBytes(session.id, id, 'their checksum is wrong');
  }
  return row;
}

/** Gives bytes of a session a content, in place of the one that they had. */
function* setBytes(
  tables: Tables,
  session: string,
  id: string,
  content: number,
  size: number,
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
    for (const id of bytesOf(decodeRecord(recordName(each.kind), each.body))) used.add(id);
  }
  let deleted = 0;
  for (const { id, content, added } of yield* ask(tables.allBytes(row.number))) {
    if (added >= before || used.has(id)) continue;
    yield* ask(tables.dropBytes(row.number, id));
    yield* dropContent(tables, content);
    deleted++;
  }
  return deleted;
}

/** Content in parts: all but the last have 1 MiB. */
async function* partsOf(content: ConduitBytes): AsyncGenerator<Uint8Array, void> {
  if (typeof content === 'string') content = new TextEncoder().encode(content);
  if (content instanceof Uint8Array) {
    for (let at = 0; at < content.length; at += PART) yield content.subarray(at, at + PART);
    return;
  }
  let part = new Uint8Array(PART);
  let filled = 0;
  const reader = content.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      for (let rest = next.value; rest.length > 0;) {
        const piece = rest.subarray(0, PART - filled);
        part.set(piece, filled);
        filled += piece.length;
        rest = rest.subarray(piece.length);
        if (filled === PART) {
          yield part;
          [part, filled] = [new Uint8Array(PART), 0];
        }
      }
    }
  } finally {
    reader.releaseLock();
  }
  if (filled > 0) yield part.subarray(0, filled);
}

function ofSession(code: 'E_SESSION_NOT_FOUND' | 'E_SESSION_EXISTS', session: string): Error {
  return storeError(code, JSON.stringify(session), { details: { session } });
}
