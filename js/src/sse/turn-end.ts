/**
 * How a turn ended, as its stream of events says at the end.
 */
import type { TurnStatus } from '../events/events.js';

/** The end of a turn's stream of events. */
export interface TurnEnd {
  readonly status: TurnStatus;
  readonly iterations: number;
  /** Why the turn was nacked, failed, was aborted or could not start; undefined if there is nothing to say. */
  readonly error: unknown;
  /** The object of the answer, if there is one. */
  readonly object: unknown;
}
