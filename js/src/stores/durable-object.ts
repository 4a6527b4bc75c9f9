/**
 * Conversations in the SQLite of a Durable Object.
 */
import { requireObject } from '../context/arguments.js';
import { waitsInObject } from '../store/keeper.js';
import { type Database, type DatabaseStore, TableStore } from './table-store.js';
import { failure } from './faults.js';
import { type Column, migrate, type Sql, SqlTables } from './sql-tables.js';
import { runNow, type Step, type Tables } from './tables.js';

/** What is used of a Durable Object's storage: `ctx.storage` of an object whose class is in `new_sqlite_classes`. */
export interface ObjectStorage {
  readonly sql: { exec(query: string, ...bindings: unknown[]): Iterable<Record<string, unknown>> };
  transactionSync<T>(closure: () => T): T;
}

/**
 * A store in the SQLite of a Durable Object, which makes its tables if need be: `durableObjectStore(ctx.storage)` in the
 * object's constructor. Turns of one session queue, whichever requests started them.
 *
 * @throws TurncoreError E_STORE_VERSION if a later version of the library has written the tables or a migration was left
 *   halfway; E_STORE_FAILED if the object has no SQLite
 */
export function durableObjectStore(storage: ObjectStorage): DatabaseStore {
  requireObject(storage, 'storage');
  try {
    const store = new TableStore(new ObjectDatabase(storage));
    waitsInObject(store);
    return store;
  } catch (error) {
    throw failure('', error, undefined);
  }
}

class ObjectDatabase implements Database {
  readonly #storage: ObjectStorage;
  readonly #tables: SqlTables;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
    const sql: Sql = {
      all: (query, ...values) => [
        ...(storage.sql.exec(query, ...values.map(binding)) as Iterable<Record<string, Column>>),
      ],
    };
    this.#tables = new SqlTables(sql);
    storage.transactionSync(() => migrate(sql));
  }

  view<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    // Nothing else runs in the object meanwhile.
    return Promise.resolve().then(() => runNow(run(this.#tables)));
  }

  update<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    return Promise.resolve().then(() =>
      this.#storage.transactionSync(() => runNow(run(this.#tables))),
    );
  }

  reason(): undefined {
    return undefined;
  }

  close(): void {
    // The object's storage lives as long as the object.
  }
}

/** A value as the object's SQL takes it. */
function binding(value: Column): unknown {
  return value instanceof Uint8Array ? value.slice().buffer : value;
}
