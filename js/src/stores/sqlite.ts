/**
 * Conversations in an SQLite file, by the platform's own module.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { Clock } from '../entropy.js';
import { invalidValue, messageOf } from '../errors.js';
import { storedError } from '../stored-errors.js';
import { check } from '../validation/rules.js';
import { failure } from './faults.js';
import { REASONS } from './sql-reasons.js';
import { migrate, type Schema, type SqlDatabase } from './sql-schema.js';
import { type Column, type Sql, SqlTables } from './sql-tables.js';
import { type Database, type DatabaseStore, TableStore } from './table-store.js';
import { runNow, type Step, type Tables } from './tables.js';

/** Settings of {@link sqliteStore}. */
export interface SqliteOptions {
  /**
   * How long a call waits for other processes that write, in ms. Default: 5000. Then it fails with E_STORE_FAILED, and
   * nothing of it is stored.
   */
  readonly busyTimeout?: number | undefined;
  /** Opens a file that is there already. Every call that would change it fails with E_STORE_FAILED. */
  readonly readOnly?: boolean | undefined;
}

const rules = {
  title: 'options of sqliteStore',
  code: 'E_INVALID_VALUE',
  fields: { busyTimeout: { kind: 'count' }, readOnly: { kind: 'boolean' } },
} as const satisfies TypeRules;

/** How long a call waits where nothing else is given, in ms. */
const BUSY_TIMEOUT = 5000;
/** How long it waits between two tries, in ms: at first, and at most. */
const [PAUSE, LONGEST_PAUSE] = [1, 50];
/** How many callers share a transaction at most. */
const MOST_SHARED = 256;

/**
 * Opens a database file with conversations, makes it if need be, for its owner only, and brings its schema up to date.
 * The Go module `host/store/sqlite` opens the same files, and several processes of one machine may use a file. Commits
 * that are made while others wait share a transaction, in which each succeeds or fails by itself. What a commit has
 * returned is on the disk. Close the store after use.
 *
 * It needs `node:sqlite`, which Node has since 22.13, and Deno since 2.2.
 *
 * @param path a path, or a URL of a file
 * @throws TurncoreError E_INVALID_VALUE for a path or an option that is none; E_STORE_VERSION if a later version of the
 *   library has written the file or a migration was left halfway; E_STORE_FAILED if the database cannot be opened, or
 *   there is no `node:sqlite`
 */
export function sqliteStore(path: string | URL, options: SqliteOptions = {}): DatabaseStore {
  return openSqlite(path, check(rules, options));
}

/** Settings of tests. */
interface TestOptions {
  /** Further pragmas of the connection. */
  readonly pragmas?: readonly string[];
  readonly clock?: Clock;
  readonly schema?: Schema;
}

/** @internal {@link sqliteStore} with settings of tests. */
export function openSqlite(
  path: string | URL,
  { busyTimeout = BUSY_TIMEOUT, readOnly = false }: SqliteOptions,
  { pragmas = [], clock, schema }: TestOptions = {},
): DatabaseStore {
  if (!(path instanceof URL) && (typeof path !== 'string' || path === '')) {
    throw invalidValue('path', 'must be the path of a file, or its URL');
  }
  const { DatabaseSync } = builtin('node:sqlite');
  const file = fileOf(path, readOnly);
  let connection: Connection | undefined;
  try {
    connection = new DatabaseSync(file, { readOnly });
    // While it opens, the platform waits for other processes; then the store does, and the program goes on meanwhile.
    connection.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeout)}`);
    const own = readOnly ? ['query_only = 1'] : ['journal_mode = WAL', 'synchronous = FULL'];
    for (const each of ['cell_size_check = 1', ...own, ...pragmas]) {
      connection.exec(`PRAGMA ${each}`);
    }
    const database = new FileDatabase(connection, busyTimeout);
    migrate(database, readOnly, schema);
    connection.exec('PRAGMA busy_timeout = 0');
    return new TableStore(database, clock);
  } catch (error) {
    connection?.close();
    throw failure('', error, reasonOf(error));
  }
}

/** What is used of `DatabaseSync` of `node:sqlite`. */
interface Connection {
  exec(text: string): void;
  prepare(text: string): Statement;
  close(): void;
}

interface Statement {
  all(...values: readonly Column[]): Record<string, Column>[];
  setReadBigInts(on: boolean): void;
}

interface Builtins {
  'node:sqlite': {
    readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => Connection;
  };
  'node:fs': {
    openSync(path: string, flags: string, mode: number): number;
    closeSync(file: number): void;
  };
  'node:path': { resolve(path: string): string };
  'node:url': { fileURLToPath(url: URL): string };
}

/** A module of the platform. Nothing is imported: platforms without it load this file too. */
function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: Name) => unknown } };
  const found = process?.getBuiltinModule?.(name) as Builtins[Name] | undefined;
  if (found !== undefined) return found;
  const since = 'which Node has since 22.13, and Deno since 2.2';
  throw storedError('E_STORE_FAILED', `this platform has no ${name}, ${since}`);
}

/** The path of a file, which is made if need be. */
function fileOf(path: string | URL, readOnly: boolean): string {
  try {
    const file = builtin('node:path').resolve(
      path instanceof URL ? builtin('node:url').fileURLToPath(path) : path,
    );
    const fs = builtin('node:fs');
    fs.closeSync(fs.openSync(file, readOnly ? 'r' : 'a', 0o600));
    return file;
  } catch (error) {
    throw failure('', error, `it cannot be opened: ${messageOf(error)}`);
  }
}

/** A computation that waits for the next transaction. */
interface Waiting {
  readonly run: (tables: Tables) => Step<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Until when it waits for other processes, in ms. */
  readonly end: number;
}

const closed = new Error('the store is closed');

/** A file, by one connection. */
class FileDatabase implements Database, SqlDatabase {
  readonly sql: Sql = { all: (text, ...values) => this.#all(text, values) };
  readonly #connection: Connection;
  readonly #busyTimeout: number;
  readonly #tables = new SqlTables(this.sql);
  readonly #statements = new Map<string, Statement>();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;
  transactions = 0;

  constructor(connection: Connection, busyTimeout: number) {
    this.#connection = connection;
    this.#busyTimeout = busyTimeout;
  }

  async view<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    const wait = this.#patience();
    for (;;) {
      if (this.#closed) throw closed;
      try {
        return this.read(() => runNow(run(this.#tables)));
      } catch (error) {
        if (!(await wait(error))) throw error;
      }
    }
  }

  update<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw closed;
      const end = performance.now() + this.#busyTimeout;
      this.#waiting.push({ run, resolve: resolve as Waiting['resolve'], reject, end });
      this.#writing ??= this.#write();
    });
  }

  reason(error: unknown): string | undefined {
    return reasonOf(error);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    this.#statements.clear();
    this.#connection.close();
  }

  /** Runs transactions until nothing waits. */
  async #write(): Promise<void> {
    // What else is to be written in this round of the event loop shares the transaction.
    await sleep(0);
    while (this.#waiting.length > 0) await this.#writeSome();
    this.#writing = undefined;
  }

  /** Runs what waits in one transaction, each in a part that is undone by itself. */
  async #writeSome(): Promise<void> {
    let some: Waiting[] = [];
    for (let pause = PAUSE; this.#waiting.length > 0; pause = longer(pause)) {
      try {
        const ends = this.write(() => {
          // Who has come while the transaction waited to begin takes part.
          some = this.#waiting.splice(0, MOST_SHARED);
          return some.map((each) => this.#part(each));
        });
        this.transactions++;
        for (const end of ends) end();
        return;
      } catch (error) {
        const busy = some.length === 0 && resultOf(error) === 'BUSY';
        if (busy) some = this.#late();
        else if (some.length === 0) some = this.#waiting.splice(0);
        for (const { reject } of some) reject(error);
        if (!busy) return;
        some = [];
        await sleep(pause);
      }
    }
  }

  /** Takes those who have waited too long for other processes. */
  #late(): Waiting[] {
    const now = performance.now();
    const late = this.#waiting.filter(({ end }) => end <= now);
    this.#waiting = this.#waiting.filter(({ end }) => end > now);
    return late;
  }

  /** Runs a computation in its part of a transaction. Returns what ends it once the transaction is written. */
  #part({ run, resolve, reject }: Waiting): () => void {
    this.#connection.exec('SAVEPOINT one');
    let end: () => void;
    try {
      const value = runNow(run(this.#tables));
      end = () => resolve(value);
    } catch (error) {
      try {
        this.#connection.exec('ROLLBACK TO one');
      } catch {
        throw error; // it has undone the whole transaction
      }
      end = () => reject(error);
    }
    this.#connection.exec('RELEASE one');
    return end;
  }

  read<T>(run: () => T): T {
    this.#connection.exec('BEGIN');
    try {
      return run();
    } finally {
      this.#rollback(); // it has written nothing
    }
  }

  write<T>(run: () => T): T {
    this.#connection.exec('BEGIN IMMEDIATE');
    try {
      const result = run();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollback(); // a commit that a full disk refused leaves the transaction open
      throw error;
    }
  }

  #rollback(): void {
    try {
      this.#connection.exec('ROLLBACK');
    } catch {
      // It was rolled back already. The first error says more.
    }
  }

  #all(text: string, values: readonly Column[]): Record<string, Column>[] {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      this.#statements.set(text, (statement = this.#connection.prepare(text)));
    }
    try {
      return statement.all(...values);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'ERR_OUT_OF_RANGE') throw error;
    }
    // A damaged row has an integer beyond JavaScript's safe ones.
    statement.setReadBigInts(true);
    try {
      return statement.all(...values).map(plain);
    } finally {
      statement.setReadBigInts(false);
    }
  }

  /** Waits after an error that may go. The answer tells whether to try again. */
  #patience(): (error: unknown) => Promise<boolean> {
    const end = performance.now() + this.#busyTimeout;
    let pause = PAUSE;
    return async (error) => {
      if (resultOf(error) !== 'BUSY' || performance.now() >= end) return false;
      await sleep(pause);
      pause = longer(pause);
      return true;
    };
  }
}

function sleep(pause: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pause));
}

/** The pause behind another one. */
function longer(pause: number): number {
  return Math.min(2 * pause, LONGEST_PAUSE);
}

/** A row with numbers where they are exact. */
function plain(row: Record<string, Column>): Record<string, Column> {
  const exact = ([name, value]: [string, Column]): [string, Column] => {
    const safe = typeof value === 'bigint' && Number.isSafeInteger(Number(value));
    return [name, safe ? Number(value) : value];
  };
  return Object.fromEntries(Object.entries(row).map(exact));
}

/** The names of SQLite's results, without their extensions. */
const RESULTS: Readonly<Record<number, string>> = {
  3: 'PERM',
  5: 'BUSY',
  6: 'LOCKED',
  7: 'NOMEM',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  15: 'PROTOCOL',
  18: 'TOOBIG',
  26: 'NOTADB',
};

function resultOf(error: unknown): string | undefined {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? RESULTS[errcode & 0xff] : undefined;
}

function reasonOf(error: unknown): string | undefined {
  const result = resultOf(error);
  return error === closed ? 'it is closed' : result && REASONS[result];
}
