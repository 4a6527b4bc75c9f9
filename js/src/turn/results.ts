/**
 * Settles effects.
 */
import { isThenable } from '../awaitable.js';
import { type ErrorValue, writeResult } from '../codec/tuples.gen.js';
import type { Encoder, Write } from '../codec/encoder.js';
import type { ContextState } from './context-state.js';
import { asError } from './error-table.js';
import type { Turn } from './turn.js';

/**
 * Runs user code for an effect and goes on with its result, now or later. An error or a rejection fails the effect. A
 * thenable that is no promise may throw or settle twice: only the first outcome counts.
 */
export function perform(
  turn: Turn,
  effect: number,
  state: ContextState,
  run: () => unknown,
  settle: (value: unknown) => void,
): void {
  let result: unknown;
  try {
    result = run();
    if (isThenable(result)) {
      Promise.resolve(result).then(settle, (error: unknown) =>
        failEffect(turn, effect, state, error),
      );
      return;
    }
  } catch (error) {
    failEffect(turn, effect, state, error);
    return;
  }
  settle(result);
}

/** Runs user code for an effect without a value. */
export function performOnly(
  turn: Turn,
  effect: number,
  state: ContextState,
  run: () => unknown,
): void {
  perform(turn, effect, state, run, () => settleEffect(turn, effect, state, undefined));
}

/** Sends the value of an effect. A value that cannot cross fails the effect. */
export function settleEffect(
  turn: Turn,
  effect: number,
  state: ContextState,
  value: unknown,
): void {
  let enc: Encoder | undefined;
  try {
    enc = result(turn, effect, null, value === undefined ? null : (e) => e.value(value, 'result'));
  } catch (error) {
    failEffect(turn, effect, state, error);
    return;
  }
  send(turn, effect, enc);
}

/** Sends an effect's value that is known to have an encoding. */
export function settleWith(turn: Turn, effect: number, write: Write | null): void {
  send(turn, effect, result(turn, effect, null, write));
}

/**
 * Fails an effect with a thrown value.
 *
 * @param details replace the error's own
 */
export function failEffect(
  turn: Turn,
  effect: number,
  state: ContextState,
  thrown: unknown,
  details?: Write,
): void {
  send(turn, effect, failure(turn, effect, asError(thrown), state.reason, details));
}

/** The frame that settles an effect; undefined if nobody waits for it any more. */
function result(
  turn: Turn,
  effect: number,
  error: ErrorValue<Write | null> | null,
  value: Write | null,
): Encoder | undefined {
  if (turn.ended || !turn.core.alive) return undefined;
  const enc = turn.core.frame();
  writeResult(enc, { turn: turn.number, effect, elapsed: turn.elapsed(), error, value });
  return enc;
}

function failure(
  turn: Turn,
  effect: number,
  error: unknown,
  reason: unknown,
  details?: Write,
): Encoder | undefined {
  return result(turn, effect, turn.errors.wireOf(error, reason, details), null);
}

/** Sends a Result. If the module cannot take it, because of its size for example, sends that failure instead. */
function send(turn: Turn, effect: number, enc: Encoder | undefined): void {
  if (enc === undefined) return;
  turn.watch.effects--;
  try {
    const fault = turn.core.send(turn, enc);
    if (fault !== undefined) throw fault;
    turn.core.drain(turn);
  } catch (error) {
    const again = failure(turn, effect, error, undefined);
    if (again !== undefined) turn.core.sendAndDrain(turn, again);
  }
}
