/**
 * Turns that are over and whose ids are still known, so that nobody runs them again by mistake.
 */
import { systemClock } from '../entropy.js';
import { TurncoreError } from '../errors.js';
import type { Owner } from './owner.js';

/** Milliseconds for which an id is known. */
const MEMORY = 3_600_000;
/** How many ids are known. */
const MOST = 10_000;

/** What became of a turn. */
type Fate = 'E_TURN_ABANDONED' | 'E_TURN_EVENTS_LOST';

/** Ids for an hour each, the last 10,000. */
export class PastTurns {
  /** The first that came in first. */
  readonly #ids = new Map<string, { readonly fate: Fate; readonly at: number }>();

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

  /** Takes the turns whose request is gone out of those that run. */
  collect(running: Map<string, { readonly owner: Owner | undefined }>): void {
    for (const [id, { owner }] of running) {
      if (owner?.isGone() !== true) continue;
      running.delete(id);
      this.add(id, 'E_TURN_ABANDONED');
    }
  }

  #forget(): void {
    const since = systemClock() - MEMORY;
    for (const [id, { at }] of this.#ids) {
      if (this.#ids.size <= MOST && at > since) break;
      this.#ids.delete(id);
    }
  }
}
