/**
 * A turn's events as the body of a response.
 */
import { invalidValue } from '../errors.js';
import type { TurnEvent } from '../events/events.js';
import type { TurnEnd } from './turn-end.js';
import { TurnEncoder } from './turn-encoder.js';

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
  /** Additional headers. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/** The events of a turn, as they come. */
export interface TurnLog {
  /** The event at a place, from 0; undefined while it has not come. */
  at(index: number): TurnEvent | undefined;
  /** Whether the turn has ended: no event follows. */
  readonly ended: boolean;
  /** Calls a function once, when there is more or the turn has ended. */
  onMore(call: () => void): void;
  /** How the turn ended; never rejects. */
  end(): Promise<TurnEnd>;
  abort(): void;
}

/** Characters in a piece of the body, unless a single event has more. */
const PIECE = 65_536;
/** Milliseconds of silence after which a comment shows that the connection lives. */
const SILENCE = 15_000;

const utf8 = new TextEncoder();

/** The response with a turn's events. It reads no faster than its client. */
export function turnResponse(log: TurnLog, options: TurnResponseOptions = {}): Response {
  const headers = new Headers(options.headers);
  headers.set('content-type', 'text/event-stream');
  // Whoever gathers or compresses the events would hold them back.
  headers.set('cache-control', 'no-store, no-transform');
  headers.set('x-accel-buffering', 'no');
  return new Response(turnBody(log, options), { headers });
}

function turnBody(log: TurnLog, options: TurnResponseOptions): ReadableStream<Uint8Array> {
  const { onDisconnect = 'abort', signal } = options;
  if (onDisconnect !== 'abort' && onDisconnect !== 'continue') {
    throw invalidValue('onDisconnect', 'must be "abort" or "continue"');
  }
  const after = lastEventIdOf(options.lastEventId);
  const encoder = new TurnEncoder(after);
  let next = 0;
  let gone = false;
  let wake: () => void = () => undefined;
  const leave = (): void => {
    if (gone) return;
    gone = true;
    wake();
    signal?.removeEventListener('abort', leave);
    if (onDisconnect === 'abort' && !log.ended) log.abort();
  };
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave);

  const read = (): string => {
    let text = '';
    for (let event; text.length < PIECE && (event = log.at(next)) !== undefined; next++) {
      if (event.seq > after) text += encoder.event(event);
    }
    return text;
  };
  /** Waits for more. @returns whether nothing came for a long time */
  const silence = async (): Promise<boolean> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silent = await new Promise<boolean>((resolve) => {
      wake = () => resolve(false);
      timer = setTimeout(() => resolve(true), SILENCE);
      log.onMore(wake);
    });
    clearTimeout(timer);
    return silent;
  };
  return new ReadableStream<Uint8Array>({
    async pull(body) {
      let text = read();
      while (text === '' && !log.ended && !gone) {
        text = (await silence()) ? `${encoder.close()}:\n` : read();
      }
      if (text === '' && !gone) {
        text = encoder.end(await log.end());
        signal?.removeEventListener('abort', leave);
        gone = true;
      }
      if (text !== '') body.enqueue(utf8.encode(text));
      if (gone) body.close();
    },
    cancel: leave,
  });
}

/** The number in a header Last-Event-ID; 0 without one. @throws TurncoreError E_INVALID_VALUE for anything else */
export function lastEventIdOf(given: string | number | null | undefined): number {
  const id = Number(given ?? 0);
  if (!Number.isSafeInteger(id) || id < 0) {
    throw invalidValue(
      'lastEventId',
      `must be the number of an event, not ${JSON.stringify(given)}`,
    );
  }
  return id;
}
