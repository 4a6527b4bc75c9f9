/**
 * What a store has of a session.
 */
import type { Memory } from '../primitives/memory.js';
import type { Message } from '../primitives/message.js';
import type { Retrievable } from '../primitives/retrievable.js';
import type { Thought } from '../primitives/thought.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCall } from '../primitives/tool-call.js';

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
