/**
 * An effect, and how it is settled.
 */
import { isThenable } from '../awaitable.js';
import { type EffectFrame, type ErrorValue, writeResult } from '../codec/tuples.gen.js';
import type { Encoder, Write } from '../codec/encoder.js';
import type { ContextState } from './context-state.js';
import { asError } from './error-table.js';
import type { Turn } from './turn.js';

/** An effect that the module waits for. */
export class Effect {
  readonly turn: Turn;
  readonly number: number;
  /** The context whose code it runs. */
  readonly state: ContextState;
  /** Called when the module has got the effect's result, before what comes of that is told. */
  sent: (() => void) | undefined;

  /** @throws CodecError if there is no such context */
  constructor(turn: Turn, { effect, context }: EffectFrame) {
    this.turn = turn;
    this.number = effect;
    this.state = context === 0 ? turn.root : turn.context(context);
  }

  /**
   * The context for a storage callback that writes: the turn's, or the standalone dispatch's.
   *
   * @param part names it among several for this effect
   */
  writing(part = ''): object {
    const { turn, number } = this;
    const state = turn.contexts[0] ?? this.state;
    return turn.makeFacade(state, () => `${turn.run}.e${number}${part}`);
  }

  /**
   * Runs user code and goes on with its result, now or later. An error or a rejection fails the effect. A thenable that
   * is no promise may throw or settle twice: only the first outcome counts.
   *
   * @param settle takes the result. By default the effect has no value
   */
  perform(run: () => unknown, settle: (value: unknown) => void = () => this.settle()): void {
    let result: unknown;
    try {
      result = run();
      if (isThenable(result)) {
        Promise.resolve(result).then(settle, (error: unknown) => this.fail(error));
        return;
      }
    } catch (error) {
      this.fail(error);
      return;
    }
    settle(result);
  }

  /** Sends the effect's value. A value that cannot cross fails the effect. @param name of the value, for the error */
  settle(value?: unknown, name = 'result'): void {
    let enc: Encoder | undefined;
    try {
      enc = this.#result(null, value === undefined ? null : (e) => e.value(value, name));
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#send(enc);
  }

  /** Sends the effect's value, which is known to have an encoding. */
  settleWith(write: Write | null): void {
    this.#send(this.#result(null, write));
  }

  /**
   * Fails the effect with a thrown value.
   *
   * @param details replace the error's own
   */
  fail(thrown: unknown, details?: Write): void {
    this.#send(this.#failure(asError(thrown), this.state.reason, details));
  }

  /** The frame that settles the effect; undefined if nobody waits for it any more. */
  #result(error: ErrorValue<Write | null> | null, value: Write | null): Encoder | undefined {
    const { turn, number } = this;
    if (turn.ended || !turn.core.alive) return undefined;
    const enc = turn.core.frame();
    writeResult(enc, { turn: turn.number, effect: number, elapsed: turn.elapsed(), error, value });
    return enc;
  }

  #failure(error: unknown, reason: unknown, details?: Write): Encoder | undefined {
    return this.#result(this.turn.errors.wireOf(error, reason, details), null);
  }

  /** Sends a Result. If the module cannot take it, because of its size for example, sends that failure instead. */
  #send(enc: Encoder | undefined): void {
    if (enc === undefined) return;
    const { turn } = this;
    turn.watch.effects--;
    try {
      const fault = turn.core.send(turn, enc);
      this.sent?.();
      if (fault !== undefined) throw fault;
      turn.core.drain(turn);
    } catch (error) {
      const again = this.#failure(error, undefined);
      if (again !== undefined) turn.core.sendAndDrain(turn, again);
    }
  }
}
