/**
 * A turn's events as the body of a response.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import { invalidValue } from '../errors.js';
import { check } from '../validation/rules.js';
import type { Client, ServedTurn, TurnBody } from './turn-body.js';

/** What happens to a turn when its client goes away: `abort` ends it, `continue` lets it run. */
export type OnDisconnect = 'abort' | 'continue';

/** Options of a turn's response. */
export interface TurnResponseOptions {
  /** The request's signal: it says that the client has gone away. */
  readonly signal?: AbortSignal | null | undefined;
  /** What happens to the turn then. Default `abort`. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** The request's header Last-Event-ID: the response begins after that event. Default: with the first event. */
  readonly lastEventId?: string | number | null | undefined;
  /**
   * About how many bytes of the turn's events are kept for slow clients, and for those that come back. One that is
   * farther behind gets E_TURN_EVENTS_LOST. Default 8 MiB.
   */
  readonly maxReplayBytes?: number | undefined;
  /** Additional headers. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/** Bytes that are kept for replay unless the options say otherwise. */
export const MAX_REPLAY = 8 * 2 ** 20;

const rules = {
  title: 'options',
  code: 'E_INVALID_VALUE',
  fields: {
    signal: { kind: 'any' },
    onDisconnect: { kind: 'string', enum: ['abort', 'continue'] },
    lastEventId: { kind: 'any' },
    maxReplayBytes: { kind: 'number', min: 1, max: 2 ** 53 },
    headers: { kind: 'any' },
  },
} as const satisfies TypeRules;

/** The response with a turn's events. It reads no faster than its client. */
export function turnResponse(turn: ServedTurn, given: TurnResponseOptions = {}): Response {
  const options = check(rules, given) as TurnResponseOptions;
  const body = turnBody(turn, options);
  return new Response(body, { headers: eventHeaders(options.headers) });
}

/** The headers of a response with events. @param given additional ones */
export function eventHeaders(given: TurnResponseOptions['headers']): Headers {
  const headers = new Headers(given);
  headers.set('content-type', 'text/event-stream');
  // Whoever gathers or compresses the events would hold them back.
  headers.set('cache-control', 'no-store, no-transform');
  headers.set('x-accel-buffering', 'no');
  return headers;
}

function turnBody(turn: ServedTurn, options: TurnResponseOptions): ReadableStream<Uint8Array> {
  const { onDisconnect = 'abort', signal, maxReplayBytes = MAX_REPLAY } = options;
  const after = lastEventIdOf(options.lastEventId);
  const { log } = turn;
  log.keep(maxReplayBytes);
  const client: Client = {
    after,
    gone: false,
    forget: () => {
      client.gone = true;
      signal?.removeEventListener('abort', client.leave);
    },
    leave: () => {
      if (client.gone) return;
      client.forget();
      client.wake?.();
      if (onDisconnect === 'abort' && log.end === undefined) turn.abort();
    },
  };
  if (signal?.aborted === true) client.leave();
  else signal?.addEventListener('abort', client.leave);
  let body!: TurnBody;
  return new ReadableStream<Uint8Array>({
    async start() {
      const { TurnBody } = await import('./turn-body.js');
      body = new TurnBody(turn, client);
    },
    pull: (to) => body.pull(to),
    cancel: client.leave,
  });
}

/** The number in a header Last-Event-ID; 0 without one. @throws TurncoreError E_INVALID_VALUE for anything else */
export function lastEventIdOf(given: string | number | null | undefined): number {
  const id = Number(given ?? 0);
  // The decimal digits of a number, or an empty header.
  if (!Number.isSafeInteger(id) || !/^\d*$/.test(`${given ?? ''}`)) {
    const shown = JSON.stringify(given);
    throw invalidValue('lastEventId', `must be the number of an event, not ${shown}`);
  }
  return id;
}
