/**
 * Conversations in a browser's IndexedDB.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { Clock } from '../entropy.js';
import { TurncoreError } from '../errors.js';
import { storedError } from '../stored-errors.js';
import { check } from '../validation/rules.js';
import { type Database, type DatabaseStore, TableStore } from './table-store.js';
import { IndexedDBTables, makeTables, NAMES, VERSION } from './indexeddb-tables.js';
import { OriginFiles } from './origin-files.js';
import { ask, runLater, type Step } from './tables.js';

/** Settings of {@link indexedDBStore}. */
export interface IndexedDBOptions {
  /**
   * Keeps bytes in files of the origin private file system, where the browser has it: those of 64 KiB and more, such as
   * long results of tools, pictures and sounds. Otherwise, and with false, they are in the database, in parts of 1 MiB.
   * What is in files is read in any case. Default: true.
   */
  readonly opfs?: boolean | undefined;
}

/**
 * A store in the browser: the pages and workers of an origin that give the same name share it. It opens its database at
 * the first call. What a commit has returned is on the disk; a browser that runs out of space may still delete the
 * whole database, unless the page was granted `navigator.storage.persist()`.
 *
 * Its calls fail with E_STORE_VERSION if a later version of the library has written the database, and with
 * E_STORE_FAILED if the browser refuses one, as in some private windows, is out of space, or another tab has deleted
 * it.
 *
 * @param name the database's name. Default: "turncore"
 * @throws TurncoreError E_INVALID_VALUE for a name or an option that is none
 */
export function indexedDBStore(name = 'turncore', options: IndexedDBOptions = {}): DatabaseStore {
  return openIndexedDB(name, check(rules, options));
}

const rules = {
  title: 'options of indexedDBStore',
  code: 'E_INVALID_VALUE',
  fields: { opfs: { kind: 'boolean' } },
} as const satisfies TypeRules;

/** How long the browser may take to open a database, in ms. */
const PATIENCE = 15_000;

/** How many times as long it may take to answer: it does so when the transactions of other tabs have ended. */
const ANSWER = 4;

/** Settings of tests. */
interface TestOptions {
  readonly clock?: Clock;
  readonly version?: number;
  /** How long the browser may take to open a database, in ms. */
  readonly patience?: number;
}

/** @internal {@link indexedDBStore} with settings of tests. */
export function openIndexedDB(
  name: string,
  { opfs = true }: IndexedDBOptions,
  { clock, version = VERSION, patience = PATIENCE }: TestOptions = {},
): DatabaseStore {
  if (typeof name !== 'string' || name === '') {
    throw TurncoreError.of('E_INVALID_VALUE', 'name: must be the name of a database');
  }
  return new TableStore(new BrowserDatabase(name, opfs, version, patience), clock);
}

/** A connection to the database, or one that is being made. */
type Opening = Promise<IDBDatabase>;

class BrowserDatabase implements Database {
  readonly #name: string;
  readonly #version: number;
  readonly #patience: number;
  readonly files: OriginFiles;
  /** Files that are being deleted. */
  readonly #dropping = new Set<Promise<void>>();
  #opening: Opening | undefined;
  /** Why it is not open yet: the browser opens it when other tabs let it. */
  #blocked: Error | undefined;
  #closed = false;
  transactions = 0;

  constructor(name: string, opfs: boolean, version: number, patience: number) {
    this.#name = name;
    this.#version = version;
    this.#patience = patience;
    this.files = new OriginFiles(name, opfs);
  }

  async view<T>(run: (tables: IndexedDBTables) => Step<T>): Promise<T> {
    try {
      return await this.#transaction('readonly', run);
    } catch (error) {
      // The browser has closed the database, as it does when it takes the data away: what is there now can be read.
      if ((error as Error).name !== 'AbortError') throw error;
      return this.#transaction('readonly', run);
    }
  }

  update<T>(run: (tables: IndexedDBTables) => Step<T>): Promise<T> {
    return this.#transaction('readwrite', run);
  }

  reason(error: unknown): string | undefined {
    return REASONS[(error as Partial<DOMException> | undefined)?.name ?? ''];
  }

  /** Deletes files whose contents are gone: of a page that was closed before it did so, or of a deleted database. */
  collect(): Promise<number> {
    return this.files.collect((contents) =>
      this.view(function* (tables) {
        const known = new Set<number>();
        for (const each of contents) if (yield* ask(tables.hasContent(each))) known.add(each);
        return known;
      }),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#opening?.then(
      (db) => db.close(),
      () => undefined,
    );
    await Promise.all(this.#dropping);
  }

  async #transaction<T>(
    mode: IDBTransactionMode,
    run: (tables: IndexedDBTables) => Step<T>,
  ): Promise<T> {
    const { tx, opening } = await this.#begin(mode);
    const answered = (question: unknown): Promise<unknown> => this.#answered(opening, tx, question);
    const done = new Promise<void>((resolve, reject) => {
      tx.oncomplete = () => resolve();
      tx.onabort = () => reject(tx.error ?? new DOMException('', 'AbortError'));
    });
    done.catch(() => undefined); // nobody waits for that of a transaction that the browser has forgotten
    const tables = new IndexedDBTables(tx);
    let result: T;
    try {
      result = await runLater(run(tables), answered);
    } catch (error) {
      try {
        tx.abort();
      } catch {
        // It was aborted already.
      }
      if ((error as Error).name !== FORGOTTEN) {
        await answered(done).catch(() => undefined);
      }
      // What made the database abort says more than that it did.
      throw tx.error !== null && (error as Error).name === 'AbortError' ? tx.error : error;
    }
    await answered(done);
    if (mode === 'readwrite') this.transactions++;
    for (const content of tables.dropped) this.#dropFile(content);
    return result;
  }

  /**
   * Waits for the browser. Chromium may answer nothing at all in a transaction that began while it took the data away.
   *
   * @throws DOMException TimeoutError: then the next transaction opens the database again
   */
  #answered(opening: Opening, tx: IDBTransaction, question: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // In steps: a page that was frozen has its timers first, and then the answers.
      let left = ANSWER;
      const wait = (): void => {
        if (left-- > 0) {
          timer = setTimeout(wait, this.#patience);
          return;
        }
        this.#forget(opening);
        tx.db.close();
        reject(new DOMException('', FORGOTTEN));
      };
      let timer: ReturnType<typeof setTimeout> | undefined;
      wait();
      Promise.resolve(question)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }

  /** Begins a transaction: in a database opened again, if another tab has had this one closed meanwhile. */
  async #begin(mode: IDBTransactionMode): Promise<{ tx: IDBTransaction; opening: Opening }> {
    for (let tries = 0; ; tries++) {
      const opening = this.#open();
      const db = await opening;
      try {
        const tx = db.transaction(NAMES, mode, { durability: 'strict' });
        return { tx, opening };
      } catch (error) {
        if ((error as Error).name !== 'InvalidStateError' || tries > 0) throw error;
        this.#forget(opening);
      }
    }
  }

  /** Has the next transaction open the database again, unless another has done so. */
  #forget(opening: Opening): void {
    if (this.#opening === opening) this.#opening = undefined;
  }

  /** Deletes the file of a content that was dropped. One that is left, since the page was closed, is collected. */
  #dropFile(content: number): void {
    const dropping = this.files.drop(content).finally(() => this.#dropping.delete(dropping));
    this.#dropping.add(dropping);
  }

  #open(): Opening {
    if (this.#closed) throw new Error('it is closed');
    if (this.#blocked !== undefined) throw this.#blocked;
    if (this.#opening === undefined) {
      const opening = this.#request();
      this.#opening = opening;
      opening.catch(() => this.#forget(opening));
    }
    return this.#opening;
  }

  /** Opens it. A request that other tabs block stays: the browser would queue a second one behind it. */
  #request(): Promise<IDBDatabase> {
    const { indexedDB } = globalThis as { readonly indexedDB?: IDBFactory };
    if (indexedDB === undefined) throw new Error('this platform has no IndexedDB');
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.#name, this.#version);
      const block = (why: string): void => {
        this.#blocked = new Error(why);
        reject(this.#blocked);
      };
      const timer = setTimeout(
        () => block('the browser does not open it: another tab may hold it'),
        this.#patience,
      );
      request.onblocked = () => block('another tab has an earlier version of it open');
      request.onupgradeneeded = ({ oldVersion }) => {
        if (oldVersion < 1) makeTables(request.result);
      };
      request.onerror = () => {
        clearTimeout(timer);
        this.#blocked = undefined;
        const error = request.error!;
        if (error.name !== 'VersionError') reject(error);
        else {
          const why = `the database has a later version than ${this.#version}, which this library knows`;
          reject(storedError('E_STORE_VERSION', why, { cause: error }));
        }
      };
      request.onsuccess = () => {
        clearTimeout(timer);
        const db = request.result;
        // Another tab deletes it or brings it up to date: it must not wait for this one. The next call opens it again.
        const again = (): void => {
          db.close();
          this.#opening = undefined;
        };
        db.onversionchange = again;
        db.onclose = again;
        if (this.#blocked !== undefined) this.#opening = Promise.resolve(db);
        this.#blocked = undefined;
        if (this.#closed) db.close();
        resolve(db);
      };
    });
  }
}

/** The error of a transaction in which the browser answers nothing. */
const FORGOTTEN = 'TimeoutError';

/** What errors of IndexedDB mean, by their names. */
const REASONS: Readonly<Record<string, string>> = {
  QuotaExceededError: 'the browser gives it no more space',
  InvalidStateError: 'the browser has closed or refuses it, as in some private windows',
  SecurityError: 'the browser refuses it to this page',
  UnknownError: 'the browser failed to read or write it',
  NotFoundError: 'it lacks tables: it was made by something else',
  AbortError: 'the browser has ended the transaction',
  [FORGOTTEN]: 'the browser does not answer',
};
