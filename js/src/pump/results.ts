/**
 * Results: how effects are settled.
 */
import { Op } from '../abi/frames.gen.js';
import type { Encoder } from '../codec/encoder.js';
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
  const enc = beginResult(session, effect);
  if (enc === undefined) return;
  enc.nil();
  if (value === undefined) enc.nil();
  else {
    try {
      enc.value(value, 'result');
    } catch (error) {
      failEffect(session, effect, state, error);
      return;
    }
  }
  sendResult(session, effect, enc);
}

/** Fails an effect with what was thrown. */
export function failEffect(
  session: Session,
  effect: number,
  state: ContextState,
  thrown: unknown,
): void {
  const enc = beginResult(session, effect);
  if (enc === undefined) return;
  session.errors.encode(enc, asError(thrown), state.reason);
  enc.nil();
  sendResult(session, effect, enc);
}

/** Begins a Result, whose error and value are written next; undefined when nobody waits for it any more. */
export function beginResult(session: Session, effect: number): Encoder | undefined {
  if (session.ended || !session.pump.alive) return undefined;
  const enc = session.pump.frame();
  enc.arrayHeader(6);
  enc.int(Op.Result);
  enc.int(session.number);
  enc.int(effect);
  enc.int(session.elapsed());
  return enc;
}

/** Sends a Result. One that the module cannot take, because it is too large say, is replaced by that failure. */
export function sendResult(session: Session, effect: number, enc: Encoder): void {
  session.watch.effects--;
  try {
    const fault = session.pump.send(session, enc);
    if (fault !== undefined) throw fault;
    session.pump.drain(session);
  } catch (error) {
    const again = beginResult(session, effect);
    if (again === undefined) return;
    session.errors.encode(again, error, undefined);
    again.nil();
    session.pump.sendAndDrain(session, again);
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
