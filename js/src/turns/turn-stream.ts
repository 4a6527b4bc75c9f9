/**
 * A turn's events as they come.
 */
import type { GenerationStats, ToolCallEvent, TurnEvent, TurnStatus } from '../events/events.js';
import type { Outcome } from '../pump/session.js';

/** Tokens that a turn's model calls took, as far as the provider said. */
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

/** How a turn ended and what came out. */
export interface TurnResult {
  /** `ack` when it ended well. */
  readonly status: TurnStatus;
  /** The last message that was streamed, the answer. */
  readonly text: string;
  /** The tool calls that were completed, in order. */
  readonly toolCalls: readonly ToolCallResult[];
  /** Sums over the turn's model calls. */
  readonly usage: Readonly<Usage>;
  /** Iterations that ran. */
  readonly iterations: number;
  /** What went wrong; undefined when nothing did. */
  readonly error: unknown;
}

/**
 * A turn that runs: iterate over it for its events, or wait for {@link TurnStream.result}. Events that nobody has read
 * are kept, so both work, and a second loop gets all of them again.
 */
export class TurnStream implements AsyncIterable<TurnEvent> {
  /** Resolves when the turn has ended, however it ended; rejects only when it could not begin. */
  readonly result: Promise<TurnResult>;

  readonly #events: TurnEvent[] = [];
  readonly #abort: () => void;
  readonly #calls = new Map<string, ToolCallEvent>();
  readonly #usage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  #text = '';
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #waiting: (() => void)[] = [];
  #resolve!: (result: TurnResult) => void;
  #reject!: (error: unknown) => void;

  /** @internal Runners make streams. @param abort aborts the turn */
  constructor(abort: () => void) {
    this.#abort = abort;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever only iterates is told by the loop.
    this.result.catch(() => undefined);
  }

  /** Aborts the turn. */
  abort(): void {
    this.#abort();
  }

  /** The events in order, from the first. Leaving the loop before the end aborts the turn. */
  async *[Symbol.asyncIterator](): AsyncIterator<TurnEvent, void> {
    let complete = false;
    try {
      for (let next = 0; ;) {
        while (next < this.#events.length) yield this.#events[next++]!;
        if (this.#ended) break;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      complete = true;
    } finally {
      if (!complete) this.#abort();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** @internal Takes an event. */
  push(event: TurnEvent): void {
    this.#events.push(event);
    switch (event.event) {
      case 'message':
        this.#text = event.full;
        break;
      case 'toolCall':
        if (event.isComplete) this.#calls.set(`${event.dispatchId ?? ''} ${event.id}`, event);
        break;
      case 'generationStats':
        this.#count(event);
        break;
      default:
    }
    this.#wake();
  }

  /** @internal Ends with the turn. */
  follow(outcome: Promise<Outcome>): void {
    outcome.then(
      (end) => {
        if (end.status === 'refused') this.#refuse(end.error);
        else this.#end(end);
      },
      (error: unknown) => this.#refuse(error),
    );
  }

  #refuse(error: unknown): void {
    this.#failure = { error };
    this.#ended = true;
    this.#wake();
    this.#reject(error);
  }

  #end(outcome: Outcome): void {
    this.#ended = true;
    this.#wake();
    this.#resolve({
      status: outcome.status as TurnStatus,
      text: this.#text,
      toolCalls: [...this.#calls.values()].map(({ id, tool, args, isError, results }) => ({
        id,
        tool,
        args,
        isError,
        results,
      })),
      usage: this.#usage,
      iterations: outcome.iterations,
      error: outcome.error,
    });
  }

  #count(stats: GenerationStats): void {
    const prompt = stats.promptTokens ?? 0;
    const completion = stats.completionTokens ?? 0;
    this.#usage.promptTokens += prompt;
    this.#usage.completionTokens += completion;
    this.#usage.totalTokens += stats.totalTokens ?? prompt + completion;
  }

  #wake(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
