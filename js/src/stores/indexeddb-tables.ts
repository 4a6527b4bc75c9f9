/**
 * The tables in IndexedDB, which answers later.
 */
import type { BytesRow, KeyRow, PartRow, RecordRow, SessionRow, Tables } from './tables.js';

/** The version of the database. */
export const VERSION = 1;

/** The names of the tables. */
export const NAMES = [
  'meta',
  'sessions',
  'records',
  'keys',
  'refs',
  'bytes',
  'contents',
  'parts',
] as const;

/**
 * Makes the tables in a database that has none. Their numbers begin anywhere: those of a database that was deleted, which
 * revisions, files and writers may still have, are not used again.
 */
export function makeTables(db: IDBDatabase): void {
  db.createObjectStore('meta', { keyPath: 'name' });
  const sessions = db.createObjectStore('sessions', { keyPath: 'number', autoIncrement: true });
  sessions.createIndex('id', 'id', { unique: true });
  sessions.createIndex('revision', ['revision', 'number']);
  const records = db.createObjectStore('records', { keyPath: ['session', 'kind', 'id'] });
  records.createIndex('place', ['session', 'kind', 'place']);
  records.createIndex('added', ['session', 'added']);
  db.createObjectStore('keys', { keyPath: ['session', 'key'] });
  const refs = db.createObjectStore('refs', { keyPath: ['session', 'kind', 'record', 'bytes'] });
  refs.createIndex('bytes', ['session', 'bytes']);
  const bytes = db.createObjectStore('bytes', { keyPath: ['session', 'id'] });
  bytes.createIndex('content', 'content');
  bytes.createIndex('added', 'added');
  const contents = db.createObjectStore('contents', { keyPath: 'number', autoIncrement: true });
  contents.createIndex('added', 'added');
  db.createObjectStore('parts', { keyPath: ['content', 'part'] });
  for (const table of [sessions, contents]) {
    // The number that is used for a moment: the others follow it.
    const number = 1 + Math.floor(Math.random() * 2 ** 48);
    table.add({ number });
    table.delete(number);
  }
}

/** What a request answers. */
export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(failureOf(request));
  });
}

/** The rows that a request answers. */
function rows<Row>(request: IDBRequest<unknown[]>): Promise<Row[]> {
  return answer(request as IDBRequest<Row[]>);
}

/** Why a request failed: a DOMException, which is an Error everywhere but in the types. */
function failureOf(request: IDBRequest): Error {
  return request.error as unknown as Error;
}

/** All keys that begin with a list: an array is behind every number and text. */
function beginning(...key: readonly (number | string)[]): IDBKeyRange {
  return IDBKeyRange.bound(key, [...key, []]);
}

/** The tables in a transaction of IndexedDB. */
export class IndexedDBTables implements Tables {
  readonly #tx: IDBTransaction;
  /** Contents that were dropped and have files, which are deleted behind the transaction. */
  readonly dropped: number[] = [];

  constructor(tx: IDBTransaction) {
    this.#tx = tx;
  }

  #table(name: (typeof NAMES)[number]): IDBObjectStore {
    return this.#tx.objectStore(name);
  }

  async #put(name: (typeof NAMES)[number], row: object): Promise<void> {
    await answer(this.#table(name).put(row));
  }

  async #drop(name: (typeof NAMES)[number], key: IDBValidKey | IDBKeyRange): Promise<void> {
    await answer(this.#table(name).delete(key));
  }

  /** The first key in an index. */
  async #key(
    name: (typeof NAMES)[number],
    index: string,
    range: IDBKeyRange | null,
    direction: IDBCursorDirection,
  ): Promise<IDBValidKey | undefined> {
    const cursor = await answer(this.#table(name).index(index).openKeyCursor(range, direction));
    return cursor?.key;
  }

  findSession(id: string): Promise<SessionRow | undefined> {
    return answer(this.#table('sessions').index('id').get(id));
  }

  async addSession({ number: _, ...row }: SessionRow): Promise<number | undefined> {
    const sessions = this.#table('sessions');
    if ((await answer(sessions.index('id').getKey(row.id))) !== undefined) return undefined;
    return (await answer(sessions.add(row))) as number;
  }

  setSession(row: SessionRow): Promise<void> {
    return this.#put('sessions', row);
  }

  async dropSession(session: number): Promise<void> {
    const all = (['records', 'keys', 'refs', 'bytes'] as const).map((name) =>
      this.#drop(name, beginning(session)),
    );
    await Promise.all([...all, this.#drop('sessions', session)]);
  }

  async lastRevision(): Promise<number> {
    const key = await this.#key('sessions', 'revision', null, 'prev');
    return key === undefined ? 0 : (key as number[])[0]!;
  }

  listSessions(revision: number, number: number, limit: number): Promise<SessionRow[]> {
    const range = IDBKeyRange.upperBound([revision, number], true);
    const request = this.#table('sessions').index('revision').openCursor(range, 'prev');
    const page: SessionRow[] = [];
    return new Promise((resolve, reject) => {
      request.onerror = () => reject(failureOf(request));
      request.onsuccess = () => {
        const cursor = request.result;
        if (cursor === null) {
          resolve(page);
          return;
        }
        page.push(cursor.value as SessionRow);
        if (page.length === limit) resolve(page);
        else cursor.continue();
      };
    });
  }

  allRecords(session: number): Promise<RecordRow[]> {
    return rows(this.#table('records').index('place').getAll(beginning(session)));
  }

  recordsOfKind(session: number, kind: number): Promise<RecordRow[]> {
    return rows(this.#table('records').index('place').getAll(beginning(session, kind)));
  }

  async recordsAfter(session: number, revision: number): Promise<RecordRow[]> {
    const range = IDBKeyRange.bound([session, revision], [session, []], true);
    const added = await rows<RecordRow>(this.#table('records').index('added').getAll(range));
    return added
      .filter(({ kind }) => kind !== 0)
      .sort((a, b) => a.kind - b.kind || a.place - b.place);
  }

  findRecord(session: number, kind: number, id: string): Promise<RecordRow | undefined> {
    return answer(this.#table('records').get([session, kind, id]));
  }

  async lastPlace(session: number, kind: number): Promise<number> {
    const key = await this.#key('records', 'place', beginning(session, kind), 'prev');
    return key === undefined ? 0 : (key as number[])[2]!;
  }

  async placeAfter(session: number, kind: number, place: number): Promise<number | undefined> {
    const range = IDBKeyRange.bound([session, kind, place], [session, kind, []], true);
    const key = await this.#key('records', 'place', range, 'next');
    return (key as number[] | undefined)?.[2];
  }

  addRecord(session: number, row: RecordRow): Promise<void> {
    return this.#put('records', { ...row, session });
  }

  setRecord(session: number, row: RecordRow): Promise<void> {
    return this.#put('records', { ...row, session });
  }

  moveRecord(session: number, row: RecordRow): Promise<void> {
    return this.#put('records', { ...row, session });
  }

  dropRecord(session: number, kind: number, id: string): Promise<void> {
    return this.#drop('records', [session, kind, id]);
  }

  allKeys(session: number): Promise<KeyRow[]> {
    return rows(this.#table('keys').getAll(beginning(session)));
  }

  addKey(session: number, row: KeyRow): Promise<void> {
    return this.#put('keys', { ...row, session });
  }

  dropKey(session: number, key: string): Promise<void> {
    return this.#drop('keys', [session, key]);
  }

  addRef(session: number, kind: number, record: string, bytes: string): Promise<void> {
    return this.#put('refs', { session, kind, record, bytes });
  }

  dropRefs(session: number, kind: number, record: string): Promise<void> {
    return this.#drop('refs', beginning(session, kind, record));
  }

  findBytes(session: number, id: string): Promise<BytesRow | undefined> {
    return answer(this.#table('bytes').get([session, id]));
  }

  allBytes(session: number): Promise<BytesRow[]> {
    return rows(this.#table('bytes').getAll(beginning(session)));
  }

  async putBytes(session: number, row: BytesRow): Promise<void> {
    if (!(await this.hasContent(row.content))) {
      throw new Error('it was deleted while the bytes were written');
    }
    return this.#put('bytes', { ...row, session });
  }

  dropBytes(session: number, id: string): Promise<void> {
    return this.#drop('bytes', [session, id]);
  }

  async fork(to: number, from: number): Promise<void> {
    for (const name of ['records', 'refs', 'bytes'] as const) {
      const all = await rows<object>(this.#table(name).getAll(beginning(from)));
      await Promise.all(all.map((row) => this.#put(name, { ...row, session: to })));
    }
  }

  async addContent(added: number): Promise<number> {
    return (await answer(this.#table('contents').add({ added }))) as number;
  }

  usesOfContent(content: number): Promise<number> {
    return answer(this.#table('bytes').index('content').count(content));
  }

  /** Whether there is a content with a number. */
  async hasContent(content: number): Promise<boolean> {
    return (await answer(this.#table('contents').count(content))) > 0;
  }

  async dropContent(content: number): Promise<void> {
    const first = await this.findPart(content, 0);
    if (first !== undefined && first.data === undefined) this.dropped.push(content);
    await Promise.all([this.#drop('parts', beginning(content)), this.#drop('contents', content)]);
  }

  addPart(content: number, part: number, row: PartRow): Promise<void> {
    return this.#put('parts', { ...row, content, part });
  }

  findPart(content: number, part: number): Promise<PartRow | undefined> {
    return answer(this.#table('parts').get([content, part]));
  }

  async sessionsWithUnusedBytes(before: number, limit: number): Promise<string[]> {
    const range = IDBKeyRange.upperBound(before, true);
    const old = await rows<BytesRow & { readonly session: number }>(
      this.#table('bytes').index('added').getAll(range),
    );
    const refs = this.#table('refs').index('bytes');
    const sessions = new Set<number>();
    for (const { session, id } of old) {
      if (sessions.size === limit) break;
      if ((await answer(refs.count([session, id]))) === 0) sessions.add(session);
    }
    const found = [...sessions].map((each) => answer(this.#table('sessions').get(each)));
    return (await Promise.all(found)).map((row) => (row as SessionRow).id);
  }

  async unusedContents(before: number, limit: number): Promise<number[]> {
    const range = IDBKeyRange.upperBound(before, true);
    const contents = this.#table('contents').index('added');
    const unused: number[] = [];
    for (const number of await answer(contents.getAllKeys(range))) {
      if (unused.length === limit) break;
      if ((await this.usesOfContent(number as number)) === 0) unused.push(number as number);
    }
    return unused;
  }

  async readMeta(name: string): Promise<number | undefined> {
    const row = (await answer(this.#table('meta').get(name))) as { value: number } | undefined;
    return row?.value;
  }

  writeMeta(name: string, value: number): Promise<void> {
    return this.#put('meta', { name, value });
  }
}
