/**
 * The request that runs a turn. On some platforms a turn lives no longer than it, and it alone may touch the turn.
 */
import { systemClock } from '../entropy.js';
import { TurncoreError } from '../errors.js';
import type { TurnEvent } from '../events/events.js';
import type { Outcome } from '../turn/turn.js';
import type { EventLog } from '../sse/event-log.js';
import type { TurnEnd } from '../sse/turn-end.js';

/** Milliseconds between two signs of life of a request. */
const BEAT = 50;
/** How many of them in a row may be missing. */
const MISSING = 40;
/** Milliseconds without one after which a request is gone though nobody waits for it: no request computes that long. */
const SILENCE = 60_000;

/** The stream of a turn. */
interface OwnedStream {
  readonly log: EventLog<Outcome & TurnEnd>;
  readonly result: Promise<unknown>;
  abort(): void;
}

/** A function that runs in another request. */
interface Job {
  readonly run: () => unknown;
  done: boolean;
  error: unknown;
}

/** The request that runs a turn. */
export class Owner {
  readonly #stream: OwnedStream;
  /** Whether the turn ends with the request, and other requests must not touch it. */
  readonly bound: boolean;
  #jobs: Job[] = [];
  #beats = 0;
  /** When the last sign came. */
  #heard = systemClock();
  /** Whether the request is known to be gone. */
  abandoned = false;

  /** Made by the request itself. @param platform what the platform gives its handler after the request, if known */
  constructor(stream: OwnedStream, platform: readonly unknown[] = []) {
    this.#stream = stream;
    this.bound = isBound(platform);
    for (const given of platform) {
      const context = given as { waitUntil?(promise: Promise<unknown>): void } | null | undefined;
      if (typeof context?.waitUntil === 'function') context.waitUntil(stream.result);
    }
    if (!this.bound) return;
    const timer = setInterval(() => this.#beat(), BEAT);
    void stream.result.then(() => {
      clearInterval(timer);
      this.#beat();
    });
  }

  /** Runs a function in the request. @throws TurncoreError (rejects) E_TURN_ABANDONED if it is gone */
  async run(call: () => unknown): Promise<void> {
    if (!this.bound || this.#ended) {
      await call();
      return;
    }
    const job: Job = { run: call, done: false, error: undefined };
    this.#jobs.push(job);
    await this.#until(() => job.done);
    if (job.error !== undefined) throw job.error as Error;
  }

  /** Waits for a sign of life. @throws TurncoreError (rejects) E_TURN_ABANDONED without one */
  async requireAlive(): Promise<void> {
    if (!this.bound || this.#ended) return;
    const beats = this.#beats;
    await this.#until(() => this.#beats > beats || this.#ended);
  }

  /** Whether the request is known to be gone, or has given no sign of life for a minute. */
  isGone(): boolean {
    if (this.bound && !this.#ended && systemClock() - this.#heard > SILENCE) this.#abandon();
    return this.abandoned;
  }

  /** Calls a function, in the request that asks, when there may be more events. */
  onMore(call: () => void): void {
    if (this.bound) setTimeout(call, BEAT);
    else this.#stream.log.onMore(call);
  }

  /**
   * Tells another request the events of the turn.
   *
   * @returns how it ended
   * @throws TurncoreError (rejects) E_TURN_ABANDONED if the request is gone
   */
  async follow(push: (event: TurnEvent) => void): Promise<Outcome> {
    const { log } = this.#stream;
    const fault = this.watch();
    for (let next = 0; ;) {
      const error = fault();
      if (error !== undefined) throw error;
      for (let event; (event = log.at(next)) !== undefined; next++) push(event);
      const { end } = log;
      if (end !== undefined) return next > 0 ? end : { ...end, status: 'refused' };
      await new Promise<void>((resolve) => this.onMore(resolve));
    }
  }

  /** A function for one who waits. It is called at intervals and gives the error when the request is gone. */
  watch(): () => Error | undefined {
    let beats = -1;
    let missing = 0;
    return () => {
      if (!this.bound || this.#ended) return undefined;
      // Signs are counted, not timed: a request that computes gives none, and its waiters do not run meanwhile.
      missing = this.#beats === beats ? missing + 1 : 0;
      beats = this.#beats;
      if (missing > MISSING) this.#abandon();
      return this.abandoned ? TurncoreError.of('E_TURN_ABANDONED') : undefined;
    };
  }

  /** Whether the turn has ended while its request lived. */
  get #ended(): boolean {
    return !this.abandoned && this.#stream.log.end !== undefined;
  }

  async #until(done: () => boolean): Promise<void> {
    const fault = this.watch();
    while (!done()) {
      const error = fault();
      if (error !== undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, BEAT));
    }
  }

  #beat(): void {
    if (this.abandoned) return;
    this.#beats += 1;
    this.#heard = systemClock();
    const jobs = this.#jobs;
    this.#jobs = [];
    for (const job of jobs) void perform(job);
  }

  /** Frees what the turn holds, as far as that is possible from another request. */
  #abandon(): void {
    if (this.abandoned) return;
    this.abandoned = true;
    this.#jobs = [];
    this.#stream.log.keep(1);
    try {
      this.#stream.abort();
    } catch {
      // What belongs to the request that is gone cannot be aborted.
    }
  }
}

async function perform(job: Job): Promise<void> {
  try {
    await job.run();
  } catch (error) {
    job.error = error;
  }
  job.done = true;
}

/** Whether turns end with the request that runs them. @param platform what the platform gives its handler */
export function isBound(platform: readonly unknown[]): boolean {
  const { navigator, EdgeRuntime } = globalThis as {
    readonly navigator?: { readonly userAgent?: string };
    readonly EdgeRuntime?: unknown;
  };
  if (navigator?.userAgent === 'Cloudflare-Workers') return !platform.some(isObjectState);
  return EdgeRuntime !== undefined;
}

/** Whether a value is the state of a Durable Object: what begins in a request there goes on after it. */
function isObjectState(given: unknown): boolean {
  const { blockConcurrencyWhile } = (given ?? {}) as { readonly blockConcurrencyWhile?: unknown };
  return typeof blockConcurrencyWhile === 'function';
}
