/**
 * Invocations of a session run one after another.
 */
import type { Awaitable } from '../awaitable.js';
import { storeError } from '../store-errors.js';
import { keeperOf } from '../store/keeper.js';
import type { Invocation } from './invocation.js';
import type { SessionStore } from './session-store.js';
import { after } from './waiting.js';

/** An invocation that runs, or is about to. */
interface Running {
  /** Its session in the store. */
  readonly session: string;
  /** The signal that its caller has given. */
  readonly outer: AbortSignal | undefined;
  invocation: Invocation | undefined;
}

/** Those that run, by store. */
const running = new WeakMap<SessionStore, Set<Running>>();

/** A place in the queue of a session. */
export interface Place {
  /** Says which invocation it is. */
  runs(invocation: Invocation): void;
  /** Lets the next one run. */
  leave(): void;
}

/**
 * Lets an invocation run when no other turn or invocation of its session does.
 *
 * @param session its id in the store
 * @param refuse instead of waiting
 * @param outer the signal that the caller has given: that of a handler tells inside of which invocation it is
 * @param signal takes it out of the queue: then it runs at once
 * @throws TurncoreError (or rejects) E_SESSION_BUSY if another runs, and `refuse`, or if it is started inside that
 */
export function enter(
  store: SessionStore,
  session: string,
  refuse: boolean,
  outer: AbortSignal | undefined,
  signal: AbortSignal | undefined,
): Awaitable<Place> {
  let all = running.get(store);
  if (all === undefined) running.set(store, (all = new Set()));
  if (outer !== undefined && isInside(all, session, outer)) {
    const why = `session ${JSON.stringify(session)}: the invocation is started inside another one of it`;
    throw storeError('E_SESSION_BUSY', why, { details: { session } });
  }
  return after(keeperOf(store).enter(session, refuse, signal), (leave) => {
    const own: Running = { session, outer, invocation: undefined };
    all.add(own);
    return {
      runs: (invocation) => (own.invocation = invocation),
      leave: () => {
        all.delete(own);
        leave();
      },
    };
  });
}

/** Whether a signal is one of an invocation of a session, or of one that runs inside such a one. */
function isInside(all: ReadonlySet<Running>, session: string, signal: AbortSignal): boolean {
  for (const { invocation, session: of, outer } of all) {
    if (invocation === undefined || !hasSignal(invocation, signal)) continue;
    return of === session || (outer !== undefined && isInside(all, session, outer));
  }
  return false;
}

function hasSignal({ contexts, requests, signals }: Invocation, signal: AbortSignal): boolean {
  if (signals.has(signal) || contexts.some((context) => context?.signal === signal)) return true;
  for (const { facade } of requests?.values() ?? []) {
    if ((facade as { readonly abortSignal?: AbortSignal } | undefined)?.abortSignal === signal) {
      return true;
    }
  }
  return false;
}
