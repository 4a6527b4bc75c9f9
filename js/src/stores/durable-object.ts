/**
 * Conversations in the SQLite of a Durable Object.
 */
import { requireObject } from '../context/arguments.js';
import { messageOf } from '../errors.js';
import { waitsInObject } from '../store/keeper.js';
import { storedError } from '../stored-errors.js';
import { failure } from './faults.js';
import { REASONS } from './sql-reasons.js';
import { migrate, type SqlDatabase } from './sql-schema.js';
import { type Column, type Sql, SqlTables } from './sql-tables.js';
import { type Database, type DatabaseStore, TableStore } from './table-store.js';
import { runNow, type Step, type Tables } from './tables.js';

/** What is used of a Durable Object's storage: `ctx.storage` of an object whose class is in `new_sqlite_classes`. */
export interface ObjectStorage {
  readonly sql: { exec(query: string, ...bindings: unknown[]): Iterable<Record<string, unknown>> };
  transactionSync<T>(closure: () => T): T;
}

/**
 * A store in the SQLite of a Durable Object, which makes its tables if need be: `durableObjectStore(ctx.storage)` in
 * the object's constructor. Turns of one session queue, whichever requests started them.
 *
 * Nothing leaves the object, neither answers nor requests, before what was committed is on the disk. A record, an
 * event or a value of a state of more than 2,000,000 bytes fails with E_RECORD_UNSTORABLE, and nothing of its commit or
 * append is stored. Artifacts, and texts and bytes behind readers, are stored in parts and have no bound.
 *
 * @throws TurncoreError E_STORE_VERSION if a later version of the library has written the tables or a migration was
 *   left halfway; E_STORE_FAILED if the object has no SQLite
 */
export function durableObjectStore(storage: ObjectStorage): DatabaseStore {
  requireObject(storage, 'storage');
  try {
    const database = new ObjectDatabase(storage);
    migrate(database);
    const store = new TableStore(database);
    waitsInObject(store);
    return store;
  } catch (error) {
    throw failure('', error, reasonOf(error));
  }
}

class ObjectDatabase implements Database, SqlDatabase {
  readonly sql: Sql;
  readonly maxRow = 2_000_000;
  readonly #storage: ObjectStorage;
  readonly #tables: SqlTables;
  transactions = 0;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
    const object = sqlOf(storage);
    this.sql = { all: (query, ...values) => Array.from(object.exec(query, ...values), plain) };
    this.#tables = new SqlTables(this.sql);
  }

  async view<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    return this.read(() => runNow(run(this.#tables)));
  }

  async update<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    const result = this.write(() => runNow(run(this.#tables)));
    this.transactions++;
    return result;
  }

  /** Nothing else runs in the object meanwhile. */
  read<T>(run: () => T): T {
    return run();
  }

  write<T>(run: () => T): T {
    return this.#storage.transactionSync(run);
  }

  reason(error: unknown): string | undefined {
    return reasonOf(error);
  }

  close(): void {
    // The object's storage lives as long as the object.
  }
}

function sqlOf(storage: ObjectStorage): ObjectStorage['sql'] {
  let cause: unknown;
  try {
    const { sql } = storage as Partial<ObjectStorage>;
    if (typeof sql?.exec === 'function') return sql;
  } catch (error) {
    cause = error;
  }
  const need = "new_sqlite_classes in wrangler.json, or enableSql in workerd's configuration";
  throw storedError('E_STORE_FAILED', `the object has no SQLite: its class needs ${need}`, {
    cause,
  });
}

/** A row with bytes as the other databases have them. */
function plain(row: Record<string, unknown>): Record<string, Column> {
  for (const [name, value] of Object.entries(row)) {
    if (value instanceof ArrayBuffer) row[name] = new Uint8Array(value);
  }
  return row as Record<string, Column>;
}

function reasonOf(error: unknown): string | undefined {
  const name = /SQLITE_([A-Z]+)/.exec(messageOf(error))?.[1];
  return name && REASONS[name];
}
