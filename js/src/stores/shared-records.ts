/**
 * Records of sessions in a transaction of a database. A fork has those of its base, as they were when it was made, in
 * front of its own, until one of the two changes them.
 */
import { checkSession, setSession } from './session-rows.js';
import { ask, type RecordRow, type SessionRow, type Step, type Tables } from './tables.js';

/** Whether a session shares a record, which is not its own then. */
export function isShared({ base, cut }: SessionRow, { added }: RecordRow): boolean {
  return base !== 0 && added <= cut;
}

/** All records of a session by kind and place. */
export function* allRecords(tables: Tables, row: SessionRow): Step<RecordRow[]> {
  const own = yield* ask(tables.allRecords(row.number));
  if (row.base === 0) return own;
  const shared = yield* ask(tables.sharedRecords(row.base, row.cut));
  return [...shared, ...own].sort((a, b) => a.kind - b.kind);
}

/** The records of a kind by place. */
export function* recordsOfKind(tables: Tables, row: SessionRow, kind: number): Step<RecordRow[]> {
  const own = yield* ask(tables.recordsOfKind(row.number, kind));
  if (row.base === 0) return own;
  return [...(yield* ask(tables.sharedOfKind(row.base, kind, row.cut))), ...own];
}

/** A record of a session. */
export function* findRecord(
  tables: Tables,
  row: SessionRow,
  kind: number,
  id: string,
): Step<RecordRow | undefined> {
  const own = yield* ask(tables.findRecord(row.number, kind, id));
  if (own !== undefined || row.base === 0) return own;
  const shared = yield* ask(tables.findRecord(row.base, kind, id));
  return shared !== undefined && isShared(row, shared) ? shared : undefined;
}

/** A place behind which a session has no records of a kind; 0 if it has none. */
export function* lastPlace(tables: Tables, row: SessionRow, kind: number): Step<number> {
  const own = yield* ask(tables.lastPlace(row.number, kind));
  return own !== 0 || row.base === 0 ? own : yield* ask(tables.lastPlace(row.base, kind));
}

/** Gives a fork rows of its own for what it shares. The caller writes its row. */
export function* ownRecords(tables: Tables, row: SessionRow): Step<void> {
  if (row.base === 0) return;
  yield* ask(tables.copyShared(row.number, row.base, row.cut));
  row.base = 0;
  row.cut = 0;
}

/** Gives the forks of a session rows of their own, if they share what was added at a revision. */
export function* freeForks(tables: Tables, row: SessionRow, added: number): Step<void> {
  for (const fork of yield* ask(tables.forksOf(row.number, added))) {
    checkSession(fork);
    yield* ownRecords(tables, fork);
    yield* setSession(tables, fork);
  }
}
