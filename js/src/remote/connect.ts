/**
 * A runner whose turns run on a server.
 */
import { invalidValue, isTurncoreError, messageOf, TurncoreError } from '../errors.js';
import { errorJSON } from '../events/error-json.js';
import type { Settlement } from '../events/turn-gate.js';
import type { TypeRules } from '../abi/rules.gen.js';
import type { Awaitable } from '../awaitable.js';
import { TurnDecoder } from '../sse/turn-decoder.js';
import type { TurnEnd } from '../sse/turn-end.js';
import { copyValue } from '../stash/copy-value.js';
import { check } from '../validation/rules.js';
import { headerViolations } from './options.js';
import { ABORTED, cut, readInto, refusalOf, requireResponse } from './read-turn-stream.js';
import {
  type RemoteInput,
  RemoteRunner,
  type RemoteTurn,
  type TurnPlace,
} from './remote-runner.js';

/** The input of a turn on a server. What more it may have the server says; it is sent as JSON. */
export interface ServerInput extends RemoteInput {
  readonly message?: string | undefined;
  /** Its conversation. */
  readonly sessionId?: string | undefined;
  readonly [name: string]: unknown;
}

/** Options of {@link connect}. */
export interface ConnectOptions {
  /** Headers of every request, or a function that gives them: a token, for example. */
  readonly headers?: RequestHeaders | (() => Awaitable<RequestHeaders>) | undefined;
  /** Whether requests send cookies to another origin. Default: as fetch does. */
  readonly credentials?: RequestCredentials | undefined;
  /** Sends the requests. Default: the platform's fetch. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** How many times in a row a connection may fail, for a turn, without an event between. Default 5. */
  readonly retries?: number | undefined;
  /** Milliseconds before a connection is tried again, by the number of failures in a row, from 1. */
  readonly retryDelay?: ((failures: number) => number) | undefined;
}

/** Headers of a request. */
export type RequestHeaders = ConstructorParameters<typeof Headers>[0];

const rules = {
  title: 'options of connect',
  code: 'E_INVALID_VALUE',
  fields: {
    headers: { kind: 'any' },
    credentials: { kind: 'string', enum: ['omit', 'same-origin', 'include'] },
    fetch: { kind: 'function' },
    retries: { kind: 'count' },
    retryDelay: { kind: 'function' },
  },
} as const satisfies TypeRules;

/** Milliseconds that a server has to tell the end of an aborted turn. */
const PATIENCE = 5000;
/** Statuses of servers and proxies that may answer a moment later. */
const PASSING: readonly number[] = [408, 425, 429, 502, 503, 504];

/**
 * A runner whose turns run on a server, behind a `createTurnServer`, or `remote.Server` in Go. Code that uses it does
 * not see where turns run. When the connection breaks, it reads on where it was, as long as the turn lives.
 *
 * @param url the address of the server's turns, such as `https://example.com/turns`. In a page it may be relative
 * @throws TurncoreError E_INVALID_VALUE for an invalid address or option
 */
export function connect<Output = unknown>(
  url: string | URL,
  options: ConnectOptions = {},
): RemoteRunner<ServerInput, Output> {
  return new RemoteRunner(new Server(url, options));
}

class Server implements TurnPlace<ServerInput> {
  readonly #url: string;
  readonly #options: ConnectOptions;
  readonly #retries: number;

  constructor(url: string | URL, options: ConnectOptions) {
    this.#url = addressOf(url);
    this.#options = check(rules, options, {
      also: ({ headers }) => (typeof headers === 'function' ? [] : headerViolations(headers)),
    }) as ConnectOptions;
    this.#retries = this.#options.retries ?? 5;
  }

  start(turn: RemoteTurn<ServerInput>): Promise<TurnEnd> {
    let body: string;
    try {
      body = JSON.stringify({ ...turn.input, turnId: turn.id });
    } catch (cause) {
      const why = 'must be JSON-like data for a turn on a server';
      throw TurncoreError.of('E_INVALID_VALUE', `input: ${why}`, {
        details: { field: 'input' },
        cause,
      });
    }
    return this.#follow(turn, body);
  }

  async settle(turnId: string, gateId: string, settlement: Settlement): Promise<void> {
    const path = `${encodeURIComponent(turnId)}/gates/${encodeURIComponent(gateId)}`;
    await this.#post(path, answerOf(settlement));
  }

  /** Reads a turn to its end, by as many responses as it takes. */
  async #follow(turn: RemoteTurn<ServerInput>, body: string): Promise<TurnEnd> {
    const decoder = new TurnDecoder(turn);
    // What cuts the connection: the caller's abort does so only when the server cannot be told, or does not answer.
    const cutter = new AbortController();
    const begun = deferred();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asked = false;
    const ask = (): void => {
      asked = true;
    };
    const abort = (): void => {
      if (!asked) {
        cutter.abort();
        return;
      }
      timer = setTimeout(() => cutter.abort(), PATIENCE);
      const told = begun.promise.then(() =>
        this.#post(`${encodeURIComponent(turn.id)}/abort`, '{}', cutter.signal),
      );
      told.catch(() => cutter.abort());
    };
    turn.signal.addEventListener('abort', abort, { once: true });
    if (turn.signal.aborted) abort();
    let started = false;
    try {
      await Promise.resolve(); // an abort right after the call comes before the request
      for (let failures = 0; ;) {
        const before = decoder.lastEventId;
        try {
          const response: Response = started
            ? await this.#events(turn.id, before, cutter.signal)
            : await this.#send('', { method: 'POST', body, signal: cutter.signal }, ask);
          if (!started && isPassing(response)) throw passing(await refusalOf(response));
          started ||= response.ok;
          begun.resolve();
          decoder.resume();
          await readInto(decoder, response, cutter.signal);
          if (decoder.end !== undefined) return decoder.end;
          throw cut(decoder);
        } catch (error) {
          if (cutter.signal.aborted) return ABORTED;
          if (!isTurncoreError(error, 'E_TURN_STREAM_CUT')) throw error;
          failures = decoder.lastEventId > before ? 1 : failures + 1;
          if (failures > this.#retries) throw error;
          await delay(this.#delay(failures), cutter.signal);
        }
      }
    } finally {
      begun.resolve();
      clearTimeout(timer);
      cutter.abort();
      turn.signal.removeEventListener('abort', abort);
    }
  }

  async #events(turnId: string, after: number, signal: AbortSignal): Promise<Response> {
    const headers = { 'last-event-id': String(after) };
    const path = `${encodeURIComponent(turnId)}/events`;
    const response = await this.#send(path, { method: 'GET', headers, signal });
    if (isPassing(response)) throw passing(await refusalOf(response));
    return response;
  }

  /** @throws TurncoreError (rejects) the server's refusal */
  async #post(path: string, body: string, signal?: AbortSignal): Promise<void> {
    const init = { method: 'POST', body, ...(signal === undefined ? {} : { signal }) };
    const response = await this.#send(path, init);
    if (!response.ok) throw await refusalOf(response);
    await response.body?.cancel().catch(() => undefined);
  }

  /**
   * Sends a request, unless it is aborted before.
   *
   * @param asked is called when it is sent
   * @throws TurncoreError (rejects) E_TURN_STREAM_CUT if there is no response
   */
  async #send(path: string, init: RequestInit, asked?: () => void): Promise<Response> {
    const { headers: given, credentials, fetch: send = fetch } = this.#options;
    const headers = new Headers(typeof given === 'function' ? await given() : given);
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    if (init.body !== undefined) headers.set('content-type', 'application/json');
    const more = credentials === undefined ? {} : { credentials };
    let response: Response;
    try {
      init.signal?.throwIfAborted();
      asked?.();
      response = await send(path === '' ? this.#url : `${this.#url}/${path}`, {
        ...init,
        ...more,
        headers,
        cache: 'no-store',
      });
    } catch (cause) {
      throw TurncoreError.of('E_TURN_STREAM_CUT', messageOf(cause), { cause });
    }
    return requireResponse(response, 'fetch', 'must return a Response');
  }

  #delay(failures: number): number {
    const { retryDelay } = this.#options;
    if (retryDelay !== undefined) return retryDelay(failures);
    const most = Math.min(250 * 2 ** failures, 8000);
    return most / 2 + (Math.random() * most) / 2;
  }
}

/** The address of a server's turns, without a slash at its end. @throws TurncoreError E_INVALID_VALUE */
function addressOf(given: string | URL): string {
  const { location } = globalThis as { readonly location?: { readonly href?: string } };
  let url: URL;
  try {
    url = new URL(given, location?.href);
  } catch {
    throw invalidValue('url', `must be an address, not ${JSON.stringify(String(given))}`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidValue('url', `must begin with http: or https:, not ${url.protocol}`);
  }
  if (url.search !== '' || url.hash !== '') throw invalidValue('url', 'must have no query');
  return url.href.replace(/\/$/, '');
}

/**
 * How a gate is to be settled, as the server takes it.
 *
 * @throws TurncoreError E_INVALID_VALUE for a value that a gate here refuses, and for bytes
 */
function answerOf(settlement: Settlement): string {
  switch (settlement.by) {
    case 'resolve': {
      const { digest } = settlement;
      const value = copyValue(settlement.value, 'value');
      return JSON.stringify(digest === '' ? { value } : { value, digest }, asHere);
    }
    case 'reject':
      return JSON.stringify({ error: errorJSON(settlement.error) });
    case 'abort':
      return '{"abort":true}';
  }
}

/** Makes JSON of parts of a value: a Date is milliseconds, as for a gate here. */
function asHere(this: Readonly<Record<string, unknown>>, key: string, json: unknown): unknown {
  const given = this[key];
  if (given instanceof Date) return given.getTime();
  if (given instanceof Uint8Array) throw invalidValue('value', 'bytes cannot be sent as JSON');
  return json;
}

/** Whether a response is a refusal that may not last. */
function isPassing(response: Response): boolean {
  return !response.ok && PASSING.includes(response.status);
}

/** The error for a refusal that may not last: an error of Turncore's is final. */
function passing(refusal: Error): Error {
  if (!isTurncoreError(refusal, 'E_TURN_REQUEST_REFUSED')) return refusal;
  return TurncoreError.of('E_TURN_STREAM_CUT', refusal.message, { cause: refusal });
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  return { promise: new Promise((given) => (resolve = given)), resolve: () => resolve() };
}

/** Waits, or until a signal aborts. */
async function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
