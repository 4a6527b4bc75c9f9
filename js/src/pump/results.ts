/**
 * Results: how effects are settled.
 */
import { type ErrorValue, writeResult } from '../codec/tuples.gen.js';
import type { Encoder, Write } from '../codec/encoder.js';
import type { ContextState } from './context-state.js';
import { asError } from './error-table.js';
import type { Session } from './session.js';

/**
 * Runs user code for an effect and goes on with what it gives, now or later. Whatever it throws or rejects with fails the
 * effect, also when it gives something that only pretends to be a promise: that may throw, or settle twice.
 */
export function perform(
  session: Session,
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
        failEffect(session, effect, state, error),
      );
      return;
    }
  } catch (error) {
    failEffect(session, effect, state, error);
    return;
  }
  settle(result);
}

/** Runs user code for an effect that gives nothing. */
export function performOnly(
  session: Session,
  effect: number,
  state: ContextState,
  run: () => unknown,
): void {
  perform(session, effect, state, run, () => settleEffect(session, effect, state, undefined));
}

/** Sends the value of an effect; one that cannot cross fails it. */
export function settleEffect(
  session: Session,
  effect: number,
  state: ContextState,
  value: unknown,
): void {
  let enc: Encoder | undefined;
  try {
    enc = result(
      session,
      effect,
      null,
      value === undefined ? null : (e) => e.value(value, 'result'),
    );
  } catch (error) {
    failEffect(session, effect, state, error);
    return;
  }
  send(session, effect, enc);
}

/** Sends what is written as the value of an effect, which is known to have an encoding. */
export function settleWith(session: Session, effect: number, write: Write | null): void {
  send(session, effect, result(session, effect, null, write));
}

/**
 * Fails an effect with what was thrown.
 *
 * @param details what goes with it in place of its own details
 */
export function failEffect(
  session: Session,
  effect: number,
  state: ContextState,
  thrown: unknown,
  details?: Write,
): void {
  send(session, effect, failure(session, effect, asError(thrown), state.reason, details));
}

/** The frame that settles an effect; undefined when nobody waits for it any more. */
function result(
  session: Session,
  effect: number,
  error: ErrorValue<Write | null> | null,
  value: Write | null,
): Encoder | undefined {
  if (session.ended || !session.pump.alive) return undefined;
  const enc = session.pump.frame();
  writeResult(enc, { turn: session.number, effect, elapsed: session.elapsed(), error, value });
  return enc;
}

function failure(
  session: Session,
  effect: number,
  error: unknown,
  reason: unknown,
  details?: Write,
): Encoder | undefined {
  return result(session, effect, session.errors.wireOf(error, reason, details), null);
}

/** Sends a Result. One that the module cannot take, because it is too large say, is replaced by that failure. */
function send(session: Session, effect: number, enc: Encoder | undefined): void {
  if (enc === undefined) return;
  session.watch.effects--;
  try {
    const fault = session.pump.send(session, enc);
    if (fault !== undefined) throw fault;
    session.pump.drain(session);
  } catch (error) {
    const again = failure(session, effect, error, undefined);
    if (again !== undefined) session.pump.sendAndDrain(session, again);
  }
}

/** Tells whether a value is one that comes later. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
