/**
 * Reads a turn from the response of a server.
 */
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import type { TurnStream } from '../runners/turn-stream.js';
import { errorFromJSON, isMembers, malformed } from '../sse/event-from-json.js';
import { TurnDecoder } from '../sse/turn-decoder.js';
import type { TurnEnd } from '../sse/turn-end.js';
import { type RemoteInput, RemoteRunner } from './remote-runner.js';

/** Characters of a server's refusal that an error shows. */
const SHOWN = 200;

/**
 * The turn whose events a server sends: the answer to a request that a `toResponse` of the server gave. Its loop and
 * its result are like those of a turn that runs here. Aborting it closes the connection. Gates are shown but cannot be
 * settled: a response does not say where an answer goes.
 *
 * @throws TurncoreError E_INVALID_VALUE unless it is a response
 */
export function readTurnStream<Output = unknown>(response: Response): TurnStream<Output> {
  requireResponse(response, 'response', 'must be a Response');
  const runner = new RemoteRunner<RemoteInput, Output>({
    start: async (turn) => {
      const decoder = new TurnDecoder(turn);
      await readInto(decoder, response, turn.signal);
      if (decoder.end !== undefined) return decoder.end;
      if (turn.signal.aborted) return ABORTED;
      throw cut(decoder);
    },
    settle: (_, gateId) => Promise.reject(TurncoreError.of('E_TURN_GATE_READ_ONLY', gateId)),
  });
  return runner.stream({});
}

/** @throws TurncoreError E_INVALID_VALUE unless a value is a response, of whatever realm. @param field its name */
export function requireResponse(value: unknown, field: string, why: string): Response {
  const { ok, headers } = (value ?? {}) as Partial<Response>;
  if (typeof ok !== 'boolean' || typeof headers?.get !== 'function') throw invalidValue(field, why);
  return value as Response;
}

/** The end of a turn whose reader has stopped to listen. */
export const ABORTED: TurnEnd = {
  status: 'aborted',
  iterations: 0,
  error: undefined,
  object: undefined,
};

/** The error for a connection that ended before its turn. */
export function cut(decoder: TurnDecoder): TurncoreError {
  return TurncoreError.of('E_TURN_STREAM_CUT', `after event ${decoder.lastEventId}`);
}

/**
 * Reads a response to its end, to the turn's end, or until a signal aborts.
 *
 * @throws TurncoreError E_TURN_STREAM_MALFORMED; E_TURN_REQUEST_REFUSED or the server's own error, for a response that
 *   is a refusal; E_TURN_STREAM_CUT when the connection fails
 */
export async function readInto(
  decoder: TurnDecoder,
  response: Response,
  signal: AbortSignal,
): Promise<void> {
  await requireEvents(response);
  const body = response.body?.getReader();
  if (body === undefined) throw malformed('the response has no body');
  const cancel = (): void => void body.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    for (;;) {
      const bytes = await nextOf(body, signal);
      if (bytes === undefined) return;
      decoder.write(bytes);
      if (decoder.end !== undefined) return;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** The next bytes of a body; undefined at its end. */
async function nextOf(
  body: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    const { value } = await body.read();
    return value;
  } catch (cause) {
    if (signal.aborted) return undefined;
    throw TurncoreError.of('E_TURN_STREAM_CUT', messageOf(cause), { cause });
  }
}

/** @throws TurncoreError (rejects) unless a response has the events of a turn */
async function requireEvents(response: Response): Promise<void> {
  if (!response.ok) throw await refusalOf(response);
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\s*(;|$)/i.test(type)) return;
  await response.body?.cancel().catch(() => undefined);
  throw malformed(`its content type is ${type === '' ? 'missing' : JSON.stringify(type)}`);
}

/** The error that a response with a status of failure has. */
export async function refusalOf(response: Response): Promise<Error> {
  const text = await response.text().catch(() => '');
  try {
    const json: unknown = JSON.parse(text);
    const error = isMembers(json) ? errorFromJSON(json['error']) : undefined;
    if (error instanceof TurncoreError) return error;
  } catch {
    // A proxy's page, for example.
  }
  const said = text.replace(/\s+/g, ' ').trim().slice(0, SHOWN);
  const status = `${response.status} ${response.statusText}`.trim();
  return TurncoreError.of('E_TURN_REQUEST_REFUSED', said === '' ? status : `${status}: ${said}`, {
    status: response.status,
    details: { status: response.status },
  });
}
