/**
 * Events, state and artifacts in a transaction of a database.
 */
import {
  type Append,
  type Artifact,
  type EventQuery,
  NO_REVISION,
  type SessionEvent,
  type StateValue,
} from '../store/appender.js';
import { appendConflict } from '../store/append-faults.js';
import { byName } from '../store/by-name.js';
import { sessionError } from '../store-errors.js';
import { invalidBytes, invalidEvent, invalidInScope, invalidSession } from './faults.js';
import { requireEpoch } from './journal-rows.js';
import { Keys } from './keys.js';
import {
  begin,
  nextRevision,
  readRevision,
  revisionText,
  sessionOf,
  setSession,
  shown,
} from './session-rows.js';
import {
  type ArtifactRow,
  artifactSum,
  ask,
  bytesSum,
  type EventRow,
  eventSum,
  type SessionRow,
  type StateRow,
  stateSum,
  type Step,
  type Tables,
} from './tables.js';

/** As many rows as there are. */
const ALL = 2 ** 32 - 1;

/** Stores what one transaction appends. Returns the session's revision after it. @param now the time in microseconds */
export function* append(
  tables: Tables,
  session: string,
  appended: Append,
  now: () => number,
): Step<string> {
  yield* requireEpoch(tables, appended);
  const { event, state = [], artifacts = [] } = appended;
  const isEmpty = event === undefined && state.length === 0 && artifacts.length === 0;
  const there = yield* sessionOf(tables, session);
  if (there === undefined && isEmpty) return NO_REVISION;
  const row = there ?? (yield* begin(tables, session, now));
  const keys = new Keys(tables, row, appended);
  let changed = yield* keys.forget();
  const known = yield* keys.find();
  if (known === undefined) {
    if (!isEmpty) yield* new Appending(tables, row, keys).run(appended, now);
    changed = (yield* keys.add()) || changed || !isEmpty;
  }
  if (changed) yield* setSession(tables, row);
  return revisionText({ ...row, revision: known ?? row.revision });
}

/** An append under way. */
class Appending {
  readonly #tables: Tables;
  readonly #row: SessionRow;
  readonly #keys: Keys;

  constructor(tables: Tables, row: SessionRow, keys: Keys) {
    this.#tables = tables;
    this.#row = row;
    this.#keys = keys;
  }

  *run(
    { event, state = [], artifacts = [], revision = '' }: Append,
    now: () => number,
  ): Step<void> {
    const row = this.#row;
    yield* this.#check(revision);
    const at = yield* nextRevision(this.#tables, row.revision, now);
    if (event !== undefined) yield* this.#addEvent({ ...event, revision: at, sum: 0 });
    for (const { scope, name, value } of state) {
      const session = ownerOf(row, scope);
      if (value === null) {
        yield* ask(this.#tables.dropState(session, scope, name));
        continue;
      }
      const set = { scope, name, value, sum: 0 };
      set.sum = stateSum(set);
      yield* ask(this.#tables.setState(session, set));
    }
    for (const { bytes, ...artifact } of artifacts) {
      yield* this.#addArtifact({ ...artifact, content: 0, size: 0, sum: 0 }, bytes);
    }
    row.revision = at;
    row.appended = at;
  }

  /**
   * @throws TurncoreError E_SESSION_CONFLICT if another turn has appended since a revision, or the revision is one of a
   *   session that has been deleted
   */
  *#check(revision: string): Step<void> {
    const { id, appended } = this.#row;
    if (revision === '' || appended <= (shown(this.#row, revision) ?? -1)) return;
    // A fork knows the revisions of the events that it began with, too.
    if (revision === revisionText({ ...this.#row, revision: appended })) return;
    if (appended === 0 || !(yield* this.#keys.isOwn(appended))) throw appendConflict(id);
  }

  *#addEvent(event: EventRow): Step<void> {
    const { number, id } = this.#row;
    const there = yield* ask(this.#tables.findEvent(number, event.id));
    if (there !== undefined) {
      throw appendConflict(id, 'event', event.id);
    }
    event.sum = eventSum(event);
    yield* ask(this.#tables.addEvent(number, event));
    this.#row.events++;
  }

  *#addArtifact(row: ArtifactRow, bytes: string): Step<void> {
    const { number, id: session } = this.#row;
    const { scope, name } = row;
    const found = yield* ask(this.#tables.findBytes(number, bytes));
    if (found === undefined) throw sessionError('E_BYTES_NOT_FOUND', { session, id: bytes });
    if (found.sum !== bytesSum(found)) {
      throw invalidBytes(session, bytes, 'their checksum is wrong');
    }
    const owner = ownerOf(this.#row, scope);
    const last = yield* ask(this.#tables.lastArtifact(owner, scope, name));
    if (last !== undefined) checkArtifact(session, last);
    if (row.version !== (last?.version ?? -1) + 1) {
      throw appendConflict(session, 'artifact', name);
    }
    const added = { ...row, content: found.content, size: found.size };
    added.sum = artifactSum(added);
    yield* ask(this.#tables.addArtifact(owner, added));
  }
}

/** The number of the session that a scope belongs to; 0 for one that sessions share. */
function ownerOf({ number }: SessionRow, scope: string): number {
  return scope === '' ? number : 0;
}

/** Events of a session. */
export function* eventsOf(
  tables: Tables,
  session: string,
  { after = '', limit = 0, newest = false }: EventQuery,
): Step<SessionEvent[]> {
  const row = yield* sessionOf(tables, session);
  if (row === undefined) return [];
  const [number, revision] = readRevision(after) ?? [];
  const from = number === row.number && revision! <= row.revision ? revision! : 0;
  const most = limit > 0 ? limit : ALL;
  const found = yield* ask(
    newest && limit > 0
      ? tables.lastEvents(row.number, from, most)
      : tables.eventsAfter(row.number, from, most),
  );
  if (newest && limit > 0) found.reverse();
  for (const each of found) {
    if (each.sum !== eventSum(each)) throw invalidEvent(session, each.id, 'its checksum is wrong');
  }
  if (from === 0 && found.length < Math.min(most, row.events)) {
    throw invalidSession(session, `it has ${found.length} events, not ${row.events}`);
  }
  return found.map(({ id, body, revision: at }) => {
    return { id, body, revision: revisionText({ ...row, revision: at }) };
  });
}

/** The number that the rows of a scope have; undefined if there are none, as the session is not there. */
function* scoped(tables: Tables, session: string, scope: string): Step<number | undefined> {
  return scope === '' ? (yield* sessionOf(tables, session))?.number : 0;
}

/** The values of a scope. */
export function* stateOf(tables: Tables, session: string, scope: string): Step<StateValue[]> {
  const owner = yield* scoped(tables, session, scope);
  if (owner === undefined) return [];
  const rows: StateRow[] = yield* ask(tables.allState(owner, scope));
  for (const each of rows) {
    if (each.sum === stateSum(each)) continue;
    throw invalidInScope(session, 'state', each, 'its checksum is wrong');
  }
  return rows.map(({ name, value }) => ({ scope, name, value })).sort(byName);
}

/** The versions of the artifacts of a scope. */
export function* artifactsOf(tables: Tables, session: string, scope: string): Step<Artifact[]> {
  const owner = yield* scoped(tables, session, scope);
  if (owner === undefined) return [];
  const rows = yield* ask(tables.allArtifacts(owner, scope));
  for (const each of rows) checkArtifact(session, each);
  const artifacts = rows.map(({ name, version, size, body }) => ({
    scope,
    name,
    version,
    size,
    body,
  }));
  return artifacts.sort((a, b) => byName(a, b) || a.version - b.version);
}

/** The row of a version of an artifact. */
export function* artifactOf(
  tables: Tables,
  session: string,
  scope: string,
  name: string,
  version: number,
): Step<ArtifactRow | undefined> {
  const owner = yield* scoped(tables, session, scope);
  if (owner === undefined) return undefined;
  const row = yield* ask(tables.findArtifact(owner, scope, name, version));
  if (row !== undefined) checkArtifact(session, row);
  return row;
}

/** @throws TurncoreError E_STORED_RECORD_INVALID for a row with a wrong checksum */
function checkArtifact(session: string, row: ArtifactRow): void {
  if (row.sum === artifactSum(row)) return;
  throw invalidInScope(session, 'artifact', row, `the checksum of version ${row.version} is wrong`);
}
