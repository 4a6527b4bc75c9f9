/**
 * Effects whose answers come in parts: requests, and the host's own engines of models.
 */
import { Redirect } from '../abi/frames.gen.js';
import {
  type EffectFrame,
  type HTTPArgs,
  type ModelArgs,
  writeChunk,
} from '../codec/tuples.gen.js';
import { ChatExecutor } from '../chat/chat-executor.js';
import type { ModelEngine } from '../chat/model-engine.js';
import { type ProviderAPI, PROVIDERS } from '../chat/providers.gen.js';
import { isTurncoreError, messageOf, TurncoreError } from '../errors.js';
import { HttpExchange, type HttpListener } from '../http/exchange.js';
import { insertMedia, mediaSplices } from '../http/splice.js';
import { fetchAddresses } from '../tools/catalogue.js';
import type { Effect } from './effect.js';
import { ModelEffect } from './model.js';
import type { NamedModelCall } from './contract.js';
import { ModelCalls } from './model-calls.js';
import type { ModelInvocation } from './wrap.js';
import { type Answering, WrappedStream } from './wrapped-stream.js';

/** Makes a request, and passes its answer on as it comes. */
export function runHttp(effect: Effect, args: HTTPArgs, { ordinal }: EffectFrame): void {
  const { http } = effect.turn;
  const allowedOrigins = http.allowedOrigins ?? originsOf(effect);
  const settings = { ...http, allowedOrigins };
  const told = askedModel(effect, args, ordinal);
  const listener = streamed(effect, told);
  const exchange = new HttpExchange(settings, args, listener, recordsOf(effect));
  const { wrapModel } = effect.state.definition.wrappers;
  if (told === undefined || wrapModel.length === 0) {
    startStream(effect, exchange, told);
    return;
  }
  const body = args.body ?? new Uint8Array();
  const splices = mediaSplices(args.splices, body.length, recordsOf(effect));
  const prepare = async (signal: AbortSignal): Promise<ModelInvocation> => ({
    ...placeOf(effect, told, signal),
    method: args.method,
    url: args.url,
    headers: Object.fromEntries(args.headers as [string, string][]),
    body: new TextDecoder().decode(await insertMedia(body, splices, signal)),
  });
  const answer = (call: ModelInvocation, to: HttpListener): HttpExchange => {
    const { method, url, headers } = call;
    const sent = new TextEncoder().encode(call.body);
    const list = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
    const changed = { ...args, method, url, headers: list, body: sent, splices: [] };
    return new HttpExchange(settings, changed, to);
  };
  const explain = (error: unknown): unknown =>
    isTurncoreError(error)
      ? error
      : TurncoreError.of('E_HTTP_TRANSPORT', messageOf(error), { cause: error });
  startStream(effect, new WrappedStream(wrapModel, prepare, answer, listener, explain, true), told);
}

/**
 * The call of a model that a request is; undefined for one of a tool, which follows redirects itself. Of an agent's
 * requests, where they go and with what key tells it.
 */
function askedModel(
  { state }: Effect,
  args: HTTPArgs,
  attempt: number,
): NamedModelCall | undefined {
  const { executor } = state.definition;
  if (!(executor instanceof ChatExecutor)) return undefined;
  const own = args.redirect === Redirect.Follow && executor.options;
  const asked = executor.asked ? executor.asked(args) : own;
  if (!asked) return undefined;
  const { provider = 'openai', model } = asked;
  return { provider: String(provider), model, attempt };
}

/** What a call has in common, whatever answers it. */
function placeOf(
  { turn, state }: Effect,
  told: NamedModelCall,
  signal: AbortSignal,
): Omit<ModelInvocation, 'method' | 'url' | 'headers' | 'body'> {
  const { publicTurnId: turnId } = turn;
  return { ...told, turnId, dispatchId: state.id, iteration: state.iteration, signal };
}

/**
 * The origins that the program names for a dispatch: the chat executor's API, and the addresses of its fetch tools.
 * Undefined if only the module knows the API's address.
 */
function originsOf({ turn, state }: Effect): string[] | undefined {
  const { executor } = state.definition;
  const origins = turn.tools.all().flatMap(fetchAddresses);
  if (!(executor instanceof ChatExecutor)) return origins;
  const { provider = 'openai', baseURL } = executor.options;
  const known: Readonly<Record<string, ProviderAPI>> = PROVIDERS;
  const address = baseURL ?? known[String(provider)]?.baseURL;
  return typeof address === 'string' ? [...origins, address] : undefined;
}

/** Runs an engine of the host, and passes its answer on as it comes. */
export function runModel(effect: Effect, args: ModelArgs, { ordinal }: EffectFrame): void {
  const { executor, wrappers } = effect.state.definition;
  const { wrapModel } = wrappers;
  const engineOf = (name: string): ModelEngine | undefined =>
    executor instanceof ChatExecutor ? executor.engineOf(name) : undefined;
  const told = { provider: undefined, model: args.model, attempt: ordinal };
  const listener = streamed(effect, told);
  const stream = new ModelEffect(engineOf, args, listener, recordsOf(effect));
  if (wrapModel.length === 0) {
    startStream(effect, stream, told);
    return;
  }
  const body = args.body ?? new Uint8Array();
  const splices = mediaSplices(args.splices, body.length, recordsOf(effect));
  const prepare = async (signal: AbortSignal): Promise<ModelInvocation> => ({
    ...placeOf(effect, told, signal),
    method: '',
    url: '',
    headers: {},
    body: new TextDecoder().decode(await insertMedia(body, splices, signal)),
  });
  const answer = (call: ModelInvocation, to: HttpListener): ModelEffect =>
    new ModelEffect(
      engineOf,
      { ...args, body: new TextEncoder().encode(call.body), splices: [] },
      to,
    );
  const explain = (error: unknown): unknown =>
    isTurncoreError(error)
      ? error
      : TurncoreError.of('E_MODEL_FAILED', messageOf(error), { cause: error });
  startStream(
    effect,
    new WrappedStream(wrapModel, prepare, answer, listener, explain, false),
    told,
  );
}

/** Finds the records of a turn by their handles. */
function recordsOf({ turn }: Effect): (handle: number) => unknown {
  return (handle) => turn.handles.entryOf(handle);
}

/** Passes a stream on to the module, and settles the effect at its end. */
function streamed(effect: Effect, told: NamedModelCall | undefined): HttpListener {
  const { turn, number } = effect;
  let status: number | undefined;
  const ended = (error?: unknown): void => {
    turn.requests?.delete(number);
    if (told !== undefined) effect.sent = () => turn.models?.end(number, { status, error });
  };
  return {
    head: (code, headers) => {
      status = code;
      sendChunk(effect, code, headers, null);
    },
    data: (bytes) => sendData(effect, bytes),
    done: () => {
      ended();
      effect.settle();
    },
    failed: (error) => {
      ended(error);
      effect.fail(error);
    },
  };
}

/** Starts a stream. Whoever listens to calls of models is told of it first. */
function startStream(effect: Effect, stream: Answering, told: NamedModelCall | undefined): void {
  const { turn, number, state } = effect;
  if (
    told !== undefined &&
    (turn.listens('modelCallStart', state) || turn.listens('modelCallEnd', state))
  ) {
    (turn.models ??= new ModelCalls(turn)).begin(effect, told);
  }
  const cancel = (): void => {
    if (!turn.ended) turn.models?.end(number, { aborted: true });
    stream.cancel();
  };
  (turn.requests ??= new Map<number, { cancel(): void }>()).set(number, { cancel });
  void stream.run();
}

/** Sends a part of an answer in chunks within the limits. */
function sendData(effect: Effect, bytes: Uint8Array): void {
  const { frame, string } = effect.turn.core.instance.limits;
  const most = Math.min(frame - 64, string);
  for (let at = 0; at < bytes.length; at += most) {
    sendChunk(effect, 0, [], bytes.subarray(at, at + most));
  }
}

function sendChunk(
  { turn, number: effect }: Effect,
  status: number,
  headers: readonly (readonly [string, string])[],
  data: Uint8Array | null,
): void {
  if (turn.ended || !turn.core.alive) return;
  const enc = turn.core.frame();
  const elapsed = turn.elapsed();
  writeChunk(enc, { turn: turn.number, effect, elapsed, status, headers, data });
  turn.core.sendAndDrain(turn, enc);
}
