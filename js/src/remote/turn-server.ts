/**
 * Answers the requests of clients that run turns here.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { Awaitable } from '../awaitable.js';
import { systemClock, systemEntropy, UUID_ENTROPY, uuidv6 } from '../entropy.js';
import { invalidValue, TurncoreError } from '../errors.js';
import { errorJSON } from '../events/error-json.js';
import type { TurnGate, TurnGateClosedEvent } from '../events/turn-gate.js';
import type { TurnStream } from '../runners/turn-stream.js';
import { errorFromJSON, type Members } from '../sse/event-from-json.js';
import {
  lastEventIdOf,
  MAX_REPLAY,
  type OnDisconnect,
  turnResponse,
  type TurnResponseOptions,
} from '../sse/turn-response.js';
import { check } from '../validation/rules.js';
import { byteViolations, headerViolations } from './options.js';
import { HALF } from './remote-runner.js';
import { ServedTurns } from './served-turns.js';
import { invalidRequest, MAX_BODY, objectIn } from './request-body.js';
import type { LiveTurn } from './live-turn.js';

/** The runner of a server's turns, such as that of `createRunner`. */
export interface ServedRunner<Input> {
  stream(input: Input): TurnStream;
  gate(id: string, turnId?: string): TurnGate | undefined;
  observe(name: 'turnGateClosed', listener: (event: TurnGateClosedEvent) => void): unknown;
}

/** Options of a turn server. */
export interface TurnServerOptions<Input> {
  /**
   * Makes a turn's input of the body of its request: here is the place for more members, and to see who asks. Default:
   * `message`, a text that is not empty, and `sessionId`. The turn's id is added.
   *
   * What it throws becomes the response. Of an error it has the code, the message and the causes, and its `status` from
   * 400 to 599, or 500. A thrown Response is the answer itself.
   */
  readonly input?:
    | ((
        body: Readonly<Record<string, unknown>>,
        request: Request,
      ) => Awaitable<Omit<Input, 'turnId'>>)
    | undefined;
  /** What happens to a turn when its last client goes away. Default `abort`. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /**
   * About how many bytes of events are kept for slow clients and for those that come back: of each turn that runs, and
   * of all that have ended. Default 8 MiB.
   */
  readonly maxReplayBytes?: number | undefined;
  /** Bytes of a request's body at most. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Headers of every response, such as those of CORS. */
  readonly headers?: TurnResponseOptions['headers'];
}

/** Answers requests. */
export interface TurnServer {
  /**
   * Answers a request whose path ends with `/turns`, `/turns/{turn}/events`, `/turns/{turn}/gates/{gate}` or
   * `/turns/{turn}/abort`. It never rejects: every error is a response.
   *
   * @param platform what the platform gives its handler after the request. Pass it on: its `waitUntil` keeps a turn
   *   alive, and a Durable Object's state says that turns outlive their requests
   */
  readonly fetch: (request: Request, ...platform: readonly unknown[]) => Promise<Response>;
}

const rules = {
  title: 'options of createTurnServer',
  code: 'E_INVALID_VALUE',
  fields: {
    input: { kind: 'function' },
    onDisconnect: { kind: 'string', enum: ['abort', 'continue'] },
    maxReplayBytes: { kind: 'any' },
    maxBodyBytes: { kind: 'any' },
    headers: { kind: 'any' },
  },
} as const satisfies TypeRules;

/** Characters of a turn's id at most. */
const ID = 256;
const PATH = /\/turns(?:\/([^/]+)\/(events|abort|gates)(?:\/([^/]+))?)?\/?$/;

/**
 * Makes a server for the clients of `connect`, in the form of a `fetch` handler. It runs turns, lets clients come back
 * to them, settles gates and aborts turns. A turn that is asked for twice, by its id, runs once.
 *
 * Make one server for a runner, not one for a request: it listens to the runner for as long as the runner lives, and
 * knows only the turns that it has started itself.
 *
 * @throws TurncoreError E_INVALID_VALUE for the runner, or listing every invalid option
 */
export function createTurnServer<Input = { readonly message: string }>(
  runner: ServedRunner<Input>,
  options: TurnServerOptions<Input> = {},
): TurnServer {
  const server = new Server(runner, options);
  return { fetch: (request, ...platform) => server.fetch(request, platform) };
}

class Server<Input> {
  readonly #runner: ServedRunner<Input>;
  readonly #options: TurnServerOptions<Input>;
  readonly #turns: ServedTurns;

  constructor(runner: ServedRunner<Input>, options: TurnServerOptions<Input>) {
    const { stream, gate, observe } = (runner ?? {}) as Partial<ServedRunner<Input>>;
    if (![stream, gate, observe].every((method) => typeof method === 'function')) {
      throw invalidValue('runner', 'must be a runner, such as that of createRunner');
    }
    this.#options = check(rules, options, {
      also: ({ headers, ...raw }) => [
        ...['maxReplayBytes', 'maxBodyBytes'].flatMap((name) => byteViolations(name, raw[name])),
        ...headerViolations(headers),
      ],
    }) as TurnServerOptions<Input>;
    this.#runner = runner;
    this.#turns = new ServedTurns(this.#options.maxReplayBytes ?? MAX_REPLAY);
    runner.observe('turnGateClosed', ({ turnId, gateId, result }) => {
      this.#turns.get(turnId ?? '')?.closed.set(gateId, result);
    });
  }

  async fetch(request: Request, platform: readonly unknown[]): Promise<Response> {
    try {
      return await this.#answer(request, platform);
    } catch (error) {
      const headers = new Headers(this.#options.headers);
      if (error instanceof Response) return withHeaders(error, headers);
      if (error instanceof WrongMethod) headers.set('allow', error.allowed);
      return Response.json({ error: errorJSON(error) }, { status: statusOf(error), headers });
    }
  }

  async #answer(request: Request, platform: readonly unknown[]): Promise<Response> {
    const [turnId, what, gateId] = placeOf(request.url);
    const method = what === 'events' ? 'GET' : 'POST';
    if (request.method !== method) throw new WrongMethod(method);
    if (turnId === undefined) return this.#start(request, platform);
    const turn = this.#turns.require(turnId);
    switch (what) {
      case 'events':
        return this.#events(turn, request, false);
      case 'abort':
        await turn.owner.run(() => turn.stream.abort());
        break;
      default:
        await this.#settle(turn, gateId!, await objectIn(request, this.#maxBody));
    }
    return new Response(null, { status: 204, headers: new Headers(this.#options.headers) });
  }

  get #maxBody(): number {
    return this.#options.maxBodyBytes ?? MAX_BODY;
  }

  async #start(request: Request, platform: readonly unknown[]): Promise<Response> {
    const body = await objectIn(request, this.#maxBody);
    const id = turnIdOf(body);
    let turn = this.#turns.find(id);
    let own = false;
    if (turn === undefined) {
      const { input = messageInput } = this.#options;
      const given = (await input(body, request)) as Input;
      // Meanwhile another request may have started it.
      turn = this.#turns.find(id);
      own = turn === undefined;
      turn ??= this.#turns.add(id, this.#runner.stream({ ...given, turnId: id }), platform);
    }
    await turn.begun(own);
    if (turn.refusal !== undefined) {
      this.#turns.delete(id);
      throw turn.refusal;
    }
    return this.#events(turn, request, own);
  }

  /** @param own whether the request runs the turn */
  async #events(turn: LiveTurn, request: Request, own: boolean): Promise<Response> {
    if (!own) await turn.owner.requireAlive();
    const { onDisconnect, maxReplayBytes, headers: more } = this.#options;
    const lastEventId = eventIdIn(request);
    const headers = new Headers(more);
    const { log } = turn.stream;
    if (log.end !== undefined && lastEventId > turn.lastSeq) {
      return new Response(null, { status: 204, headers });
    }
    headers.set('content-location', `${pathOf(request.url)}/${encodeURIComponent(turn.id)}/events`);
    return turnResponse(turn.served(onDisconnect ?? 'abort', own), {
      lastEventId,
      headers,
      maxReplayBytes,
      signal: request.signal,
    });
  }

  async #settle(turn: LiveTurn, id: string, answer: Members): Promise<void> {
    const settle = settlementOf(answer);
    await turn.owner.run(() => {
      const gate = this.#runner.gate(id, turn.id);
      if (gate !== undefined) return settle(gate);
      const result = turn.closed.get(id);
      if (result === undefined) throw TurncoreError.of('E_TURN_GATE_UNKNOWN', id);
      throw TurncoreError.of('E_TURN_GATE_SETTLED', result, { details: { result } });
    });
  }
}

/** The error for a request with another method. */
class WrongMethod extends TurncoreError {
  constructor(readonly allowed: string) {
    super('E_TURN_REQUEST_INVALID', `The request is invalid: the method must be ${allowed}`, {
      status: 405,
    });
  }
}

/** The turn, the resource and the gate that an address names. */
function placeOf(url: string): readonly (string | undefined)[] {
  const found = PATH.exec(new URL(url).pathname);
  const [, turn, what, gate] = found ?? [];
  if (found === null || (what === 'gates') !== (gate !== undefined)) {
    throw invalidRequest('there is nothing at this address', 404);
  }
  try {
    return turn === undefined
      ? []
      : [decodeURIComponent(turn), what, decodeURIComponent(gate ?? '')];
  } catch {
    throw invalidRequest('the address has a wrong escape');
  }
}

/** The path of the turns in an address. */
function pathOf(url: string): string {
  const { pathname } = new URL(url);
  return pathname.slice(0, pathname.lastIndexOf('/turns') + '/turns'.length);
}

function turnIdOf({ turnId }: Members): string {
  if (turnId === undefined) return uuidv6(systemClock(), systemEntropy(UUID_ENTROPY));
  if (typeof turnId === 'string' && turnId !== '' && turnId.length <= ID) {
    if (!HALF.test(turnId)) return turnId;
    throw invalidRequest('`turnId` has half a surrogate pair');
  }
  throw invalidRequest(`\`turnId\` must be a string of 1 to ${ID} characters`);
}

/** The input of a turn unless the server's options say otherwise. */
function messageInput(body: Members): unknown {
  const { message, sessionId } = body;
  if (typeof message !== 'string' || message === '') {
    throw invalidRequest('`message` must be a string that is not empty');
  }
  if (sessionId !== undefined && typeof sessionId !== 'string') {
    throw invalidRequest('`sessionId` must be a string');
  }
  for (const name of Object.keys(body)) {
    if (!['message', 'sessionId', 'turnId'].includes(name)) {
      throw invalidRequest(
        `\`${name}\` is not known: a turn has \`message\`, \`sessionId\` and \`turnId\``,
      );
    }
  }
  return sessionId === undefined ? { message } : { message, sessionId };
}

/** How a request wants a gate to be settled. */
function settlementOf(answer: Members): (gate: TurnGate) => unknown {
  const { value, digest, error, abort } = answer;
  for (const name of Object.keys(answer)) {
    if (!['value', 'digest', 'error', 'abort'].includes(name)) {
      throw invalidRequest(
        `\`${name}\` is not known: an answer has \`value\` and \`digest\`, \`error\`, or \`abort\``,
      );
    }
  }
  const given = ['value', 'error', 'abort'].filter((name) => name in answer);
  if (given.length !== 1) {
    throw invalidRequest('an answer has exactly one of `value`, `error` and `abort`');
  }
  if (digest !== undefined && typeof digest !== 'string') {
    throw invalidRequest('`digest` must be a string');
  }
  if (digest !== undefined && !('value' in answer)) {
    throw invalidRequest('`digest` binds a `value`: it has no meaning without one');
  }
  if ('value' in answer) {
    return (gate) => gate.resolve(value, digest === undefined ? undefined : { digest });
  }
  if ('error' in answer) {
    const reason = errorFromJSON(error);
    if (reason === undefined) throw invalidRequest('`error` must have a `code` and a `message`');
    return (gate) => gate.reject(reason);
  }
  if (abort !== true) throw invalidRequest('`abort` must be true');
  return (gate) => gate.abort();
}

function eventIdIn(request: Request): number {
  const given = request.headers.get('last-event-id');
  try {
    return lastEventIdOf(given === null || given.trim() === '' ? 0 : given);
  } catch {
    throw invalidRequest('the header Last-Event-ID must be the number of an event');
  }
}

/** A response with the headers of every response. */
function withHeaders(given: Response, more: Headers): Response {
  const headers = new Headers(given.headers);
  for (const [name, value] of more) headers.set(name, value);
  const { body, status, statusText } = given;
  return new Response(body, { status, statusText, headers });
}

/** The status of the response with an error. */
function statusOf(error: unknown): number {
  const { code, status } = (error ?? {}) as Partial<TurncoreError>;
  if (code === 'E_INVALID_TURN_GATE_RESOLUTION') return 422;
  // The request's body has made the input.
  if (code === 'E_INVALID_TURN_CONTEXT') return 400;
  return Number.isInteger(status) && status! >= 400 && status! < 600 ? status! : 500;
}
