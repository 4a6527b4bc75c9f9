/**
 * Wrappers around single calls: of tools' handlers, and of models.
 */
import { invalidValue, TurncoreError, messageOf } from '../errors.js';

/** A call of a tool's handler, of which only the arguments count here. */
interface AnyInvocation {
  readonly args: unknown;
}

/** A wrapper around the calls of tools' handlers. */
type AnyToolWrapper = (call: never, next: (call: AnyInvocation) => Promise<unknown>) => unknown;

/** One call of a model, as a wrapper sees it: a request of the chat executor, or an answer of an engine. */
export interface ModelInvocation {
  /** Undefined for an engine. */
  readonly provider: string | undefined;
  /** As in the options of the chat executor; the name of an engine. */
  readonly model: string;
  /** Undefined in a standalone dispatch. */
  readonly turnId: string | undefined;
  readonly dispatchId: string;
  /** From 0. */
  readonly iteration: number;
  /** The number of the call in its iteration, from 1: more after a request that failed and is repeated. */
  readonly attempt: number;
  /** Method, address and headers of the request, without the credential; empty for an engine. */
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The request as it is sent, JSON, with its media. */
  readonly body: string;
  /** Fires when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/**
 * A part of a model's answer. The answer of an API begins with a chunk that has a status and headers; the others have
 * data, the body as it comes. The answer of an engine has data only: each part as a line of JSON.
 */
export interface ModelChunk {
  readonly status?: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly data?: Uint8Array;
}

/**
 * Runs around one call of a model, between its modelCallStart and modelCallEnd, and gives the parts of the answer. It
 * may answer without `next`, call `next` several times, and change the request or what comes back. An answer with the
 * status of an error has succeeded.
 *
 * Errors are those of a {@link ToolWrapper}; the place is such as "wrapModel[0]".
 */
export type ModelWrapper = (
  call: ModelInvocation,
  next: (call: ModelInvocation) => AsyncIterable<ModelChunk>,
) => AsyncIterable<ModelChunk>;

/** The wrappers of a runner or of a dispatch, the outermost first. */
export interface Wrappers {
  readonly wrapTool: readonly AnyToolWrapper[];
  readonly wrapModel: readonly ModelWrapper[];
}

/** One layer of wrappers while it runs. */
class Layer {
  /** It has ended. */
  over = false;
  readonly #place: string;
  readonly #given = new Set<unknown>();

  constructor(field: string, index: number) {
    this.#place = `${field}[${index}]`;
  }

  /**
   * @throws TurncoreError E_CALL_AFTER_END when the wrapper has ended, E_INVALID_VALUE unless it gets a call
   */
  enter(call: unknown): void {
    if (this.over) {
      throw TurncoreError.of('E_CALL_AFTER_END', `next of ${this.#place}, which has returned`);
    }
    if (typeof call !== 'object' || call === null) {
      throw invalidValue('what next was given', 'must be a call');
    }
  }

  /** Notes what `next` throws. */
  gave(error: unknown): unknown {
    this.#given.add(error);
    return error;
  }

  /** What the wrapper has thrown, as others see it. */
  failure(error: unknown): unknown {
    for (let cause = error; cause !== undefined && cause !== null;) {
      if (this.#given.has(cause)) return error;
      cause = (cause as { cause?: unknown }).cause;
    }
    const failure = new Error(`${this.#place}: ${messageOf(error)}`, { cause: error });
    failure.name = 'WrapperError';
    return failure;
  }
}

/** Runs the wrappers of a tool from one on, and then the handler. */
export async function wrappedTool(
  wrappers: readonly AnyToolWrapper[],
  call: AnyInvocation,
  handler: (args: never) => unknown,
  from = 0,
): Promise<unknown> {
  const wrapper = wrappers[from];
  if (wrapper === undefined) return await handler(call.args as never);
  const layer = new Layer('wrapTool', from);
  try {
    return await wrapper(call as never, async (inner) => {
      layer.enter(inner);
      try {
        return await wrappedTool(wrappers, inner, handler, from + 1);
      } catch (error) {
        throw layer.gave(error);
      }
    });
  } catch (error) {
    throw layer.failure(error);
  } finally {
    layer.over = true;
  }
}

function isChunks(answer: unknown): answer is AsyncIterable<ModelChunk> {
  const { [Symbol.asyncIterator]: iterate } = (answer ?? {}) as Partial<AsyncIterable<unknown>>;
  return typeof iterate === 'function';
}

/** Runs the wrappers of a model from one on, and then the call. */
export async function* wrappedModel(
  wrappers: readonly ModelWrapper[],
  call: ModelInvocation,
  run: (call: ModelInvocation) => AsyncIterable<ModelChunk>,
  from = 0,
): AsyncGenerator<ModelChunk, void, undefined> {
  const wrapper = wrappers[from];
  if (wrapper === undefined) {
    yield* run(call);
    return;
  }
  const layer = new Layer('wrapModel', from);
  async function* next(inner: ModelInvocation): AsyncGenerator<ModelChunk, void, undefined> {
    layer.enter(inner);
    try {
      yield* wrappedModel(wrappers, inner, run, from + 1);
    } catch (error) {
      throw layer.gave(error);
    }
  }
  try {
    const answer: unknown = wrapper(call, next);
    if (!isChunks(answer)) {
      throw invalidValue('what the wrapper gave', 'must be an async iterable of chunks');
    }
    yield* answer;
  } catch (error) {
    throw layer.failure(error);
  } finally {
    layer.over = true;
  }
}
