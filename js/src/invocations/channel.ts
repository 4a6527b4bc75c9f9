/**
 * Events on their way to who asks for them one by one.
 */
import type { Awaitable } from '../awaitable.js';
import type { Effect } from '../turn/effect.js';
import { invocationError } from '../session-errors.js';
import type { Event } from './event.js';

/** The part of an effect that a channel settles. */
type Delivery = Pick<Effect, 'settle' | 'fail'>;

/** Hands events over, each when it is asked for. The module hears of it when the next one is asked for. */
export class Channel {
  #ready: { readonly event: Event; readonly delivery: Delivery }[] = [];
  /** That of the event that was handed over last. */
  #delivery: Delivery | undefined;
  #wake: (() => void) | undefined;
  #stopped: Error | undefined;
  #closed = false;

  /** Takes an event. */
  offer(event: Event, delivery: Delivery): void {
    if (this.#stopped !== undefined) {
      delivery.fail(this.#stopped);
      return;
    }
    this.#ready.push({ event, delivery });
    this.#wake?.();
  }

  /** The next event; undefined when there are no more. */
  next(): Awaitable<Event | undefined> {
    const last = this.#delivery;
    this.#delivery = undefined;
    last?.settle();
    if (this.#ready.length > 0 || this.#closed || this.#stopped !== undefined) return this.#take();
    return new Promise<void>((resolve) => (this.#wake = resolve)).then(() => this.#take());
  }

  #take(): Event | undefined {
    this.#wake = undefined;
    const next = this.#ready.shift();
    this.#delivery = next?.delivery;
    return next?.event;
  }

  /** Nothing comes any more. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Nobody asks for events any more. Who gives them is told the reason. */
  stop(reason: Error = stopped()): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    const open = this.#ready.map(({ delivery }) => delivery);
    this.#ready = [];
    if (this.#delivery !== undefined) open.unshift(this.#delivery);
    this.#delivery = undefined;
    for (const delivery of open) delivery.fail(reason);
    this.#wake?.();
  }
}

/** The reason that is told when a caller leaves. */
export function stopped(): Error {
  return invocationError('E_INVOCATION_STOPPED');
}
