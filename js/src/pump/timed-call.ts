/**
 * A call of a tool that the module may give up.
 */
import { TurncoreError } from '../errors.js';
import type { ContextState } from './context-state.js';
import { isThenable } from './results.js';
import type { Session } from './session.js';

/** What is known here of a DispatchContext: how to make one for a call. */
interface DispatchFacade {
  during(signal: AbortSignal): object;
}

/** The call, with a signal of its own, which follows that of the context. */
export class TimedCall {
  /** What the tool's handler gets as its context. */
  readonly facade: object;
  /** Nobody waits for the result any more. */
  late = false;
  readonly #session: Session;
  readonly #effect: number;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();

  constructor(session: Session, effect: number, state: ContextState) {
    this.#session = session;
    this.#effect = effect;
    this.#outer = state.signal;
    this.facade = (state.facade as DispatchFacade).during(this.#controller.signal);
  }

  /** Runs the handler. The call is over when it gives its result. */
  run(handler: () => unknown): unknown {
    if (this.#outer.aborted) this.#follow();
    else this.#outer.addEventListener('abort', this.#follow, { once: true });
    (this.#session.requests ??= new Map()).set(this.#effect, this);
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

  /** Gives the call up. Its signal fires when user code may run. */
  cancel(): void {
    this.late = true;
    const reason = this.#session.ended
      ? TurncoreError.of('E_CALL_AFTER_END', 'the turn has ended')
      : TurncoreError.of('E_CHAT_TOOL_TIMEOUT');
    queueMicrotask(() => this.#controller.abort(reason));
  }

  readonly #follow = (): void => this.#controller.abort(this.#outer.reason);

  #over(): void {
    this.#outer.removeEventListener('abort', this.#follow);
    this.#session.requests?.delete(this.#effect);
  }
}
