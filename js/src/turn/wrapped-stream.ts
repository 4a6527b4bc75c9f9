/**
 * Calls of models inside wrappers.
 */
import { invalidValue } from '../errors.js';
import type { HttpListener } from '../http/exchange.js';
import { type ModelChunk, type ModelInvocation, type ModelWrapper, wrappedModel } from './wrap.js';

/** What answers a call: a request, or an engine. */
export interface Answering {
  run(): Promise<void>;
  cancel(): void;
}

/** A call inside wrappers, in the place of what answers it. */
export class WrappedStream implements Answering {
  readonly #wrappers: readonly ModelWrapper[];
  readonly #prepare: (signal: AbortSignal) => Promise<ModelInvocation>;
  readonly #answer: (call: ModelInvocation, listener: HttpListener) => Answering;
  readonly #listener: HttpListener;
  readonly #explain: (error: unknown) => unknown;
  readonly #hasHead: boolean;
  readonly #abort = new AbortController();

  /**
   * @param prepare makes the call as the first wrapper sees it
   * @param answer makes what answers a call
   * @param listener gets the answer
   * @param explain makes an error of `prepare` one that the module knows
   * @param hasHead whether answers begin with a status
   */
  constructor(
    wrappers: readonly ModelWrapper[],
    prepare: (signal: AbortSignal) => Promise<ModelInvocation>,
    answer: (call: ModelInvocation, listener: HttpListener) => Answering,
    listener: HttpListener,
    explain: (error: unknown) => unknown,
    hasHead: boolean,
  ) {
    this.#wrappers = wrappers;
    this.#prepare = prepare;
    this.#answer = answer;
    this.#listener = listener;
    this.#explain = explain;
    this.#hasHead = hasHead;
  }

  cancel(): void {
    this.#abort.abort();
  }

  /** Runs the wrappers, and does not wait for them once the answer is no longer wanted. */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    let call: ModelInvocation;
    try {
      call = await this.#prepare(signal);
    } catch (error) {
      this.#listener.failed(signal.aborted ? signal.reason : this.#explain(error));
      return;
    }
    const chunks = wrappedModel(this.#wrappers, call, (inner) => this.#pull(inner));
    const aborted = new Promise<never>((_, reject) => {
      const give = (): void => reject(signal.reason as Error);
      if (signal.aborted) give();
      else signal.addEventListener('abort', give, { once: true });
    });
    aborted.catch(() => undefined);
    try {
      for (let first = true; ; first = false) {
        const step = await Promise.race([chunks.next(), aborted]);
        if (step.done === true) break;
        this.#pass(step.value, first);
      }
    } catch (error) {
      this.#listener.failed(signal.aborted ? signal.reason : error);
      chunks.return().catch(() => undefined);
      return;
    }
    this.#listener.done();
  }

  #pass({ status, headers, data }: ModelChunk, first: boolean): void {
    if (this.#hasHead && first) {
      if (status === undefined || !(status >= 100 && status <= 999)) {
        throw invalidValue('status', 'the first chunk needs one from 100 to 999');
      }
      this.#listener.head(status, Object.entries(headers ?? {}).sort(byName));
    } else if (status !== undefined) {
      throw invalidValue('status', 'only the first chunk of an answer has one');
    }
    if (data !== undefined) this.#listener.data(data);
  }

  /** The answer to a call, as it is asked for. */
  async *#pull(call: ModelInvocation): AsyncGenerator<ModelChunk, void, undefined> {
    const { signal } = this.#abort;
    const waiting: ModelChunk[] = [];
    let over = false;
    let failure: { error: unknown } | undefined;
    let wake = (): void => undefined;
    const listener: HttpListener = {
      head: (status, list) => {
        waiting.push({ status, headers: Object.fromEntries(list) });
        wake();
      },
      data: (data) => {
        waiting.push({ data: data.slice() });
        wake();
      },
      done: () => {
        over = true;
        wake();
      },
      failed: (error) => {
        failure = { error };
        wake();
      },
    };
    const answering = this.#answer(call, listener);
    const cancel = (): void => answering.cancel();
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    void answering.run();
    try {
      for (;;) {
        const chunk = waiting.shift();
        if (chunk !== undefined) yield chunk;
        else if (failure !== undefined) throw failure.error;
        else if (over) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', cancel);
      if (!over && failure === undefined) cancel(); // the wrapper wants no more of it
    }
  }
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
