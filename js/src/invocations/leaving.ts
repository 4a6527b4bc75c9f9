/**
 * Leaving a loop over events while the next one is awaited.
 */
import type { Event } from './event.js';

/** The events of an invocation, which its caller asks for one by one. */
export type Events = AsyncGenerator<Event, void, undefined>;

/** What a generator does whose caller leaves. */
export interface Leaving {
  /** Ends what the generator waits for; undefined while it waits for nothing that can be ended. */
  leave: (() => void) | undefined;
}

/** Makes a generator that a caller can leave while it has not answered: by itself it would answer first. */
export function leavable(run: (leaving: Leaving) => Events): Events {
  const leaving: Leaving = { leave: undefined };
  const events = run(leaving);
  const end = events.return.bind(events);
  const fail = events.throw.bind(events);
  events.return = (value) => {
    leaving.leave?.();
    return end(value);
  };
  events.throw = (error) => {
    leaving.leave?.();
    return fail(error);
  };
  return events;
}
