/**
 * Answers of engines. The module makes the request and reads the parts; an engine only generates.
 */
import type { ModelArgs } from '../codec/tuples.gen.js';
import { isTurncoreError, messageOf, TurncoreError } from '../errors.js';
import type { ModelEngine, ModelRequest } from '../chat/model-engine.js';
import { lineOf } from '../chat/model-parts.js';
import { insertMedia, type MediaSplice, mediaSplices, type RecordOf } from '../http/splice.js';

/** Follows an answer. */
export interface ModelListener {
  data(bytes: Uint8Array): void;
  done(): void;
  failed(error: unknown): void;
}

/** Bytes of lines that cross at once. */
const CHUNK = 64 << 10;

/** One answer. */
export class ModelEffect {
  readonly #engine: ModelEngine | undefined;
  readonly #listener: ModelListener;
  readonly #abort = new AbortController();
  readonly #name: string;
  readonly #body: Uint8Array;
  readonly #splices: readonly MediaSplice[];
  /** Rejects what {@link run} waits for. */
  #giveUp: ((reason: unknown) => void) | undefined;

  /**
   * @param engineOf finds an engine by its name
   * @param recordOf finds the records whose media belong in the request
   * @throws CodecError for splices that make no sense
   */
  constructor(
    engineOf: (name: string) => ModelEngine | undefined,
    args: ModelArgs,
    listener: ModelListener,
    recordOf: RecordOf = () => undefined,
  ) {
    this.#name = args.model;
    this.#body = args.body ?? new Uint8Array();
    this.#splices = mediaSplices(args.splices, this.#body.length, recordOf);
    this.#engine = engineOf(this.#name);
    this.#listener = listener;
  }

  /** Stops the engine without waiting for it. */
  cancel(): void {
    this.#abort.abort();
    this.#giveUp?.(this.#abort.signal.reason);
  }

  /** Generates the answer for the listener. Never rejects. */
  async run(): Promise<void> {
    let parts: AsyncIterator<unknown> | undefined;
    try {
      parts = await this.#begin();
      for (;;) {
        const step = await this.#await(parts.next());
        if (step.done === true) break;
        this.#send(lineOf(step.value));
      }
    } catch (error) {
      this.#listener.failed(this.#explain(error));
      void leave(parts);
      return;
    }
    this.#listener.done();
  }

  async #begin(): Promise<AsyncIterator<unknown>> {
    const engine = this.#engine;
    if (engine === undefined) throw TurncoreError.of('E_MODEL_UNKNOWN', `"${this.#name}"`);
    const { signal } = this.#abort;
    const body =
      this.#splices.length > 0
        ? await this.#await(insertMedia(this.#body, this.#splices, signal))
        : this.#body;
    const request = JSON.parse(new TextDecoder().decode(body)) as Omit<ModelRequest, 'signal'>;
    const answer: unknown = await this.#await(engine.generate({ ...request, signal }));
    const begin = (answer as Partial<AsyncIterable<unknown>> | null | undefined)?.[
      Symbol.asyncIterator
    ];
    if (typeof begin !== 'function') throw new TypeError('generate must give an async iterable');
    return begin.call(answer);
  }

  /** Settles like a promise, but rejects at once when the answer is given up. */
  #await<T>(promise: T | PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#abort.signal.aborted) reject(asReason(this.#abort.signal.reason));
      this.#giveUp = reject;
      Promise.resolve(promise).then(resolve, reject);
    });
  }

  #send(line: string): void {
    const bytes = new TextEncoder().encode(line);
    for (let at = 0; at < bytes.length; at += CHUNK) {
      this.#listener.data(bytes.subarray(at, at + CHUNK));
    }
  }

  #explain(cause: unknown): unknown {
    if (this.#abort.signal.aborted) return this.#abort.signal.reason;
    if (
      isTurncoreError(cause) &&
      /^E_(MODEL_|(MEDIA_TOO_LARGE|CHAT_INVALID_OPTIONS)$)/.test(cause.code)
    )
      return cause;
    return TurncoreError.of('E_MODEL_FAILED', messageOf(cause), { cause });
  }
}

function asReason(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** Tells an engine to stop, and ignores its errors. */
async function leave(parts: AsyncIterator<unknown> | undefined): Promise<void> {
  try {
    await parts?.return?.();
  } catch {
    // The first failure was reported.
  }
}
