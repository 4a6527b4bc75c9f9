/**
 * Function calls that wait for an answer from outside.
 */
import { requireList } from '../errors.js';
import type { FunctionResponse } from './content.js';
import {
  type ConfirmationRequest,
  type EventData,
  functionCalls,
  functionResponses,
  requireEvent,
} from './event.js';

/**
 * A function call that waits for an answer from outside: of a long-running tool, or of a person who is to confirm it. A
 * message with a function response of its id answers it.
 */
export interface PendingCall {
  readonly id: string;
  /** The function. */
  readonly name: string;
  /** The arguments with which the tool runs. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What a person is asked; undefined for a call that waits for its result. */
  readonly confirmation: ConfirmationRequest | undefined;
  /** The agent that made the call. A runner whose tree has an LLM agent of the name takes the answer. */
  readonly author: string;
  readonly invocationId: string;
  readonly eventId: string;
}

/**
 * The calls of a session's events that wait for an answer from outside, in order. Those of invocations that were
 * rewound wait no more.
 *
 * @throws TurncoreError E_INVALID_VALUE unless `events` is a list, E_INVALID_EVENT unless all of it are events
 */
export function pendingCalls(events: readonly EventData[]): PendingCall[] {
  requireList('events', events);
  let list: (PendingCall & { readonly at: number })[] = [];
  events.forEach((event, at) => {
    requireEvent(event);
    const { rewindBeforeInvocationId: before } = event.actions ?? {};
    if (before !== undefined) {
      const from = events.findIndex(({ invocationId }) => invocationId === before);
      if (from >= 0 && from < at) list = list.filter((call) => call.at < from);
      return;
    }
    const waits = new Set(event.longRunningToolIds ?? []);
    for (const { id, name, args } of functionCalls(event)) {
      if (id === undefined || !waits.has(id)) continue;
      const confirmation = event.actions?.requestedConfirmations?.[id];
      list.push({
        id,
        name,
        args: confirmation?.args ?? args ?? {},
        confirmation,
        author: event.author ?? '',
        invocationId: event.invocationId ?? '',
        eventId: event.id ?? '',
        at,
      });
    }
    // An agent's result of a long-running call is not the last one.
    if (event.author !== 'user') return;
    const answered = new Set(functionResponses(event).map(({ id }: FunctionResponse) => id));
    list = list.filter(({ id }) => !answered.has(id));
  });
  return list.map(({ at: _, ...call }) => call);
}
