/**
 * Views of turns.
 */
import type { TurnEvent } from '../events/events.js';
import type { Conversation } from '../sessions/conversation.js';
import type { TurnResult } from '../runners/turn-stream.js';

/** Shows a turn: gets its events and its end. */
export interface TurnView {
  event(event: TurnEvent): void;
  /** @param records the conversation at the turn's end */
  end(result: TurnResult, records: Conversation): void;
}
