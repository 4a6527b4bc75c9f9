/**
 * The events of one turn, for readers that come and go.
 */
import { TurncoreError } from '../errors.js';
import type { TurnEvent } from '../events/events.js';
import type { TurnEnd } from './turn-end.js';

/** What an event costs beside its data, in bytes. */
const COST = 256;

/**
 * Keeps the events of a turn, all of them or the last ones. An event counts as a quarter of the bound at most, so that
 * a large one drops few of those in front of it, which nobody may have read. At most four events count for less than
 * they hold.
 */
export class EventLog<End extends TurnEnd = TurnEnd> {
  #events: TurnEvent[] = [];
  #first = 0;
  #end: End | undefined;
  #size = 0;
  #most = Infinity;
  #waiting: (() => void)[] = [];

  /** The place of the oldest event that is kept, from 0. */
  get first(): number {
    return this.#first;
  }

  /** The last event so far. */
  get last(): TurnEvent | undefined {
    return this.#events.at(-1);
  }

  /** How the turn ended; undefined before. No event follows. */
  get end(): End | undefined {
    return this.#end;
  }

  /** About how many bytes are kept, as they count; 0 while all are. */
  get size(): number {
    return this.#size;
  }

  /** Bounds the bytes that are kept. The last event is kept in any case. */
  keep(bytes: number): void {
    if (bytes >= this.#most) return;
    this.#most = bytes;
    this.#size = 0;
    for (const event of this.#events) this.#size += this.#count(event);
    this.#drop();
  }

  push(event: TurnEvent): void {
    this.#events.push(event);
    if (this.#most !== Infinity) {
      this.#size += this.#count(event);
      this.#drop();
    }
    this.#wake();
  }

  close(end: End): void {
    this.#end = end;
    this.#wake();
  }

  /**
   * The event at a place, from 0; undefined while it has not come.
   *
   * @throws TurncoreError E_TURN_EVENTS_LOST if the log has dropped it
   */
  at(place: number): TurnEvent | undefined {
    if (place < this.#first) throw lost();
    return this.#events[place - this.#first];
  }

  /** Calls a function once, when there is more or the turn has ended. */
  onMore(call: () => void): void {
    this.#waiting.push(call);
  }

  /** Drops a quarter of what may be kept at a time, so that each event is moved a few times at most. */
  #drop(): void {
    if (this.#size <= this.#most) return;
    let count = 0;
    while (count < this.#events.length - 1 && this.#size > this.#most * 0.75) {
      this.#size -= this.#count(this.#events[count++]!);
    }
    this.#events = this.#events.slice(count);
    this.#first += count;
  }

  /** What an event counts as. */
  #count(event: TurnEvent): number {
    return Math.min(sizeOf(event), this.#most / 4);
  }

  #wake(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const call of waiting) call();
  }
}

/** The error for events that are no longer kept. */
export function lost(): TurncoreError {
  return TurncoreError.of('E_TURN_EVENTS_LOST');
}

function sizeOf(event: TurnEvent): number {
  if (event.event === 'message' || event.event === 'thought') {
    return COST + 2 * event.aDelta.length;
  }
  try {
    return COST + 2 * JSON.stringify(event).length;
  } catch {
    return COST; // results without JSON
  }
}
