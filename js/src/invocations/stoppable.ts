/**
 * Host code that can be told that nobody wants its result.
 */
import type { ContextState } from '../turn/context-state.js';
import type { Effect } from '../turn/effect.js';
import { stopped } from './channel.js';

/** What performs an effect of an invocation: code of a step, or of the invocation as a whole. */
export class Stoppable {
  readonly #state: ContextState;
  readonly #signals: WeakSet<AbortSignal>;
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  /** @param signals takes the signals that are made */
  constructor(effect: Effect, signals: WeakSet<AbortSignal>) {
    const { turn, number, state } = effect;
    this.#state = state;
    this.#signals = signals;
    (turn.requests ??= new Map()).set(number, this);
    effect.sent = () => void turn.requests?.delete(number);
  }

  /** Fires when the invocation is aborted, and when nobody wants the result. */
  get signal(): AbortSignal {
    const outer = this.#state.signal;
    if (this.#state.number !== 0) return outer; // a step is of nothing else
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#signals.add(controller.signal);
      const follow = (): void => controller.abort(outer.reason);
      if (this.#reason !== undefined) controller.abort(this.#reason);
      else if (outer.aborted) follow();
      else outer.addEventListener('abort', follow, { once: true });
    }
    return this.#controller.signal;
  }

  /** Nobody wants the result. The signal fires as soon as user code may run. */
  cancel(): void {
    const reason = stopped();
    if (this.#state.number !== 0) {
      this.#state.expire(reason);
      return;
    }
    this.#reason = reason;
    queueMicrotask(() => this.#controller?.abort(reason));
  }
}
