/**
 * Stores: where conversations live between turns.
 */
import type { History } from '../collections/history.js';
import type { Awaitable } from '../awaitable.js';
import type { Memory } from '../primitives/memory.js';
import type { Message } from '../primitives/message.js';
import type { MediaReader, SpoolReader } from '../primitives/readers.js';
import type { Retrievable } from '../primitives/retrievable.js';
import type { Thought } from '../primitives/thought.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCall } from '../primitives/tool-call.js';
import type { Delta } from '../pump/deltas.js';

/**
 * What a session has stored, each kind in the order of storing. A kind given as a {@link History} enters a turn in the
 * same small time however long it is.
 */
export interface Conversation {
  readonly messages: readonly Message[] | History<Message>;
  readonly thoughts: readonly Thought[] | History<Thought>;
  readonly toolCalls: readonly ToolCall[] | History<ToolCall>;
  readonly memories: readonly Memory[] | History<Memory>;
  readonly retrievables: readonly Retrievable[] | History<Retrievable>;
  readonly instructions: readonly Tokenizable[];
}

/** Where conversations live between turns. Sessions are told apart by an id. */
export interface Store {
  /** What a session has stored; empty for one that nothing is known of. */
  load(session: string): Awaitable<Conversation>;
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
