/**
 * A tool call that the module may give up.
 */
import { isThenable } from '../awaitable.js';
import { TurncoreError } from '../errors.js';
import type { Effect } from './effect.js';

/** The call. Its own signal follows the context's. */
export class TimedCall {
  /** The handler's context. */
  readonly facade: object;
  /** Nobody waits for the result any more. */
  late = false;
  readonly #effect: Effect;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();

  /** @param key makes the call's */
  constructor(effect: Effect, key: () => string) {
    this.#effect = effect;
    this.#outer = effect.state.signal;
    const { turn, state } = effect;
    this.facade = turn.makeFacade(state, key, this.#controller.signal);
  }

  /** Runs the handler. Its result ends the call. */
  run(handler: () => unknown): unknown {
    if (this.#outer.aborted) this.#follow();
    else this.#outer.addEventListener('abort', this.#follow, { once: true });
    const { turn, number } = this.#effect;
    (turn.requests ??= new Map()).set(number, this);
    let result: unknown;
    try {
      result = handler();
    } catch (error) {
      this.#over();
      throw error;
    }
    if (isThenable(result)) return Promise.resolve(result).finally(() => this.#over());
    this.#over();
    return result;
  }

  /** Gives the call up. Its signal fires as soon as user code may run. */
  cancel(): void {
    this.late = true;
    const reason = this.#effect.turn.ended
      ? TurncoreError.of('E_CALL_AFTER_END', 'the turn has ended')
      : TurncoreError.of('E_CHAT_TOOL_TIMEOUT');
    queueMicrotask(() => this.#controller.abort(reason));
  }

  readonly #follow = (): void => this.#controller.abort(this.#outer.reason);

  #over(): void {
    this.#outer.removeEventListener('abort', this.#follow);
    const { turn, number } = this.#effect;
    turn.requests?.delete(number);
  }
}
