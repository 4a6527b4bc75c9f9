/**
 * A turn's events as they come.
 */
import { errorJSON } from '../events/error-json.js';
import type { GenerationStats, ToolCallEvent, TurnEvent, TurnStatus } from '../events/events.js';
import type { Outcome } from '../turn/turn.js';
import { EventLog } from '../sse/event-log.js';
import { turnResponse, type TurnResponseOptions } from '../sse/turn-response.js';
import { outputOf, type OutputSchema } from '../output/output.js';

/** Tokens used by a turn's model calls, as reported by the provider. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
}

/** A tool call that a turn completed. */
export interface ToolCallResult {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
  readonly isError: boolean;
  readonly results: unknown;
}

/** A partial object: any member may be missing, and any string may be incomplete. */
export type PartialObject<T> = T extends readonly (infer Item)[]
  ? readonly PartialObject<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: PartialObject<T[Name]> }
    : T;

/** The result of a turn. @typeParam Output the type of answers, from the schema of the chat executor */
export interface TurnResult<Output = unknown> {
  /** `ack` for success; `failed` also if the turn could not start. */
  readonly status: TurnStatus;
  /** The last streamed message: the answer. */
  readonly text: string;
  /**
   * This message was interrupted, so `text` is incomplete: its last event has `isInterrupted`, or it was never
   * completed and the turn did not ack.
   */
  readonly interrupted: boolean;
  /** The object of the answer if the chat executor has a schema and the turn has acked; undefined otherwise. */
  readonly object: Output | undefined;
  /** The completed tool calls, in order. */
  readonly toolCalls: readonly ToolCallResult[];
  /** Sums over the turn's model calls. */
  readonly usage: Readonly<Usage>;
  /** Number of iterations that ran. */
  readonly iterations: number;
  /** The error; undefined if there was none. */
  readonly error: unknown;
  /** The result as plain data, with the code, message and cause of the error, as sent by `Response.json(result)`. */
  toJSON(): Record<string, unknown>;
}

/** Makes a result from its parts. Its method is not enumerable, so copies and clones have only data. */
function resultOf<Output>(parts: Omit<TurnResult<Output>, 'toJSON'>): TurnResult<Output> {
  const toJSON = (): Record<string, unknown> =>
    parts.error === undefined ? { ...parts } : { ...parts, error: errorJSON(parts.error) };
  return Object.defineProperty(parts, 'toJSON', { value: toJSON }) as TurnResult<Output>;
}

/** The method syntax makes a stream of one output type assignable to a stream of any. */
type Resolve<Output> = { resolve(result: TurnResult<Output>): void }['resolve'];

/**
 * A running turn: iterate over it for its events, or wait for {@link TurnStream.result}. Unread events are kept, so
 * both work, and a second loop gets all of them again.
 */
export class TurnStream<Output = unknown> implements AsyncIterable<TurnEvent> {
  /** Resolves when the turn has ended, however it ended, or could not start. Never rejects. */
  readonly result: Promise<TurnResult<Output>>;

  readonly #log = new EventLog<TurnResult<Output>>();
  readonly #abort: () => void;
  readonly #schema: OutputSchema<Output> | undefined;
  readonly #calls = new Map<string, ToolCallEvent>();
  readonly #usage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  #text = '';
  /** The message is not complete. */
  #open = false;
  /** The message was interrupted. */
  #interrupted = false;
  #failure: { readonly error: unknown } | undefined;
  #resolve!: Resolve<Output>;

  /** @internal Runners make streams. @param abort aborts the turn @param schema of the answer */
  constructor(abort: () => void, schema?: OutputSchema<Output>) {
    this.#abort = abort;
    this.#schema = schema;
    this.result = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** Aborts the turn. */
  abort(): void {
    this.#abort();
  }

  /**
   * The events in order, from the first. Leaving the loop before the end aborts the turn.
   *
   * @throws the turn's error, after the last event, if it was nacked or failed. After an abort the loop ends without
   * an error
   */
  async *[Symbol.asyncIterator](): AsyncIterator<TurnEvent, void> {
    let complete = false;
    try {
      yield* this.#all();
      complete = true;
    } finally {
      if (!complete) this.#abort();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /**
   * The partial objects of a streaming answer, for turns with structured output: with complete members, and growing
   * strings. Each is a fresh object. A thirty-second of the answer comes between two objects, so that all of them
   * together cost no more than a multiple of its length. The last one is the whole object, as the model wrote it.
   *
   * An answer that the model has to repair is followed by the objects of the next one, from the start. Leaving the loop
   * does not end the turn.
   *
   * @throws the turn's error, after the last object, when it was nacked or failed
   */
  async *partialObjects(): AsyncGenerator<PartialObject<Output>, void> {
    const { ObjectReader } = await import('../output/object-reader.js');
    const objects = new ObjectReader();
    for await (const event of this.#all()) {
      const object = event.event === 'message' ? objects.next(event) : undefined;
      if (object !== undefined) yield object as PartialObject<Output>;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /**
   * A response for a client, with the turn's events and its end as server-sent events: `readTurnStream` of
   * `turncore/remote` reads them. It goes no faster than the client reads. When the client goes away, the turn is
   * aborted, unless `onDisconnect` is `continue`. The stream keeps fewer events from then on: see `maxReplayBytes`.
   *
   * @throws TurncoreError E_INVALID_VALUE for an invalid option
   */
  toResponse(options?: TurnResponseOptions): Response {
    return turnResponse({ log: this.#log, abort: () => this.abort() }, options);
  }

  /** @internal The events so far. */
  get log(): EventLog<TurnResult<Output>> {
    return this.#log;
  }

  async *#all(): AsyncGenerator<TurnEvent, void> {
    const log = this.#log;
    for (let next = 0; ;) {
      for (let event; (event = log.at(next)) !== undefined; next++) yield event;
      if (log.end !== undefined) return;
      await new Promise<void>((resolve) => log.onMore(resolve));
    }
  }

  /** @internal Takes an event. */
  push(event: TurnEvent): void {
    switch (event.event) {
      case 'message':
        this.#text = event.full;
        this.#open = !event.isComplete;
        this.#interrupted = event.isInterrupted === true;
        break;
      case 'toolCall':
        if (event.isComplete) this.#calls.set(`${event.dispatchId ?? ''} ${event.id}`, event);
        break;
      case 'generationStats':
        this.#count(event);
        break;
      default:
    }
    this.#log.push(event);
  }

  /** @internal Ends with the turn. */
  follow(outcome: Promise<Outcome & { readonly object?: unknown }>): void {
    outcome.then(
      (end) => void this.#end(end),
      (error: unknown) => void this.#end({ status: 'refused', iterations: 0, error }),
    );
  }

  async #end(outcome: Outcome & { readonly object?: unknown }): Promise<void> {
    const status = outcome.status === 'refused' ? 'failed' : outcome.status;
    let { error } = outcome;
    if (status === 'nack' || status === 'failed') this.#failure = { error };
    let object = outcome.object as Output | undefined;
    if (this.#schema !== undefined && status === 'ack') {
      try {
        object = await outputOf(this.#schema, this.#text);
      } catch (refused) {
        error = refused;
      }
    }
    const result = resultOf<Output>({
      status,
      text: this.#text,
      interrupted: this.#interrupted || (this.#open && status !== 'ack'),
      object,
      toolCalls: [...this.#calls.values()].map(({ id, tool, args, isError, results }) => ({
        id,
        tool,
        args,
        isError,
        results,
      })),
      usage: this.#usage,
      iterations: outcome.iterations,
      error,
    });
    this.#log.close(result);
    this.#resolve(result);
  }

  #count(stats: GenerationStats): void {
    const prompt = stats.promptTokens ?? 0;
    const completion = stats.completionTokens ?? 0;
    this.#usage.promptTokens += prompt;
    this.#usage.completionTokens += completion;
    this.#usage.totalTokens += stats.totalTokens ?? prompt + completion;
  }
}
