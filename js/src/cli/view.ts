/**
 * What shows a turn.
 */
import type { TurnEvent } from '../events/events.js';
import type { Conversation } from '../store/store.js';
import type { TurnResult } from '../runners/turn-stream.js';

/** Is told of a turn's events, and how it ended. */
export interface TurnView {
  event(event: TurnEvent): void;
  /** @param records what the turn's conversation holds at its end */
  end(result: TurnResult, records: Conversation): void;
}
