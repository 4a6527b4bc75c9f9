/**
 * The last events of a session.
 */
import type { Appender } from '../store/appender.js';
import { type Event, reviveBody } from './event.js';

/** How many events are asked for at first where a time bounds them. */
const FIRST_PAGE = 64;

/** Events of a session that were read, and the revision that the last one came with. */
export interface Found {
  readonly events: Event[];
  readonly revision: string;
}

/**
 * Reads the last events of a session, without the one that created it.
 *
 * @param last how many at most; 0 for all
 * @param since leaves out the events before the last one that is earlier, and that one
 * @returns undefined if there is no session
 */
export async function recentEvents(
  store: Appender,
  session: string,
  last: number,
  since: number | undefined,
): Promise<Found | undefined> {
  for (let limit = since === undefined ? last : FIRST_PAGE; ; limit *= 4) {
    // One more than is wanted: the session may have no other event than the one that created it.
    const found = await store.events(session, { limit: limit + 1, newest: true });
    if (found.length === 0) return undefined;
    const events = found.slice(1).map(({ body }) => reviveBody(body));
    const early = since === undefined ? -1 : lastBefore(events, since);
    const wanted = events.slice(Math.max(early + 1, last > 0 ? events.length - last : 0));
    const isWhole = found.length <= limit || early >= 0;
    if (isWhole || (last > 0 && wanted.length === last)) {
      return { events: wanted, revision: found.at(-1)!.revision };
    }
  }
}

/** The place of the last event before a time; -1 if there is none. */
function lastBefore(events: readonly Event[], time: number): number {
  let i = events.length - 1;
  while (i >= 0 && events[i]!.timestamp >= time) i--;
  return i;
}
