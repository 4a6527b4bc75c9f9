/**
 * A store in memory with events, state, artifacts and journals.
 */
import {
  appendConflict,
  noArtifact,
  noJournal,
  otherEnd,
  otherEpoch,
} from '../store/append-faults.js';
import {
  type Append,
  type Appender,
  type Artifact,
  type EventQuery,
  type ForkPoint,
  NO_REVISION,
  type SessionEvent,
  type StateValue,
} from '../store/appender.js';
import { byName } from '../store/by-name.js';
import type { Journal, JournalAppend, JournalCompaction, JournalPart } from '../store/journal.js';
import { fork } from '../store/memory-sessions.js';
import { MemoryStore } from '../store/memory-store.js';
import { copiesAtOnce, pooled } from '../store/pooled.js';
import {
  requireAppend,
  requireCompaction,
  requireCount,
  requireEpochNumber,
  requireJournalAppend,
  requireText,
} from '../store/requirements.js';
import type { BytesReader, Commit, Sessions } from '../store/store.js';
import { sessionError, storeError } from '../store-errors.js';
import type { Writing } from './keys.js';

/** A store in memory with all that stores can do. */
export type FullMemoryStore = Sessions & Appender & Journal;

/**
 * Keeps conversations in memory during its lifetime, as `memoryStore` of `turncore` does, and also events, state,
 * artifacts and journals.
 */
export function fullMemoryStore(): FullMemoryStore {
  return new AppendingStore();
}

/** A version of an artifact. */
interface Version {
  readonly reader: BytesReader;
  readonly size: number;
  readonly body: Uint8Array;
}

/** What a scope has. */
class Scope {
  readonly values: Map<string, Uint8Array>;
  readonly artifacts = new Map<string, Version[]>();

  constructor(like?: Scope) {
    this.values = new Map(like?.values);
    for (const [name, versions] of like?.artifacts ?? []) this.artifacts.set(name, [...versions]);
  }
}

/** An event, and the revision that it was appended with. */
interface Entry {
  readonly id: string;
  readonly body: Uint8Array;
  readonly at: number;
}

/** What was appended to a session. */
class Log {
  readonly events: Entry[];
  readonly ids: Set<string>;
  readonly own: Scope;
  /** The revision of the last append; 0 for none. */
  appended: number;

  constructor(like?: Log) {
    this.events = [...(like?.events ?? [])];
    this.ids = new Set(like?.ids);
    this.own = new Scope(like?.own);
    this.appended = like?.appended ?? 0;
  }

  /** How many events were appended up to a revision. */
  upTo(revision: number): number {
    const { events } = this;
    let low = 0;
    for (let high = events.length; low < high;) {
      const middle = (low + high) >> 1;
      if (events[middle]!.at <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The journal of a turn. */
interface Entries {
  epoch: number;
  first: number;
  checkpoint: Uint8Array | undefined;
  entries: Uint8Array[];
}

class AppendingStore extends MemoryStore implements Appender, Journal {
  readonly [copiesAtOnce] = true;
  /** What was appended to sessions, by their ids. */
  readonly #logs = new Map<string, Log>();
  readonly #shared = new Map<string, Scope>();
  readonly #journals = new Map<string, Entries>();

  override commit(session: string, commit: Commit): string {
    this.#requireEpoch(commit);
    return super.commit(session, commit);
  }

  override async fork(from: string, to: string): Promise<void> {
    fork(this, storeError, from, to);
    this.#logs.set(to, new Log(this.#logs.get(from)));
    return Promise.resolve();
  }

  override delete(session: string): void {
    super.delete(session);
    this.#logs.delete(session);
  }

  forkAt(from: string, to: string, { revision, state = [], artifacts = {} }: ForkPoint): void {
    requireAppend({ state });
    const log = this.#logs.get(from);
    const end = log?.upTo(Number(revision)) ?? 0;
    const last = log?.events[end - 1];
    if (log === undefined || last?.at !== Number(revision)) throw noSession(from);
    const made = new Log();
    for (const event of log.events.slice(0, end)) {
      made.events.push(event);
      made.ids.add(event.id);
    }
    made.appended = last.at;
    for (const { name, value } of state) made.own.values.set(name, value.slice());
    for (const [name, count] of Object.entries(artifacts)) {
      const versions = log.own.artifacts.get(name) ?? [];
      if (versions.length < count) throw noSession(from);
      if (count > 0) made.own.artifacts.set(name, versions.slice(0, count));
    }
    if (this.sessions.has(to)) {
      throw storeError('E_SESSION_EXISTS', JSON.stringify(to), { details: { session: to } });
    }
    this.begin(to);
    this.#logs.set(to, made);
  }

  append(id: string, append: Append): string {
    requireAppend(append);
    this.#requireEpoch(append);
    const { event, state = [], artifacts = [], key = '', turn = '', ended = [] } = append;
    const there = this.sessions.get(id);
    there?.forget(ended);
    const answered = there?.keys.get(key);
    if (answered !== undefined) return answered.revision;
    const isEmpty = event === undefined && state.length === 0 && artifacts.length === 0;
    if (there === undefined && isEmpty) return NO_REVISION;
    const added = isEmpty ? [] : this.#check(id, append);
    const session = isEmpty ? there! : this.write(id);
    if (!isEmpty) {
      const log = this.#logs.get(id) ?? new Log();
      this.#logs.set(id, log);
      log.appended = session.revision;
      if (event !== undefined) {
        log.ids.add(event.id);
        log.events.push({ id: event.id, body: pooled(event.body), at: session.revision });
      }
      for (const { scope, name, value } of state) {
        const { values } = this.#begin(log, scope);
        if (value === null) values.delete(name);
        else values.set(name, pooled(value));
      }
      for (const [scope, name, version] of added) {
        const of = this.#begin(log, scope).artifacts;
        const versions = of.get(name) ?? [];
        versions.push(version);
        of.set(name, versions);
      }
    }
    const revision = String(session.revision);
    session.remember(key, turn, revision);
    return revision;
  }

  /** The versions that an append adds. @throws TurncoreError if it cannot be stored */
  #check(id: string, append: Append): [scope: string, name: string, version: Version][] {
    const session = this.sessions.get(id);
    const log = this.#logs.get(id);
    const { appended = 0 } = log ?? {};
    const { event, artifacts = [], revision = '' } = append;
    // A fork knows the revisions of the events that it began with, too.
    if (
      revision !== '' &&
      revision !== String(appended) &&
      session?.knows(append)(appended) !== true
    ) {
      throw appendConflict(id);
    }
    if (event !== undefined && log?.ids.has(event.id) === true) {
      throw appendConflict(id, 'event', event.id);
    }
    if (artifacts.length === 0) return [];
    const added = new Map<string, number>();
    return artifacts.map(({ scope, name, version, bytes, body }) => {
      const reader = session?.bytes.get(bytes);
      if (reader === undefined) throw sessionError('E_BYTES_NOT_FOUND', { session: id, id: bytes });
      const place = JSON.stringify([scope, name]);
      const before = added.get(place) ?? this.#scope(id, scope)?.artifacts.get(name)?.length ?? 0;
      if (version !== before) throw appendConflict(id, 'artifact', name);
      added.set(place, before + 1);
      const size = reader.byteLength();
      return [scope, name, { reader, size, body: body.slice() }];
    });
  }

  /** A scope; undefined if there is nothing in it. */
  #scope(id: string, scope: string): Scope | undefined {
    return scope === '' ? this.#logs.get(id)?.own : this.#shared.get(scope);
  }

  #begin(log: Log, scope: string): Scope {
    if (scope === '') return log.own;
    let shared = this.#shared.get(scope);
    if (shared === undefined) this.#shared.set(scope, (shared = new Scope()));
    return shared;
  }

  events(id: string, { after = '', limit = 0, newest = false }: EventQuery = {}): SessionEvent[] {
    const log = this.#logs.get(id);
    if (log === undefined) return [];
    const { events } = log;
    const from = Number(after);
    const first = log.upTo(from);
    // A fork knows the revisions of the events that it began with, too.
    const known =
      events[first - 1]?.at === from || this.sessions.get(id)!.knows({ revision: after })(0);
    const start = known ? first : 0;
    const end = events.length;
    const some =
      limit <= 0
        ? events.slice(start)
        : newest
          ? events.slice(Math.max(start, end - limit))
          : events.slice(start, start + limit);
    return some.map(({ id: event, body, at }) => {
      return { id: event, body: pooled(body), revision: String(at) };
    });
  }

  state(id: string, scope: string): StateValue[] {
    requireText(scope, 'scope');
    const values = this.#scope(id, scope)?.values;
    if (values === undefined) return [];
    return [...values].map(([name, value]) => ({ scope, name, value: value.slice() })).sort(byName);
  }

  artifacts(id: string, scope: string): Artifact[] {
    requireText(scope, 'scope');
    const names = [...(this.#scope(id, scope)?.artifacts ?? [])].map(([name, versions]) => {
      return { name, versions };
    });
    return names.sort(byName).flatMap(({ name, versions }) =>
      versions.map(({ size, body }, version) => {
        return { scope, name, version, size, body: body.slice() };
      }),
    );
  }

  openArtifact(id: string, scope: string, name: string, version: number): BytesReader {
    requireText(scope, 'scope');
    requireText(name, 'name');
    requireCount(version, 'version');
    const found = this.#scope(id, scope)?.artifacts.get(name)?.[version];
    if (found === undefined) throw noArtifact(id, scope, name, version);
    return found.reader;
  }

  /** @throws TurncoreError E_TURN_FENCED unless the journal of a writer's turn has the writer's epoch, if it has one */
  #requireEpoch({ turn = '', epoch = 0 }: Writing): void {
    if (epoch !== 0) this.#journalOf(turn, epoch);
  }

  #journalOf(turn: string, epoch: number): Entries {
    const journal = this.#journals.get(turn);
    if (journal === undefined) throw noJournal(turn);
    if (journal.epoch !== epoch) throw otherEpoch(turn, journal.epoch, epoch);
    return journal;
  }

  appendJournal(turn: string, append: JournalAppend): void {
    requireJournalAppend(turn, append);
    const { epoch, at, entries } = append;
    const there = this.#journals.get(turn);
    const journal = there ?? { epoch: 0, first: 0, checkpoint: undefined, entries: [] };
    if (epoch < journal.epoch) throw otherEpoch(turn, journal.epoch, epoch);
    const next = journal.first + journal.entries.length;
    if (at !== next) {
      const last = at < journal.first ? [] : journal.entries.slice(at - journal.first);
      const done =
        last.length === entries.length && last.every((each, i) => same(each, entries[i]!));
      if (done && epoch === journal.epoch) return;
      throw otherEnd(turn, journal.epoch, next, at);
    }
    journal.epoch = epoch;
    for (const entry of entries) journal.entries.push(entry.slice());
    this.#journals.set(turn, journal);
  }

  readJournal(turn: string, from = 0): JournalPart | undefined {
    requireText(turn, 'turn');
    requireCount(from, 'from');
    const journal = this.#journals.get(turn);
    if (journal === undefined) return undefined;
    const { epoch, checkpoint } = journal;
    const first = Math.max(from, journal.first);
    const entries = journal.entries.slice(first - journal.first).map((each) => each.slice());
    return { epoch, first, entries, ...(checkpoint && { checkpoint: checkpoint.slice() }) };
  }

  compactJournal(turn: string, compaction: JournalCompaction): void {
    requireCompaction(turn, compaction);
    const { epoch, before, checkpoint } = compaction;
    const journal = this.#journalOf(turn, epoch);
    const next = journal.first + journal.entries.length;
    if (before > next) throw otherEnd(turn, epoch, next, before);
    if (before <= journal.first) return;
    journal.entries = journal.entries.slice(before - journal.first);
    journal.first = before;
    journal.checkpoint = checkpoint.slice();
  }

  deleteJournal(turn: string, epoch: number): void {
    requireText(turn, 'turn');
    requireEpochNumber(epoch);
    const journal = this.#journals.get(turn);
    if (journal === undefined) return;
    if (journal.epoch > epoch) throw otherEpoch(turn, journal.epoch, epoch);
    this.#journals.delete(turn);
  }
}

function noSession(session: string): Error {
  return storeError('E_SESSION_NOT_FOUND', JSON.stringify(session), { details: { session } });
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
