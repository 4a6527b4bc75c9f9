/**
 * Listeners and their calls.
 */
import { isThenable } from '../awaitable.js';
import { invalidValue } from '../errors.js';
import type { ErrorEvent, EventName, ReportedError, TurnEvent, TurnEvents } from './events.js';

/**
 * Gets events of one name, before the call that caused them returns. An error in it affects nothing else. An error
 * listener gets the error itself; the event, with the ids, is its second argument.
 */
export type Listener<E> = [E] extends [ErrorEvent]
  ? (error: ReportedError, event: ErrorEvent) => void
  : (event: E extends ErrorEvent ? ReportedError : E) => void;

/** Gets the error of a listener. */
export type ListenerFailure = (error: unknown, event: TurnEvent) => void;

type AnyListener = (told: unknown, event?: ErrorEvent) => unknown;

interface Entry {
  readonly listener: AnyListener;
  readonly once: boolean;
  /** A once-listener that was called: an event inside a delivery may reach it first. */
  called: boolean;
}

/**
 * Lists of listeners by event name, called in the order in which they were added. A list is replaced, never changed,
 * so a listener added during a delivery is not called for that event, and a removed one still is.
 */
export class Bus<Events extends Partial<TurnEvents>> {
  readonly #lists = new Map<EventName, readonly Entry[]>();
  #size = 0;

  /** Whether there are any listeners. */
  get used(): boolean {
    return this.#size > 0;
  }

  /** Whether there are listeners for events of this name. */
  listens(name: EventName): boolean {
    return this.#size > 0 && this.#lists.has(name);
  }

  /** Adds a listener; a listener added twice is called twice. */
  add<N extends keyof Events & EventName>(
    name: N,
    listener: Listener<TurnEvents[N]>,
    once = false,
  ): void {
    requireFunction(listener);
    const entry = { listener: listener as unknown as AnyListener, once, called: false };
    this.#set(name, [...(this.#lists.get(name) ?? []), entry]);
  }

  /** Removes a listener, the last one added first. */
  remove<N extends keyof Events & EventName>(name: N, listener: Listener<TurnEvents[N]>): void {
    requireFunction(listener);
    const list = this.#lists.get(name) ?? [];
    const at = list.findLastIndex((e) => e.listener === (listener as unknown as AnyListener));
    if (at >= 0) this.#set(name, list.toSpliced(at, 1));
  }

  /** Calls the listeners of an event. No listener can stop the others. */
  deliver(event: TurnEvent, failed: ListenerFailure): void {
    const list = this.#lists.get(event.event);
    if (list === undefined) return;
    for (const entry of list) {
      if (entry.once) {
        if (entry.called) continue;
        entry.called = true;
        this.#drop(event.event, entry);
      }
      callListener(entry.listener, event, failed);
    }
  }

  #drop(name: EventName, entry: Entry): void {
    this.#set(
      name,
      (this.#lists.get(name) ?? []).filter((e) => e !== entry),
    );
  }

  #set(name: EventName, list: readonly Entry[]): void {
    this.#size += list.length - (this.#lists.get(name)?.length ?? 0);
    if (list.length === 0) this.#lists.delete(name);
    else this.#lists.set(name, list);
  }
}

function requireFunction(listener: unknown): void {
  if (typeof listener !== 'function') throw invalidValue('listener', 'must be a function');
}

function callListener(listener: AnyListener, event: TurnEvent, failed: ListenerFailure): void {
  try {
    const result = event.event === 'error' ? listener(event.error, event) : listener(event);
    if (isThenable(result)) result.then(undefined, (error: unknown) => failed(error, event));
  } catch (error) {
    failed(error, event);
  }
}
