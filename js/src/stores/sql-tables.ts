/**
 * The tables in an SQL database that answers at once.
 */
import { STATEMENTS } from './sql.gen.js';
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

/** A value of a column. A whole number of a damaged row, which no number is exactly, is a bigint. */
export type Column = number | bigint | string | Uint8Array | null;

/** Runs statements, in the transaction that is open. */
export interface Sql {
  all(sql: string, ...values: readonly Column[]): Record<string, Column>[];
}

const utf8 = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const blob = (text: string): Uint8Array => utf8.encode(text);
/** The bytes of a column. In a damaged row another type may be in its place. */
const bytes = (value: Column | undefined): Uint8Array =>
  value instanceof Uint8Array ? value : blob(String(value ?? ''));
const text = (value: Column | undefined): string => decoder.decode(bytes(value));

/** The tables in an SQL database. */
export class SqlTables implements Tables {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  #rows<Row>(
    statement: keyof typeof STATEMENTS,
    values: readonly Column[],
    read: (row: Record<string, Column>) => Row,
  ): Row[] {
    return this.#sql.all(STATEMENTS[statement], ...values).map(read);
  }

  #run(statement: keyof typeof STATEMENTS, ...values: readonly Column[]): void {
    this.#sql.all(STATEMENTS[statement], ...values);
  }

  #number(statement: keyof typeof STATEMENTS, ...values: readonly Column[]): number | undefined {
    const [row] = this.#sql.all(STATEMENTS[statement], ...values);
    return row === undefined ? undefined : (Object.values(row)[0] as number);
  }

  findSession(id: string): SessionRow | undefined {
    return this.#rows('findSession', [blob(id)], sessionRow)[0];
  }

  addSession(r: SessionRow): number | undefined {
    return this.#number(
      'addSession',
      ...[blob(r.id), r.revision, r.settled, r.newest, r.created, blob(r.title)],
      ...[r.messages, r.records, r.digest, r.keys, r.events, r.appended, r.base, r.cut, r.sum],
    );
  }

  setSession(r: SessionRow): void {
    this.#run(
      'setSession',
      ...[r.revision, r.settled, r.newest, blob(r.title)],
      ...[r.messages, r.records, r.digest, r.keys, r.events, r.appended, r.base, r.cut, r.sum],
      r.number,
    );
  }

  dropSession(session: number): void {
    for (const statement of [
      'dropRecords',
      'dropKeys',
      'dropAllRefs',
      'dropAllBytes',
      'dropEvents',
      'dropAllState',
      'dropAllArtifacts',
      'dropSession',
    ] as const) {
      this.#run(statement, session);
    }
  }

  forksOf(base: number, cut: number): SessionRow[] {
    return this.#rows('forksOf', [base, cut], sessionRow);
  }

  lastRevision(): number {
    return this.#number('lastRevision') ?? 0;
  }

  listSessions(revision: number, number: number, limit: number): SessionRow[] {
    return this.#rows('listSessions', [revision, number, limit], sessionRow);
  }

  listSessionsOf(prefix: string, revision: number, number: number, limit: number): SessionRow[] {
    const first = blob(prefix);
    const behind = first.slice();
    behind[behind.length - 1]!++; // UTF-8 has no byte 255
    return this.#rows('listSessionsOf', [first, behind, revision, number, limit], sessionRow);
  }

  allRecords(session: number): RecordRow[] {
    return this.#rows('allRecords', [session], recordRow);
  }

  recordsOfKind(session: number, kind: number): RecordRow[] {
    return this.#rows('recordsOfKind', [session, kind], recordRow);
  }

  recordsAfter(session: number, revision: number): RecordRow[] {
    return this.#rows('recordsAfter', [session, revision], recordRow);
  }

  sharedRecords(base: number, cut: number): RecordRow[] {
    return this.#rows('sharedRecords', [base, cut], recordRow);
  }

  sharedOfKind(base: number, kind: number, cut: number): RecordRow[] {
    return this.#rows('sharedOfKind', [base, kind, cut], recordRow);
  }

  copyShared(fork: number, base: number, cut: number): void {
    this.#run('copyRecords', fork, base, cut);
    this.#run('copyRefs', fork, base, cut);
  }

  findRecord(session: number, kind: number, id: string): RecordRow | undefined {
    return this.#rows('findRecord', [session, kind, blob(id)], recordRow)[0];
  }

  lastPlace(session: number, kind: number): number {
    return this.#number('lastPlace', session, kind) ?? 0;
  }

  placeAfter(session: number, kind: number, place: number): number | undefined {
    // An unbounded place is behind all.
    const behind = Math.min(place, Number.MAX_SAFE_INTEGER);
    return this.#number('placeAfter', session, kind, behind);
  }

  addRecord(session: number, r: RecordRow): void {
    const id = blob(r.id);
    this.#run('addRecord', session, r.kind, id, r.place, r.added, r.changed, r.body, r.sum);
  }

  setRecord(session: number, r: RecordRow): void {
    this.#run('setRecord', r.changed, r.body, r.sum, session, r.kind, blob(r.id));
  }

  moveRecord(session: number, r: RecordRow): void {
    this.#run('moveRecord', r.place, r.sum, session, r.kind, blob(r.id));
  }

  dropRecord(session: number, kind: number, id: string): void {
    this.#run('dropRecord', session, kind, blob(id));
  }

  findKey(session: number, key: string): KeyRow | undefined {
    return this.#rows('findKey', [session, blob(key)], keyRow)[0];
  }

  lastKey(session: number, turn: string): KeyRow | undefined {
    return this.#rows('lastKey', [session, blob(turn)], keyRow)[0];
  }

  keyOfRevision(session: number, turn: string, revision: number): KeyRow | undefined {
    return this.#rows('keyOfRevision', [session, blob(turn), revision], keyRow)[0];
  }

  countKeys(session: number): number {
    return this.#number('countKeys', session)!;
  }

  addKey(session: number, { key, turn, revision, sum }: KeyRow): void {
    this.#run('addKey', session, blob(key), blob(turn), revision, sum);
  }

  dropKeysOfTurn(session: number, turn: string): number {
    const count = this.#number('countKeysOfTurn', session, blob(turn))!;
    if (count > 0) this.#run('dropKeysOfTurn', session, blob(turn));
    return count;
  }

  addRef(session: number, kind: number, record: string, id: string): void {
    this.#run('addRef', session, kind, blob(record), blob(id));
  }

  dropRefs(session: number, kind: number, record: string): void {
    this.#run('dropRefs', session, kind, blob(record));
  }

  findBytes(session: number, id: string): BytesRow | undefined {
    return this.#rows('findBytes', [session, blob(id)], bytesRow)[0];
  }

  allBytes(session: number): BytesRow[] {
    return this.#rows('allBytes', [session], bytesRow);
  }

  putBytes(session: number, { id, content, size, added, sum }: BytesRow): void {
    this.#run('putBytes', session, blob(id), content, size, added, sum);
  }

  dropBytes(session: number, id: string): void {
    this.#run('dropBytes', session, blob(id));
  }

  fork(to: number, from: number): void {
    for (const statement of ['forkBytes', 'forkEvents', 'forkState', 'forkArtifacts'] as const) {
      this.#run(statement, to, from);
    }
  }

  forkEvents(to: number, from: number, revision: number): number {
    this.#run('forkEventsTo', to, from, revision);
    return this.#number('countEventsTo', from, revision)!;
  }

  forkVersions(to: number, from: number, name: string, count: number): void {
    this.#run('forkVersions', to, from, blob(''), blob(name), count);
  }

  addContent(added: number): number {
    return this.#number('addContent', added)!;
  }

  usesOfContent(content: number): number {
    return this.#number('usesOfContent', content)!;
  }

  dropContent(content: number): void {
    this.#run('dropParts', content);
    this.#run('dropContent', content);
  }

  addPart(content: number, part: number, { data, sum }: PartRow): void {
    this.#run('addPart', content, part, data!, sum); // it has no files
  }

  findPart(content: number, part: number): PartRow | undefined {
    return this.#rows('findPart', [content, part], (row) => ({
      data: bytes(row['data']),
      sum: row['sum'] as number,
    }))[0];
  }

  sessionsWithUnusedBytes(before: number, limit: number): string[] {
    return this.#rows('sessionsWithUnusedBytes', [before, limit], ({ id }) => text(id));
  }

  sessionsWithOldKeys(before: number, limit: number): string[] {
    return this.#rows('sessionsWithOldKeys', [before, before, limit], ({ id }) => text(id));
  }

  turnsWithOldKeys(session: number, before: number): string[] {
    return this.#rows('turnsWithOldKeys', [session, before, before], ({ turn }) => text(turn));
  }

  unusedContents(before: number, limit: number): number[] {
    return this.#rows('unusedContents', [before, limit], (row) => row['number'] as number);
  }

  findEvent(session: number, id: string): EventRow | undefined {
    return this.#rows('findEvent', [session, blob(id)], eventRow)[0];
  }

  eventsAfter(session: number, revision: number, limit: number): EventRow[] {
    return this.#rows('eventsAfter', [session, revision, limit], eventRow);
  }

  lastEvents(session: number, revision: number, limit: number): EventRow[] {
    return this.#rows('lastEvents', [session, revision, limit], eventRow);
  }

  addEvent(session: number, { revision, id, body, sum }: EventRow): void {
    this.#run('addEvent', session, revision, blob(id), body, sum);
  }

  allState(session: number, scope: string): StateRow[] {
    return this.#rows('allState', [session, blob(scope)], stateRow);
  }

  setState(session: number, { scope, name, value, sum }: StateRow): void {
    this.#run('setState', session, blob(scope), blob(name), value, sum);
  }

  dropState(session: number, scope: string, name: string): void {
    this.#run('dropState', session, blob(scope), blob(name));
  }

  allArtifacts(session: number, scope: string): ArtifactRow[] {
    return this.#rows('allArtifacts', [session, blob(scope)], artifactRow);
  }

  findArtifact(
    session: number,
    scope: string,
    name: string,
    version: number,
  ): ArtifactRow | undefined {
    const key = [session, blob(scope), blob(name), version];
    return this.#rows('findArtifact', key, artifactRow)[0];
  }

  lastArtifact(session: number, scope: string, name: string): ArtifactRow | undefined {
    return this.#rows('lastArtifact', [session, blob(scope), blob(name)], artifactRow)[0];
  }

  addArtifact(session: number, r: ArtifactRow): void {
    const [scope, name] = [blob(r.scope), blob(r.name)];
    this.#run('addArtifact', session, scope, name, r.version, r.content, r.size, r.body, r.sum);
  }

  contentsOfArtifacts(session: number): number[] {
    return this.#rows('contentsOfArtifacts', [session], (row) => row['content'] as number);
  }

  findJournal(turn: string): JournalRow | undefined {
    return this.#rows('findJournal', [blob(turn)], journalRow)[0];
  }

  addJournal({ turn, epoch, first, next, checkpoint, sum }: JournalRow): void {
    this.#run('addJournal', blob(turn), epoch, first, next, checkpoint, sum);
  }

  setJournal({ turn, epoch, first, next, checkpoint, sum }: JournalRow): void {
    this.#run('setJournal', epoch, first, next, checkpoint, sum, blob(turn));
  }

  dropJournal(turn: string): void {
    this.#run('dropEntries', blob(turn));
    this.#run('dropJournal', blob(turn));
  }

  entriesFrom(turn: string, number: number): EntryRow[] {
    return this.#rows('entriesFrom', [blob(turn), number], entryRow);
  }

  addEntry({ turn, number, body, sum }: EntryRow): void {
    this.#run('addEntry', blob(turn), number, body, sum);
  }

  dropEntriesBefore(turn: string, number: number): void {
    this.#run('dropEntriesBefore', blob(turn), number);
  }

  readMeta(name: string): number | undefined {
    return this.#number('readMeta', name);
  }

  writeMeta(name: string, value: number): void {
    this.#run('writeMeta', name, value);
  }
}

function sessionRow(row: Record<string, Column>): SessionRow {
  return {
    ...(row as unknown as SessionRow),
    id: text(row['id']),
    title: text(row['title']),
  };
}

function recordRow(row: Record<string, Column>): RecordRow {
  return { ...(row as unknown as RecordRow), id: text(row['id']), body: bytes(row['body']) };
}

function bytesRow(row: Record<string, Column>): BytesRow {
  return { ...(row as unknown as BytesRow), id: text(row['id']) };
}

function keyRow(row: Record<string, Column>): KeyRow {
  return { ...(row as unknown as KeyRow), key: text(row['key']), turn: text(row['turn']) };
}

function eventRow(row: Record<string, Column>): EventRow {
  return { ...(row as unknown as EventRow), id: text(row['id']), body: bytes(row['body']) };
}

function stateRow(row: Record<string, Column>): StateRow {
  return {
    ...(row as unknown as StateRow),
    ...{ scope: text(row['scope']), name: text(row['name']), value: bytes(row['value']) },
  };
}

function artifactRow(row: Record<string, Column>): ArtifactRow {
  return {
    ...(row as unknown as ArtifactRow),
    ...{ scope: text(row['scope']), name: text(row['name']), body: bytes(row['body']) },
  };
}

function journalRow(row: Record<string, Column>): JournalRow {
  const { checkpoint = null } = row;
  return {
    ...(row as unknown as JournalRow),
    turn: text(row['turn']),
    checkpoint: checkpoint === null ? null : bytes(checkpoint),
  };
}

function entryRow(row: Record<string, Column>): EntryRow {
  return { ...(row as unknown as EntryRow), turn: text(row['turn']), body: bytes(row['body']) };
}
