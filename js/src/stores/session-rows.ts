/**
 * Rows of sessions in a transaction of a database.
 */
import { NO_REVISION } from '../store/appender.js';
import type { SessionInfo } from '../store/store.js';
import { invalidSession } from './faults.js';
import { ask, type SessionRow, sessionSum, type Step, type Tables } from './tables.js';

/** The row of a session. @throws TurncoreError E_STORED_RECORD_INVALID if it is damaged */
export function* sessionOf(tables: Tables, id: string): Step<SessionRow | undefined> {
  const row = yield* ask(tables.findSession(id));
  if (row !== undefined) checkSession(row);
  return row;
}

/** @throws TurncoreError E_STORED_RECORD_INVALID if a row is damaged */
export function checkSession(row: SessionRow): void {
  if (row.sum !== sessionSum(row)) throw invalidSession(row.id, 'its checksum is wrong');
}

/** The row of a session, which begins if need be. */
export function* begin(tables: Tables, id: string, now: () => number): Step<SessionRow> {
  for (;;) {
    const there = yield* sessionOf(tables, id);
    if (there !== undefined) return there;
    const at = yield* nextRevision(tables, 0, now);
    const row: SessionRow = {
      ...{ number: 0, id, revision: at, settled: 0, newest: null, created: at, title: '' },
      ...{ messages: 0, records: 0, digest: 0, keys: 0 },
      ...{ events: 0, appended: 0, base: 0, cut: 0, sum: 0 },
    };
    if (yield* addSession(tables, row)) return row;
  }
}

/** Adds a session. Returns whether there was none of its id. */
export function* addSession(tables: Tables, row: SessionRow): Step<boolean> {
  row.sum = sessionSum(row);
  const number = yield* ask(tables.addSession(row));
  row.number = number ?? 0;
  return number !== undefined;
}

/** Writes the row of a session. */
export function* setSession(tables: Tables, row: SessionRow): Step<void> {
  row.sum = sessionSum(row);
  yield* ask(tables.setSession(row));
}

/** A revision later than all others, whatever the clock says. */
export function* nextRevision(tables: Tables, after: number, now: () => number): Step<number> {
  const last = yield* ask(tables.lastRevision());
  if (!Number.isSafeInteger(last)) {
    // That of a damaged session, which says so.
    (yield* ask(tables.listSessions(Number.MAX_VALUE, Number.MAX_VALUE, 1))).forEach(checkSession);
  }
  return Math.max(now(), last + 1, after + 1);
}

/** The revision of a session as text. */
export function revisionText({ number, revision }: SessionRow): string {
  return `${number}.${revision}`;
}

/** The number and the revision of a text. */
export function readRevision(
  text: string,
): readonly [number: number, revision: number] | undefined {
  const [, number, revision] = /^(\d+)\.(\d+)$/.exec(text) ?? [];
  return number === undefined ? undefined : [Number(number), Number(revision)];
}

/** The revision of a text; undefined for one that the session never had. */
export function shown(row: SessionRow, text: string): number | undefined {
  if (text === NO_REVISION) return 0;
  const [number, revision] = readRevision(text) ?? [];
  if (number === undefined || revision === undefined) return undefined;
  const had = number === row.number && revision >= row.created && revision <= row.revision;
  return had ? revision : undefined;
}

/** What a row tells of its session. */
export function infoOf(row: SessionRow): SessionInfo {
  const { id, title, messages } = row;
  return {
    ...{ id, title, revision: revisionText(row), messages },
    createdAt: new Date(Math.floor(row.created / 1000)),
    updatedAt: new Date(Math.floor(row.revision / 1000)),
  };
}
