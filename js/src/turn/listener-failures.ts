/**
 * Reports errors of listeners.
 */
import { EventKind, Method } from '../abi/frames.gen.js';
import { writeErrorEvent } from '../codec/tuples.gen.js';
import { TurncoreError } from '../errors.js';
import type { TurnEvent } from '../events/events.js';
import type { OpenTurn } from './contract.js';
import { crossingMessage } from './error-table.js';

/**
 * Reports the error of a listener once, as an event. The errors of error listeners are reported to nobody.
 */
export function reportFailure(turn: OpenTurn, cause: unknown, event: TurnEvent): void {
  const text = `${event.event}: ${crossingMessage(cause)}`;
  const error = TurncoreError.of('E_LISTENER_ERROR', text, { cause });
  if (event.event === 'error' || turn.ended || !turn.core.alive) {
    console.error(error);
    return;
  }
  try {
    const context = turn.contexts.findIndex(
      (s, n) => n > 0 && s !== undefined && turn.dispatchId(n) === event.dispatchId,
    );
    turn.callNow(Math.max(context, 0), Method.Emit, {
      kind: EventKind.Error,
      payload: (e) => writeErrorEvent(e, { error: turn.errors.wireOf(error, undefined) }),
    });
  } catch {
    console.error(error);
  }
}
