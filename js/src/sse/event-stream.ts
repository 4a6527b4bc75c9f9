/**
 * Server-sent events that a program makes itself.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import { invalidValue } from '../errors.js';
import { check } from '../validation/rules.js';
import { SILENCE } from './silence.js';
import { eventHeaders, type TurnResponseOptions } from './turn-response.js';

/** A server-sent event. */
export interface EventBlock {
  /** Its kind. Default: none, which readers take for `message`. */
  readonly event?: string | undefined;
  /** What a client that comes back has in the header Last-Event-ID. Default: none. */
  readonly id?: string | undefined;
  /** What it says, such as JSON. */
  readonly data: string;
}

/** Options of {@link eventStream}. */
export interface EventStreamOptions {
  /** The request's signal: it says that the client has gone away. */
  readonly signal?: AbortSignal | null | undefined;
  /**
   * Is called when the client has gone away, or an error has cut the response. Abort here what makes the events: it may
   * be waiting, and learns nothing of it before its next one.
   */
  readonly onGone?: (() => void) | undefined;
  /** Milliseconds of silence after which a comment shows that the connection lives. Default 15,000. */
  readonly silenceMs?: number | undefined;
  /** Additional headers. */
  readonly headers?: TurnResponseOptions['headers'];
}

const rules = {
  title: 'options',
  code: 'E_INVALID_VALUE',
  fields: {
    signal: { kind: 'any' },
    onGone: { kind: 'function' },
    silenceMs: { kind: 'number', min: 1, max: 2 ** 31 - 1 },
    headers: { kind: 'any' },
  },
} as const satisfies TypeRules;

const utf8 = new TextEncoder();
const COMMENT = utf8.encode(':\n');

/**
 * The response with a program's own events, such as those of an invocation. Each is asked for when the client has
 * taken the one before. In long silences it has comments, as a turn's response has: proxies take the connection for
 * alive, and a host notices by them that the client has gone away. Then `onGone` is called, and the events' `return`.
 *
 * An error of the events cuts the response: catch it in their generator, and tell it as an event.
 *
 * @throws TurncoreError E_INVALID_VALUE, listing every invalid option
 */
export function eventStream(
  events: AsyncIterable<EventBlock>,
  given: EventStreamOptions = {},
): Response {
  const options = check(rules, given) as EventStreamOptions;
  const headers = eventHeaders(options.headers);
  return new Response(bodyOf(events, options), { headers });
}

function bodyOf(
  events: AsyncIterable<EventBlock>,
  { signal, onGone, silenceMs = SILENCE }: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const iterator = events[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<EventBlock>> | undefined;
  let ended = false;
  let wake: (() => void) | undefined;
  const end = (): void => {
    ended = true;
    signal?.removeEventListener('abort', leave);
  };
  const leave = (): void => {
    if (ended) return;
    end();
    wake?.();
    onGone?.();
    // It may wait for the event that is asked for.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  };
  /** Waits for the next event. @returns whether there is one, which a long silence or the client's end comes before */
  const comes = async (): Promise<boolean> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silent = new Promise<boolean>((resolve) => {
      wake = () => resolve(false);
      timer = setTimeout(wake, silenceMs);
    });
    next ??= iterator.next();
    try {
      return await Promise.race([next.then(() => true), silent]);
    } finally {
      clearTimeout(timer);
    }
  };
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave);
  return new ReadableStream<Uint8Array>(
    {
      async pull(body) {
        try {
          const come = !ended && (await comes());
          if (ended) {
            body.close();
          } else if (come) {
            const read = await next!;
            next = undefined;
            if (read.done !== true) {
              body.enqueue(utf8.encode(blockOf(read.value)));
              return;
            }
            end();
            body.close();
          } else {
            body.enqueue(COMMENT);
          }
        } catch (error) {
          leave();
          throw error;
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}

function blockOf({ event, id, data }: EventBlock): string {
  const lines = data.split(/\r\n|[\r\n]/u).map((line) => `data:${line}\n`);
  return `${lineOf('event', event)}${lines.join('')}${lineOf('id', id)}\n`;
}

/** @throws TurncoreError E_INVALID_VALUE for a text with a line break or a null character */
function lineOf(name: string, text: string | undefined): string {
  if (text === undefined) return '';
  if (/[\r\n\0]/u.test(text)) throw invalidValue(name, 'must be a line');
  return `${name}:${text}\n`;
}
