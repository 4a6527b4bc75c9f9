/**
 * Turns that are over and whose ids are still known, so that nobody runs them again by mistake.
 */
import { systemClock } from '../entropy.js';
import { TurncoreError } from '../errors.js';

/** Milliseconds for which an id is known. */
const MEMORY = 3_600_000;
/** How many ids are known. */
const MOST = 10_000;
/** Least milliseconds between two looks at all turns that run. */
const SWEEP = 1000;

/** A turn that runs, with the request that runs it if the platform ends it with that request. */
interface Running {
  readonly owner: { isGone(): boolean } | undefined;
}

/** What became of a turn. */
type Fate = 'E_TURN_ABANDONED' | 'E_TURN_EVENTS_LOST';

/** Ids for an hour each, the last 10,000. */
export class PastTurns {
  /** The first that came in first. */
  readonly #ids = new Map<string, { readonly fate: Fate; readonly at: number }>();
  /** When all turns that ran were looked at. */
  #swept = 0;

  /** Why the turn of an id is not run and has no events; undefined for an id that is not known. */
  find(id: string): TurncoreError | undefined {
    this.#forget();
    const past = this.#ids.get(id);
    return past && TurncoreError.of(past.fate);
  }

  add(id: string, fate: Fate): void {
    this.#ids.set(id, { fate, at: systemClock() });
    this.#forget();
  }

  /**
   * Takes the turns whose request is gone out of those that run: the one of an id, and once a second all.
   *
   * @param running the turns that run, by id
   */
  collect(running: Map<string, Running>, id: string): void {
    this.#leave(running, id);
    const now = systemClock();
    if (Math.abs(now - this.#swept) < SWEEP) return;
    this.#swept = now;
    for (const other of running.keys()) this.#leave(running, other);
  }

  #leave(running: Map<string, Running>, id: string): void {
    if (running.get(id)?.owner?.isGone() !== true) return;
    running.delete(id);
    this.add(id, 'E_TURN_ABANDONED');
  }

  #forget(): void {
    const since = systemClock() - MEMORY;
    for (const [id, { at }] of this.#ids) {
      if (this.#ids.size <= MOST && at > since) break;
      this.#ids.delete(id);
    }
  }
}
