/**
 * Stores: they keep conversations between turns.
 */
import type { Awaitable } from '../awaitable.js';
import type { Memory } from '../primitives/memory.js';
import type { Message } from '../primitives/message.js';
import type { MediaReader, SpoolReader } from '../primitives/readers.js';
import type { Retrievable } from '../primitives/retrievable.js';
import type { Thought } from '../primitives/thought.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCall } from '../primitives/tool-call.js';
import type { Delta } from '../collections/deltas.js';

/** The records of a session, or those added after a revision: each kind in the order of storing. */
export interface Conversation {
  /**
   * Identifies this state of the session. A write changes it, and no two states share a revision, even if the session
   * was deleted and started again. Absent, or empty, if the store has no revisions.
   */
  readonly revision?: string | undefined;
  /**
   * The `after` argument of `load`, if the records are those added after that revision and no earlier record was
   * changed, deleted or moved since. Absent, or empty, if these are all records.
   */
  readonly after?: string | undefined;
  readonly messages: readonly Message[];
  readonly thoughts: readonly Thought[];
  readonly toolCalls: readonly ToolCall[];
  readonly memories: readonly Memory[];
  readonly retrievables: readonly Retrievable[];
  /** Always all. */
  readonly instructions: readonly Tokenizable[];
}

/** Keeps conversations between turns. An id identifies a session. */
export interface Store {
  /**
   * The records of a session; empty for an unknown session. `after` is empty or the revision from an earlier call. If
   * records have only been added since then, a store with revisions returns only the later ones and sets `after`. A
   * store may ignore `after` and return everything.
   */
  load(session: string, after?: string): Awaitable<Conversation>;
  /** Applies writes in order: all of them, or none and an error. */
  commit(session: string, deltas: readonly Delta[]): Awaitable<void>;
  /**
   * The latest time at which a message, thought or tool call of the session was created, in ms since the Unix epoch;
   * undefined if it has none. With this method, a runner of `createRunner` gives a user's message a later time than
   * all the session's records, whatever the clock says, because conversations are ordered by time. Without it the
   * message gets the clock's time. If it fails, the turn does not start, and `run` fails with the same error.
   */
  newest?(session: string): Awaitable<number | undefined>;
  /** Keeps bytes under an id and returns a reader of them. */
  writeBytes(session: string, id: string, bytes: string | Uint8Array): Awaitable<BytesReader>;
}

/** Reads bytes of a store, as a text by lines or as bytes. */
export interface BytesReader extends SpoolReader, MediaReader {
  byteLength(): Awaitable<number>;
}
