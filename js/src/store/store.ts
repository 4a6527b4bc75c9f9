/**
 * Stores: where conversations live between turns.
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

/** What a session has stored, or what was added to it after a revision: each kind in the order of storing. */
export interface Conversation {
  /**
   * Names the state of the session that this is. A write changes it, and no state has the revision of another, also after
   * the session was deleted and begun again. Left out, or empty, if the store has no revisions.
   */
  readonly revision?: string | undefined;
  /**
   * The revision that `load` was asked for, if the records are those that were added after it and none from before it has
   * been changed, deleted or moved since. Left out, or empty, if the records are all that there are.
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

/** Where conversations live between turns. Sessions are told apart by an id. */
export interface Store {
  /**
   * What a session has stored; empty for one that nothing is known of. `after` is empty or the revision of what an earlier
   * call gave. If a session has only been added to since then, a store that has revisions gives just what came later, and
   * sets `after`. A store may ignore it and give everything.
   */
  load(session: string, after?: string): Awaitable<Conversation>;
  /** Writes changes in order: all of them, or none and an error. */
  commit(session: string, deltas: readonly Delta[]): Awaitable<void>;
  /**
   * The latest time at which a message, thought or tool call of the session was created, in ms since the Unix epoch;
   * undefined if it has none. With it, a runner of `createRunner` gives a user's message a time after all of the
   * session's earlier records, whatever the clock says: a conversation is ordered by time. Without it the message gets
   * the time of the clock.
   */
  newest?(session: string): number | undefined;
  /** Keeps bytes under an id and returns a reader of them. */
  writeBytes(session: string, id: string, bytes: string | Uint8Array): Awaitable<BytesReader>;
}

/** Reads bytes that a store keeps, as a text by lines or as they are. */
export interface BytesReader extends SpoolReader, MediaReader {
  byteLength(): Awaitable<number>;
}
