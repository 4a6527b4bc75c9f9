/**
 * Stores that keep events, state and artifacts.
 */
import type { Awaitable } from '../awaitable.js';
import type { BytesReader, Commit, Store } from './store.js';

/**
 * A {@link Store} that keeps the events of invocations, the state that they change, and the versions of artifacts that
 * they name. Each is stored with its event in one transaction.
 *
 * Scopes: state and artifacts belong to a scope. The empty scope is the session's own: it is forked and deleted with
 * the session. Any other scope, such as that of a user or of an application, is shared by all sessions of the store
 * under its name, and stays when they are deleted.
 */
export interface Appender extends Store {
  /**
   * Stores all of an append, or nothing. It costs the same however many events the session has.
   *
   * @returns the session's revision after it
   */
  append(session: string, append: Append): Awaitable<string>;
  /**
   * Makes a session that begins with the first events of another one, in one transaction. It has the state and the
   * artifacts that `at` says, and neither records nor bytes nor a title.
   *
   * @throws TurncoreError E_SESSION_NOT_FOUND if the other one is not there or has no event of the revision;
   *   E_SESSION_EXISTS if the new one is there
   */
  forkAt(from: string, to: string, at: ForkPoint): Awaitable<void>;
  /** Events of a session in the order in which they were appended. An unknown session has none. */
  events(session: string, query?: EventQuery): Awaitable<SessionEvent[]>;
  /** The values of a scope, by name in the order of its UTF-8 bytes. `session` says whose the empty scope is. */
  state(session: string, scope: string): Awaitable<StateValue[]>;
  /**
   * All versions of all artifacts of a scope, by name in the order of its UTF-8 bytes and version. `session` says whose
   * the empty scope is.
   */
  artifacts(session: string, scope: string): Awaitable<Artifact[]>;
  /**
   * A reader of the bytes of a version of an artifact. `session` says whose the empty scope is.
   *
   * @throws TurncoreError E_BYTES_NOT_FOUND if there is no such version
   */
  openArtifact(
    session: string,
    scope: string,
    name: string,
    version: number,
  ): Awaitable<BytesReader>;
}

/** The revision of a session that is not there, in every store. */
export const NO_REVISION = '0';

/**
 * What one transaction of an {@link Appender} stores.
 *
 * `key`, `turn`, `ended` and `epoch` are as in {@link Commit}: an append and a commit of one turn never have the same
 * key.
 *
 * If `revision` is given, the append fails with E_SESSION_CONFLICT, and nothing is stored, when another turn has
 * appended to the session after `revision`, or when the session that had `revision` has been deleted. Commits of
 * records, and what `turn` itself has appended, are no conflict. It fails with E_SESSION_CONFLICT also if the session
 * has an event of the same id, or if an artifact's version is not the next one.
 */
export interface Append extends Pick<Commit, 'key' | 'turn' | 'ended' | 'revision' | 'epoch'> {
  /** Is stored behind the session's other events. Absent for none, as for the initial state of a session. */
  readonly event?: Pick<SessionEvent, 'id' | 'body'> | undefined;
  /** Changes of values, applied in order. */
  readonly state?: readonly StateChange[] | undefined;
  /** Versions that are added. Their bytes have been put into the session before. */
  readonly artifacts?: readonly AddedArtifact[] | undefined;
}

/** What a fork begins with that takes some of a session's events. */
export interface ForkPoint {
  /** That of the last event which the fork has. */
  readonly revision: string;
  /** The values of the fork's own scope. Their `scope` is not read. */
  readonly state?: readonly StateValue[] | undefined;
  /** How many versions of each artifact of the session's own scope the fork has, by name: the first ones. */
  readonly artifacts?: Readonly<Record<string, number>> | undefined;
}

/** An event of an invocation, as a store keeps it. */
export interface SessionEvent {
  readonly id: string;
  /** The event in a form that the store does not look into. */
  readonly body: Uint8Array;
  /** The revision that came of appending it. */
  readonly revision: string;
}

/** Which events are asked for. */
export interface EventQuery {
  /**
   * A revision: only events that were appended after it. Absent, or empty, for all. One that the session does not know
   * is earlier than all.
   */
  readonly after?: string | undefined;
  /** How many events are returned at most. Absent, or 0, for all. */
  readonly limit?: number | undefined;
  /** Returns the last `limit` events instead of the first. */
  readonly newest?: boolean | undefined;
}

/** A value of a scope. */
export interface StateValue {
  readonly scope: string;
  readonly name: string;
  /** In a form that the store does not look into. */
  readonly value: Uint8Array;
}

/** A change of a value of a scope. */
export interface StateChange extends Omit<StateValue, 'value'> {
  /** null deletes; no bytes are a value. */
  readonly value: Uint8Array | null;
}

/** A version of an artifact. */
export interface Artifact {
  readonly scope: string;
  readonly name: string;
  /** The number of versions that were there before: the first is 0. */
  readonly version: number;
  /** How many bytes it has. */
  readonly size: number;
  /** What the writer says of the version, in a form that the store does not look into. */
  readonly body: Uint8Array;
}

/** A version of an artifact that is added. */
export interface AddedArtifact extends Omit<Artifact, 'size'> {
  /** The id of its bytes in the session that appends. The version keeps them, whatever becomes of the id. */
  readonly bytes: string;
}
