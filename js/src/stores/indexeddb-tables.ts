/**
 * The tables in IndexedDB, which answers later.
 */
import type {
  ArtifactRow,
  BytesRow,
  EntryRow,
  EventRow,
  JournalRow,
  KeyRow,
  PartRow,
  RecordRow,
  SessionRow,
  StateRow,
  Tables,
} from './tables.js';

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
  'events',
  'state',
  'artifacts',
  'journals',
  'entries',
] as const;

/** The tables with what belongs to a session, beginning with its number in their keys. */
const OF_SESSION = ['records', 'keys', 'refs', 'bytes', 'events', 'state', 'artifacts'] as const;

/**
 * Makes the tables in a database that has none. Their numbers begin anywhere: those of a database that was deleted,
 * which revisions, files and writers may still have, are not used again.
 */
export function makeTables(db: IDBDatabase): void {
  db.createObjectStore('meta', { keyPath: 'name' });
  const sessions = db.createObjectStore('sessions', { keyPath: 'number', autoIncrement: true });
  sessions.createIndex('id', 'id', { unique: true });
  // A page of the list is the beginning of what is left of it: one request gets it, where a cursor that goes back takes
  // one for each session, which take longer the more there are.
  sessions.createIndex('list', ['behind', 'number']);
  sessions.createIndex('base', ['base', 'cut']);
  const records = db.createObjectStore('records', { keyPath: ['session', 'kind', 'id'] });
  records.createIndex('place', ['session', 'kind', 'place']);
  records.createIndex('added', ['session', 'added']);
  const keys = db.createObjectStore('keys', { keyPath: ['session', 'key'] });
  keys.createIndex('turn', ['session', 'turn', 'revision']);
  const refs = db.createObjectStore('refs', { keyPath: ['session', 'kind', 'record', 'bytes'] });
  refs.createIndex('bytes', ['session', 'bytes']);
  const bytes = db.createObjectStore('bytes', { keyPath: ['session', 'id'] });
  bytes.createIndex('content', 'content');
  bytes.createIndex('added', 'added');
  const contents = db.createObjectStore('contents', { keyPath: 'number', autoIncrement: true });
  contents.createIndex('added', 'added');
  db.createObjectStore('parts', { keyPath: ['content', 'part'] });
  const events = db.createObjectStore('events', { keyPath: ['session', 'revision'] });
  events.createIndex('id', ['session', 'id'], { unique: true });
  db.createObjectStore('state', { keyPath: ['session', 'scope', 'name'] });
  const artifacts = db.createObjectStore('artifacts', {
    keyPath: ['session', 'scope', 'name', 'version'],
  });
  artifacts.createIndex('content', 'content');
  db.createObjectStore('journals', { keyPath: 'turn' });
  db.createObjectStore('entries', { keyPath: ['turn', 'number'] });
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

/** So many of the rows that a cursor comes by. */
function some<Row>(request: IDBRequest<IDBCursorWithValue | null>, limit: number): Promise<Row[]> {
  const found: Row[] = [];
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(failureOf(request));
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor !== null) found.push(cursor.value as Row);
      if (cursor === null || found.length === limit) resolve(found);
      else cursor.continue();
    };
  });
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
    return (await answer(sessions.add({ ...row, behind: -row.revision }))) as number;
  }

  setSession(row: SessionRow): Promise<void> {
    return this.#put('sessions', { ...row, behind: -row.revision });
  }

  async dropSession(session: number): Promise<void> {
    const all = OF_SESSION.map((name) => this.#drop(name, beginning(session)));
    await Promise.all([...all, this.#drop('sessions', session)]);
  }

  forksOf(base: number, cut: number): Promise<SessionRow[]> {
    const range = IDBKeyRange.bound([base, cut], [base, []]);
    return rows(this.#table('sessions').index('base').getAll(range));
  }

  async lastRevision(): Promise<number> {
    const key = await this.#key('sessions', 'list', null, 'next');
    return key === undefined ? 0 : -(key as number[])[0]!;
  }

  listSessions(revision: number, number: number, limit: number): Promise<SessionRow[]> {
    const range = IDBKeyRange.lowerBound([-revision, number], true);
    return rows(this.#table('sessions').index('list').getAll(range, limit));
  }

  async listSessionsOf(
    prefix: string,
    revision: number,
    number: number,
    limit: number,
  ): Promise<SessionRow[]> {
    const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
    const all = await rows<SessionRow>(this.#table('sessions').index('id').getAll(range));
    return all
      .filter((row) => row.id.startsWith(prefix))
      .filter(
        (row) => row.revision < revision || (row.revision === revision && row.number > number),
      )
      .sort((a, b) => b.revision - a.revision || a.number - b.number)
      .slice(0, limit);
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

  async sharedRecords(base: number, cut: number): Promise<RecordRow[]> {
    return (await this.allRecords(base)).filter(({ added }) => added <= cut);
  }

  async sharedOfKind(base: number, kind: number, cut: number): Promise<RecordRow[]> {
    return (await this.recordsOfKind(base, kind)).filter(({ added }) => added <= cut);
  }

  async copyShared(fork: number, base: number, cut: number): Promise<void> {
    for (const record of await this.sharedRecords(base, cut)) {
      const key = beginning(base, record.kind, record.id);
      const refs = await rows<object>(this.#table('refs').getAll(key));
      await this.#put('records', { ...record, session: fork });
      for (const ref of refs) await this.#put('refs', { ...ref, session: fork });
    }
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

  findKey(session: number, key: string): Promise<KeyRow | undefined> {
    return answer(this.#table('keys').get([session, key]));
  }

  async lastKey(session: number, turn: string): Promise<KeyRow | undefined> {
    const keys = this.#table('keys').index('turn');
    const cursor = await answer(keys.openCursor(beginning(session, turn), 'prev'));
    return cursor?.value as KeyRow | undefined;
  }

  keyOfRevision(session: number, turn: string, revision: number): Promise<KeyRow | undefined> {
    return answer(this.#table('keys').index('turn').get([session, turn, revision]));
  }

  countKeys(session: number): Promise<number> {
    return answer(this.#table('keys').count(beginning(session)));
  }

  addKey(session: number, row: KeyRow): Promise<void> {
    return this.#put('keys', { ...row, session });
  }

  async dropKeysOfTurn(session: number, turn: string): Promise<number> {
    const keys = this.#table('keys').index('turn');
    const all = await answer(keys.getAllKeys(beginning(session, turn)));
    await Promise.all(all.map((key) => this.#drop('keys', key)));
    return all.length;
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
    for (const name of ['bytes', 'events', 'state', 'artifacts'] as const) {
      const all = await rows<object>(this.#table(name).getAll(beginning(from)));
      await Promise.all(all.map((row) => this.#put(name, { ...row, session: to })));
    }
  }

  async forkEvents(to: number, from: number, revision: number): Promise<number> {
    const range = IDBKeyRange.bound([from], [from, revision]);
    const all = await rows<object>(this.#table('events').getAll(range));
    await Promise.all(all.map((row) => this.#put('events', { ...row, session: to })));
    return all.length;
  }

  async forkVersions(to: number, from: number, name: string, count: number): Promise<void> {
    const range = IDBKeyRange.bound([from, '', name], [from, '', name, count], false, true);
    const all = await rows<object>(this.#table('artifacts').getAll(range));
    await Promise.all(all.map((row) => this.#put('artifacts', { ...row, session: to })));
  }

  async addContent(added: number): Promise<number> {
    return (await answer(this.#table('contents').add({ added }))) as number;
  }

  async usesOfContent(content: number): Promise<number> {
    const [bytes, artifacts] = (['bytes', 'artifacts'] as const).map((name) =>
      answer(this.#table(name).index('content').count(content)),
    );
    return (await bytes!) + (await artifacts!);
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
    const refers = async (session: number, id: string): Promise<boolean> =>
      session !== 0 && (await answer(refs.count([session, id]))) > 0;
    const found = new Map<number, SessionRow>();
    for (const { session, id } of old) {
      if (found.size === limit) break;
      if (found.has(session) || (await refers(session, id))) continue;
      const row = (await answer(this.#table('sessions').get(session))) as SessionRow;
      if (!(await refers(row.base, id))) found.set(session, row);
    }
    return [...found.values()].map(({ id }) => id);
  }

  async sessionsWithOldKeys(before: number, limit: number): Promise<string[]> {
    const found: string[] = [];
    for (const session of new Set((await this.#oldKeys(before)).map((key) => key.session))) {
      if (found.length === limit) break;
      found.push(((await answer(this.#table('sessions').get(session))) as SessionRow).id);
    }
    return found;
  }

  async turnsWithOldKeys(session: number, before: number): Promise<string[]> {
    const keys = await this.#oldKeys(before, beginning(session));
    return keys.map(({ turn }) => turn);
  }

  /** The last key of each turn that wrote last before a revision and has no journal. */
  async #oldKeys(
    before: number,
    range?: IDBKeyRange,
  ): Promise<(KeyRow & { readonly session: number })[]> {
    const index = this.#table('keys').index('turn');
    const all = await rows<KeyRow & { readonly session: number }>(index.getAll(range));
    const last = all.filter(({ session, turn }, i) => {
      const next = all[i + 1];
      return next?.session !== session || next.turn !== turn;
    });
    const found: typeof last = [];
    for (const key of last) {
      if (key.revision >= before) continue;
      if ((await answer(this.#table('journals').count(key.turn))) === 0) found.push(key);
    }
    return found;
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

  findEvent(session: number, id: string): Promise<EventRow | undefined> {
    return answer(this.#table('events').index('id').get([session, id]));
  }

  eventsAfter(session: number, revision: number, limit: number): Promise<EventRow[]> {
    const range = IDBKeyRange.bound([session, revision], [session, []], true);
    return rows(this.#table('events').getAll(range, limit));
  }

  lastEvents(session: number, revision: number, limit: number): Promise<EventRow[]> {
    const range = IDBKeyRange.bound([session, revision], [session, []], true);
    return some(this.#table('events').openCursor(range, 'prev'), limit);
  }

  addEvent(session: number, row: EventRow): Promise<void> {
    return this.#put('events', { ...row, session });
  }

  allState(session: number, scope: string): Promise<StateRow[]> {
    return rows(this.#table('state').getAll(beginning(session, scope)));
  }

  setState(session: number, row: StateRow): Promise<void> {
    return this.#put('state', { ...row, session });
  }

  dropState(session: number, scope: string, name: string): Promise<void> {
    return this.#drop('state', [session, scope, name]);
  }

  allArtifacts(session: number, scope: string): Promise<ArtifactRow[]> {
    return rows(this.#table('artifacts').getAll(beginning(session, scope)));
  }

  findArtifact(
    session: number,
    scope: string,
    name: string,
    version: number,
  ): Promise<ArtifactRow | undefined> {
    return answer(this.#table('artifacts').get([session, scope, name, version]));
  }

  async lastArtifact(
    session: number,
    scope: string,
    name: string,
  ): Promise<ArtifactRow | undefined> {
    const range = beginning(session, scope, name);
    const cursor = await answer(this.#table('artifacts').openCursor(range, 'prev'));
    return cursor?.value as ArtifactRow | undefined;
  }

  addArtifact(session: number, row: ArtifactRow): Promise<void> {
    return this.#put('artifacts', { ...row, session });
  }

  async contentsOfArtifacts(session: number): Promise<number[]> {
    const all = this.#table('artifacts').getAll(beginning(session));
    return (await rows<ArtifactRow>(all)).map(({ content }) => content);
  }

  findJournal(turn: string): Promise<JournalRow | undefined> {
    return answer(this.#table('journals').get(turn));
  }

  addJournal(row: JournalRow): Promise<void> {
    return this.#put('journals', row);
  }

  setJournal(row: JournalRow): Promise<void> {
    return this.#put('journals', row);
  }

  async dropJournal(turn: string): Promise<void> {
    await Promise.all([this.#drop('entries', beginning(turn)), this.#drop('journals', turn)]);
  }

  entriesFrom(turn: string, number: number): Promise<EntryRow[]> {
    const range = IDBKeyRange.bound([turn, number], [turn, []]);
    return rows(this.#table('entries').getAll(range));
  }

  addEntry(row: EntryRow): Promise<void> {
    return this.#put('entries', row);
  }

  dropEntriesBefore(turn: string, number: number): Promise<void> {
    const range = IDBKeyRange.bound([turn], [turn, number], false, true);
    return this.#drop('entries', range);
  }

  async readMeta(name: string): Promise<number | undefined> {
    const row = (await answer(this.#table('meta').get(name))) as { value: number } | undefined;
    return row?.value;
  }

  writeMeta(name: string, value: number): Promise<void> {
    return this.#put('meta', { name, value });
  }
}
