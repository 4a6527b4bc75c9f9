/**
 * Conversations in a browser's IndexedDB.
 */
import { TurncoreError } from '../errors.js';
import { storeError } from '../store-errors.js';
import { type Database, type DatabaseStore, TableStore } from './table-store.js';
import { IndexedDBTables, makeTables, NAMES, VERSION } from './indexeddb-tables.js';
import { runLater, type Step, type Tables } from './tables.js';

/**
 * A store in the browser: the pages and workers of an origin that give the same name share it. It opens its database at the
 * first call. What a commit has returned is on the disk; a browser that runs out of space may still delete the whole
 * database, unless the page was granted `navigator.storage.persist()`.
 *
 * Its calls fail with E_STORE_VERSION if a later version of the library has written the database, and with E_STORE_FAILED
 * if the browser refuses one, as in some private windows, is out of space, or another tab has deleted it.
 *
 * @param name the database's name. Default: "turncore"
 */
export function indexedDBStore(name = 'turncore'): DatabaseStore {
  if (typeof name !== 'string' || name === '') {
    throw TurncoreError.of('E_INVALID_VALUE', 'name: must be the name of a database');
  }
  return new TableStore(new BrowserDatabase(name));
}

class BrowserDatabase implements Database {
  readonly #name: string;
  #opening: Promise<IDBDatabase> | undefined;
  #closed = false;
  transactions = 0;

  constructor(name: string) {
    this.#name = name;
  }

  view<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    return this.#transaction('readonly', run);
  }

  update<T>(run: (tables: Tables) => Step<T>): Promise<T> {
    return this.#transaction('readwrite', run);
  }

  reason(error: unknown): string | undefined {
    return REASONS[(error as Partial<DOMException> | undefined)?.name ?? ''];
  }

  close(): void {
    this.#closed = true;
    this.#opening?.then(
      (db) => db.close(),
      () => undefined,
    );
  }

  async #transaction<T>(mode: IDBTransactionMode, run: (tables: Tables) => Step<T>): Promise<T> {
    const db = await this.#open();
    const tx = db.transaction(NAMES, mode, { durability: 'strict' });
    const done = new Promise<void>((resolve, reject) => {
      tx.oncomplete = () => resolve();
      tx.onabort = () => reject(tx.error ?? new DOMException('', 'AbortError'));
    });
    let result: T;
    try {
      result = await runLater(run(new IndexedDBTables(tx)));
    } catch (error) {
      try {
        tx.abort();
      } catch {
        // It was aborted already.
      }
      await done.catch(() => undefined);
      // What made the database abort says more than that it did.
      throw tx.error !== null && (error as Error).name === 'AbortError' ? tx.error : error;
    }
    await done;
    if (mode === 'readwrite') this.transactions++;
    return result;
  }

  #open(): Promise<IDBDatabase> {
    if (this.#closed) throw storeError('E_STORE_FAILED', 'it is closed');
    this.#opening ??= this.#request().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  #request(): Promise<IDBDatabase> {
    const { indexedDB } = globalThis as { readonly indexedDB?: IDBFactory };
    if (indexedDB === undefined) {
      throw storeError('E_STORE_FAILED', 'this platform has no IndexedDB');
    }
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.#name, VERSION);
      request.onupgradeneeded = () => makeTables(request.result);
      request.onblocked = () =>
        reject(storeError('E_STORE_FAILED', 'another tab has an earlier version of it open'));
      request.onerror = () => {
        const error = request.error!;
        if (error.name !== 'VersionError') reject(error);
        else {
          const why = `the database has a later version than ${VERSION}, which this library knows`;
          reject(storeError('E_STORE_VERSION', why, { cause: error }));
        }
      };
      request.onsuccess = () => {
        const db = request.result;
        // Another tab deletes it or brings it up to date: it must not wait for this one. The next call opens it again.
        const again = (): void => {
          db.close();
          this.#opening = undefined;
        };
        db.onversionchange = again;
        db.onclose = again;
        resolve(db);
      };
    });
  }
}

/** What errors of IndexedDB mean, by their names. */
const REASONS: Readonly<Record<string, string>> = {
  QuotaExceededError: 'the browser gives it no more space',
  InvalidStateError: 'the browser has closed or refuses it, as in some private windows',
  SecurityError: 'the browser refuses it to this page',
  UnknownError: 'the browser failed to read or write it',
  NotFoundError: 'it lacks tables: it was made by something else',
  AbortError: 'the browser has ended the transaction',
};
