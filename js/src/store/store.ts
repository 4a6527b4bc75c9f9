/**
 * Stores: they keep conversations between turns.
 */
import type { Awaitable } from '../awaitable.js';
import type { ConduitBytes, MediaReader, SpoolReader } from '../primitives/readers.js';
import type { Delta } from '../collections/deltas.js';
import type { Conversation } from '../sessions/conversation.js';

/**
 * What one transaction of a store writes.
 *
 * Epoch: it is checked first. If `epoch` is given, the commit fails with E_TURN_FENCED, and nothing is stored, when the
 * journal of `turn` has another epoch or is not there. A store that is no `Journal` does not read it.
 *
 * Keys: a store that has a commit under `key` stores nothing and returns the revision that the first one returned. It
 * forgets the keys of the turns in `ended` before it looks for `key`.
 *
 * Revisions: writes that only add records go in behind the newest, whatever the revision. If `revision` is given, the
 * commit fails with E_SESSION_CONFLICT, and nothing is stored, when it stores over, mutates, deletes or replaces a
 * record that was added or changed after `revision` by another writer; or one that is not there, when the session's
 * last change or deletion is later than `revision` and another writer's. A revision is the writer's own if a commit or
 * an append of `turn` returned it: the store knows that by the keys that it remembers. A revision that the session does
 * not know, as that of a session that was deleted since, is earlier than all.
 *
 * Writes: a store or a mutate of a record puts it in the place of the one with its id, or behind the others. A delete
 * of what is not there does nothing. A replaced group goes where the first of the calls that it replaces was, or behind
 * the others. Instructions are a set of texts: storing one that is there changes nothing, and a text that a mutate
 * makes equal to another takes the changed one's place.
 */
export interface Commit {
  /** In order. */
  readonly deltas: readonly Delta[];
  /** Names the commit in the session. */
  readonly key?: string | undefined;
  /**
   * The turn that writes: `key` is remembered until a commit has the turn in `ended`. It names one run of a turn, and
   * is not the turn's id.
   */
  readonly turn?: string | undefined;
  /** Turns that write no more. */
  readonly ended?: readonly string[] | undefined;
  /** The revision that the writer has seen. Absent, or empty: nothing is checked. */
  readonly revision?: string | undefined;
  /** The epoch of the journal of `turn`. Absent, or 0: nothing is checked. */
  readonly epoch?: number | undefined;
}

/** Keeps conversations between turns. An id identifies a session. */
export interface Store {
  /**
   * The records of a session; empty for an unknown session. `after` is empty or the revision from an earlier call. If
   * records have only been added since then, a store with revisions returns only the later ones and sets `after`. A
   * store may ignore `after` and return everything.
   */
  load(session: string, after?: string): Awaitable<Conversation>;
  /**
   * Applies the writes of a commit in order: all of them, or none and an error.
   *
   * @returns the session's revision after it; empty from a store without revisions
   */
  commit(session: string, commit: Commit): Awaitable<string>;
  /** Keeps bytes under an id of the session, in place of those that were there. Text is kept as UTF-8. */
  putBytes(session: string, id: string, content: ConduitBytes): Awaitable<void>;
  /** A reader of the bytes of an id. @throws TurncoreError E_BYTES_NOT_FOUND if there are none */
  openBytes(session: string, id: string): Awaitable<BytesReader>;
  /**
   * The latest time at which a message, thought or tool call of the session was created, in ms since the Unix epoch;
   * undefined if it has none. With this method, a runner of `createRunner` gives a user's message a later time than
   * all the session's records, whatever the clock says, because conversations are ordered by time. Without it the
   * message gets the clock's time. If it fails, the turn does not start, and `run` fails with the same error.
   */
  newest?(session: string): Awaitable<number | undefined>;
}

/** A {@link Store} that can list its sessions and treat one as a whole. A session is there from its first write on. */
export interface Sessions extends Store {
  newest(session: string): Awaitable<number | undefined>;
  /**
   * A page of the sessions, those updated last first. A page costs the same however many sessions there are. A session
   * that is updated between two calls may be on neither page.
   */
  list(page?: PageOptions): Awaitable<SessionPage>;
  /** What the list says of a session; undefined if it is not there. */
  find(session: string): Awaitable<SessionInfo | undefined>;
  /**
   * Makes a session that begins with all that another one has, its bytes and its title too, but without keys.
   *
   * @throws TurncoreError E_SESSION_NOT_FOUND if that is not there; E_SESSION_EXISTS if the new one is
   */
  fork(from: string, to: string): Awaitable<void>;
  /** Deletes a session with its records, keys and bytes. One that is not there is no error. */
  delete(session: string): Awaitable<void>;
  /**
   * Gives a session a title; empty for none. It changes neither the revision nor the time of the last update.
   *
   * @throws TurncoreError E_SESSION_NOT_FOUND
   */
  setTitle(session: string, title: string): Awaitable<void>;
}

/** Which page of a list. */
export interface PageOptions {
  /** What the page before gave as `next`; absent, or empty, for the first page. */
  readonly cursor?: string | undefined;
  /**
   * Lists only the sessions whose ids begin with it. A page does not cost more where a database has more other
   * sessions. Default: all.
   */
  readonly prefix?: string | undefined;
  /** The most sessions of a page. Default: 100. */
  readonly limit?: number | undefined;
}

/** A page of a list of sessions. */
export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  /** The cursor of the next page; empty behind the last. */
  readonly next: string;
}

/** Tells of a session. */
export interface SessionInfo {
  readonly id: string;
  /** Empty for none. */
  readonly title: string;
  /** As in {@link Conversation}. */
  readonly revision: string;
  /** The store's own clock at the first and at the last write. The latter does not go back. */
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** How many messages it has. */
  readonly messages: number;
}

/** Reads bytes of a store, as a text by lines or as bytes. */
export interface BytesReader extends SpoolReader, MediaReader {
  byteLength(): Awaitable<number>;
  /** The id of the bytes in their store. With it a record that has the reader can be written down. */
  readonly bytesId?: string | undefined;
}
