/**
 * Bounds the time for which a worker's thread does not answer.
 */
import { invalidValue } from '../errors.js';

/** The cause of the E_WORKER_ENDED of a worker that was ended because its thread did not answer in time. */
export class WorkerTimeoutError extends Error {
  override name = 'WorkerTimeoutError';
  /** The limit, as in {@link WorkerRunnerOptions}. */
  readonly limit = 'stepTimeout';
  /** Milliseconds. */
  readonly timeout: number;

  constructor(timeout: number) {
    super(`its thread did not answer for ${timeout} ms, the limit stepTimeout of its runner`);
    this.timeout = timeout;
  }
}

/** The longest time of a timer. */
const MAX = 2 ** 31 - 1;

/** @throws TurncoreError E_INVALID_VALUE unless a value is a time in milliseconds, or undefined */
export function requireTimeout(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value > 0 && value <= MAX) return value;
  throw invalidValue('stepTimeout', `must be a number above 0 and up to ${MAX}`);
}

/** A thread has so much of the time between two questions as is left of the limit. */
const PAUSE = 4;

/** Asks a thread again and again whether it answers, while somebody waits for it. */
export class Watch {
  readonly #timeout: number;
  readonly #ask: () => void;
  readonly #over: (cause: WorkerTimeoutError) => void;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param ask sends the question, whose answer is `heard`
   * @param over is called once, when there was no answer in time
   */
  constructor(timeout: number, ask: () => void, over: (cause: WorkerTimeoutError) => void) {
    this.#timeout = timeout;
    this.#ask = ask;
    this.#over = over;
  }

  /** Somebody waits for the thread. */
  begin(): void {
    if (this.#waiting++ === 0) this.#question();
  }

  /** One of those who waited does not any more. */
  end(): void {
    if (--this.#waiting === 0) this.stop();
  }

  /** The thread has answered. */
  heard(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#question(), this.#timeout / PAUSE);
  }

  /** Nobody waits any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #question(): void {
    this.#timer = setTimeout(() => {
      // Where this thread was busy itself, the answer may lie there already: it comes first.
      this.#timer = setTimeout(() => {
        this.stop();
        this.#over(new WorkerTimeoutError(this.#timeout));
      }, 1);
    }, this.#timeout);
    this.#ask();
  }
}
