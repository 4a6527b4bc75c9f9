/**
 * Forks that take some of a session's events, in a transaction of a database.
 */
import type { ForkPoint } from '../store/appender.js';
import { storeError } from '../store-errors.js';
import { addSession, nextRevision, readRevision, sessionOf, setSession } from './session-rows.js';
import { ask, type SessionRow, stateSum, type Step, type Tables } from './tables.js';

/** Makes a session that begins with the first events of another one. @param now the time in microseconds */
export function* forkAt(
  tables: Tables,
  from: string,
  to: string,
  { revision: text, state = [], artifacts = {} }: ForkPoint,
  now: () => number,
): Step<void> {
  const old = yield* sessionOf(tables, from);
  const [number, revision] = readRevision(text) ?? [];
  const isThere =
    old !== undefined &&
    number === old.number &&
    (yield* ask(tables.eventsAfter(old.number, revision! - 1, 1)))[0]?.revision === revision;
  if (!isThere) throw ofSession('E_SESSION_NOT_FOUND', from);
  const at = yield* nextRevision(tables, old.revision, now);
  const row: SessionRow = {
    ...{ number: 0, id: to, revision: at, settled: 0, newest: null, created: at, title: '' },
    ...{ messages: 0, records: 0, digest: 0, keys: 0 },
    ...{ events: 0, appended: revision!, base: 0, cut: 0, sum: 0 },
  };
  if (!(yield* addSession(tables, row))) throw ofSession('E_SESSION_EXISTS', to);
  row.events = yield* ask(tables.forkEvents(row.number, old.number, revision!));
  yield* setSession(tables, row);
  for (const { name, value } of state) {
    const set = { scope: '', name, value, sum: 0 };
    set.sum = stateSum(set);
    yield* ask(tables.setState(row.number, set));
  }
  for (const [name, count] of Object.entries(artifacts)) {
    if (count === 0) continue;
    const last = yield* ask(tables.findArtifact(old.number, '', name, count - 1));
    if (last === undefined) throw ofSession('E_SESSION_NOT_FOUND', from);
    yield* ask(tables.forkVersions(row.number, old.number, name, count));
  }
}

function ofSession(code: 'E_SESSION_NOT_FOUND' | 'E_SESSION_EXISTS', session: string): Error {
  return storeError(code, JSON.stringify(session), { details: { session } });
}
