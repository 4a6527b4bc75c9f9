/**
 * A turn's events as the body of a response.
 */
import { invalidValue } from '../errors.js';
import { type EventLog, lost } from './event-log.js';
import type { TurnEncoder } from './turn-encoder.js';

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

/** A turn with a response. */
export interface ServedTurn {
  readonly log: EventLog;
  /** The client has gone away, or cannot be told the rest, and the turn is to be aborted. */
  abort(): void;
  /** Calls a function when there may be more. Default: that of the log. */
  onMore?(call: () => void): void;
  /** The error that ends the response before the turn; undefined for none. */
  fault?(): Error | undefined;
}

/** Bytes that are kept for replay unless the options say otherwise. */
export const MAX_REPLAY = 8 * 2 ** 20;
/** Characters in a piece of the body, unless a single event has more. */
const PIECE = 65_536;
/** Milliseconds of silence after which a comment shows that the connection lives. */
const SILENCE = 15_000;

const utf8 = new TextEncoder();

/** The response with a turn's events. It reads no faster than its client. */
export function turnResponse(turn: ServedTurn, options: TurnResponseOptions = {}): Response {
  const body = turnBody(turn, options);
  const headers = new Headers(options.headers);
  headers.set('content-type', 'text/event-stream');
  // Whoever gathers or compresses the events would hold them back.
  headers.set('cache-control', 'no-store, no-transform');
  headers.set('x-accel-buffering', 'no');
  return new Response(body, { headers });
}

function turnBody(turn: ServedTurn, options: TurnResponseOptions): ReadableStream<Uint8Array> {
  const { onDisconnect = 'abort', signal, maxReplayBytes = MAX_REPLAY } = options;
  if (onDisconnect !== 'abort' && onDisconnect !== 'continue') {
    throw invalidValue('onDisconnect', 'must be "abort" or "continue"');
  }
  if (!(maxReplayBytes > 0)) throw invalidValue('maxReplayBytes', 'must be a positive number');
  const after = lastEventIdOf(options.lastEventId);
  const { log } = turn;
  log.keep(maxReplayBytes);
  let encoder!: TurnEncoder;
  let next = -1;
  let gone = false;
  let wake: () => void = () => undefined;
  const leave = (): void => {
    if (gone) return;
    gone = true;
    wake();
    signal?.removeEventListener('abort', leave);
    if (onDisconnect === 'abort' && log.end === undefined) turn.abort();
  };
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave);

  /** What the client is to get. @throws what ends the response */
  const read = (): string => {
    if (next < 0) {
      // Some that the client has may be gone.
      next = log.first;
      if ((log.at(next)?.seq ?? 0) > after + 1 && next > 0) throw lost();
    }
    let text = '';
    for (let event; text.length < PIECE && (event = log.at(next)) !== undefined; next++) {
      if (event.seq > after) text += encoder.event(event);
    }
    if (text === '' && log.end === undefined) {
      const fault = turn.fault?.();
      if (fault !== undefined) throw fault;
    }
    return text;
  };
  /** Waits for more. @returns whether nothing came for a long time */
  const silence = async (): Promise<boolean> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silent = await new Promise<boolean>((resolve) => {
      wake = () => resolve(false);
      timer = setTimeout(() => resolve(true), SILENCE);
      if (turn.onMore === undefined) log.onMore(wake);
      else turn.onMore(wake);
    });
    clearTimeout(timer);
    return silent;
  };
  const piece = async (): Promise<string> => {
    let text = read();
    while (text === '' && log.end === undefined && !gone) {
      text = (await silence()) ? `${encoder.close()}:\n` : read();
    }
    if (text !== '' || gone) return text;
    gone = true;
    signal?.removeEventListener('abort', leave);
    return encoder.end(log.end!);
  };
  return new ReadableStream<Uint8Array>({
    async start() {
      const { TurnEncoder } = await import('./turn-encoder.js');
      encoder = new TurnEncoder(after);
    },
    async pull(body) {
      let text: string;
      try {
        text = await piece();
      } catch (error) {
        text = encoder.fault(error);
        leave();
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
    const shown = JSON.stringify(given);
    throw invalidValue('lastEventId', `must be the number of an event, not ${shown}`);
  }
  return id;
}
