/**
 * Conversations in an SQLite file, by Node's own module.
 */
import { TurncoreError } from '../errors.js';
import { storeError } from '../store-errors.js';
import { type Database, type DatabaseStore, TableStore } from './table-store.js';
import { failure } from './faults.js';
import { type Column, isCurrent, migrate, type Sql, SqlTables } from './sql-tables.js';
import { runNow, type Step, type Tables } from './tables.js';

/** Settings of {@link sqliteStore}. */
export interface SqliteOptions {
  /** How long a call waits for other processes that write, in ms. Default: 5000. */
  readonly busyTimeout?: number | undefined;
}

/** What is used of `DatabaseSync` of `node:sqlite`. */
interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): { all(...values: readonly Column[]): Record<string, Column>[] };
  close(): void;
}

interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options?: { readonly timeout?: number },
  ) => NodeDatabase;
}

/**
 * Opens a database file with conversations, makes it if need be, and brings its schema up to date. The Go module
 * `host/store/sqlite` opens the same files, and several processes of one machine may use a file. Commits that are made
 * while others wait share a transaction, in which each succeeds or fails by itself. What a commit has returned is on the
 * disk.
 *
 * It needs `node:sqlite`, which Node has since 22.13, and Deno.
 *
 * @throws TurncoreError E_STORE_VERSION if a later version of the library has written the file or a migration was left
 *   halfway; E_STORE_FAILED if the database cannot be opened, or there is no `node:sqlite`
 */
export function sqliteStore(path: string, options: SqliteOptions = {}): DatabaseStore {
  const { busyTimeout = 5000 } = options;
  if (typeof path !== 'string' || path === '') {
    throw TurncoreError.of('E_INVALID_VALUE', 'path: must be the path of a file');
  }
  const { DatabaseSync } = nodeSqlite();
  try {
    const db = new DatabaseSync(path, { timeout: busyTimeout });
    try {
      return new TableStore(new NodeSqliteDatabase(db, busyTimeout));
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw failure('', error, reasonOf(error));
  }
}

function nodeSqlite(): NodeSqlite {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(name: string): unknown };
  };
  const module = process?.getBuiltinModule?.('node:sqlite');
  if (module === undefined) {
    throw storeError(
      'E_STORE_FAILED',
      'this platform has no node:sqlite, which Node has since 22.13',
    );
  }
  return module as NodeSqlite;
}

/** A computation that waits for the next transaction. */
interface Waiting {
  readonly run: (tables: Tables) => Step<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A database of `node:sqlite`. */
class NodeSqliteDatabase implements Database {
  readonly #db: NodeDatabase;
  readonly #sql: Sql;
  readonly #tables: SqlTables;
  #waiting: Waiting[] = [];

  constructor(db: NodeDatabase, busyTimeout: number) {
    this.#db = db;
    const statements = new Map<string, ReturnType<NodeDatabase['prepare']>>();
    this.#sql = {
      all: (sql, ...values) => {
        let statement = statements.get(sql);
        if (statement === undefined) statements.set(sql, (statement = db.prepare(sql)));
        return statement.all(...values);
      },
    };
    this.#tables = new SqlTables(this.#sql);
    db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeout)}`);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = FULL');
    const once: Sql = { all: (sql, ...values) => db.prepare(sql).all(...values) };
    if (this.#transaction('BEGIN', () => isCurrent(once))) return;
    this.#transaction('BEGIN IMMEDIATE', () => migrate(once));
  }

  async view<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    // A promise rejects with what this throws.
    return Promise.resolve().then(() =>
      this.#transaction('BEGIN', () => runNow(run(this.#tables))),
    );
  }

  update<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const first =
        this.#waiting.push({ run, resolve: resolve as Waiting['resolve'], reject }) === 1;
      // What else is to be written in this round of the event loop shares the transaction.
      if (first) setTimeout(() => this.#write());
    });
  }

  reason(error: unknown): string | undefined {
    return reasonOf(error);
  }

  close(): void {
    this.#write();
    this.#db.close();
  }

  /** Runs what waits, in one transaction. */
  #write(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const ends: (() => void)[] = [];
    try {
      this.#transaction('BEGIN IMMEDIATE', () => {
        for (const { run, resolve, reject } of waiting) {
          this.#db.exec('SAVEPOINT one');
          try {
            const value = runNow(run(this.#tables));
            this.#db.exec('RELEASE one');
            ends.push(() => resolve(value));
          } catch (error) {
            // A database that has rolled back everything has no savepoint: then all fail.
            this.#db.exec('ROLLBACK TO one');
            this.#db.exec('RELEASE one');
            ends.push(() => reject(error));
          }
        }
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      return;
    }
    for (const end of ends) end();
  }

  #transaction<T>(begin: string, run: () => T): T {
    this.#db.exec(begin);
    let result: T;
    try {
      result = run();
      this.#db.exec('COMMIT');
    } catch (error) {
      try {
        this.#db.exec('ROLLBACK');
      } catch {
        // It was rolled back already. The first error says more.
      }
      throw error;
    }
    return result;
  }
}

/** What result codes of SQLite mean, without their extensions. */
const REASONS: Readonly<Record<number, string>> = {
  5: 'the database is locked',
  6: 'the database is locked',
  8: 'the database is read-only',
  10: 'the disk failed',
  11: 'the database is damaged',
  13: 'the database or the disk is full',
  14: 'the database cannot be opened',
  26: 'the file is not a database',
};

function reasonOf(error: unknown): string | undefined {
  const { errcode, code, message } = (error ?? {}) as {
    readonly errcode?: number;
    readonly code?: string;
    readonly message?: string;
  };
  if (code === 'ERR_INVALID_STATE' || message === 'database is not open') return 'it is closed';
  return errcode === undefined ? undefined : REASONS[errcode & 0xff];
}
