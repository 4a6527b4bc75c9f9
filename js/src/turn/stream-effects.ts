/**
 * Effects whose answers come in parts: requests, and the host's own engines of models.
 */
import { type HTTPArgs, type ModelArgs, writeChunk } from '../codec/tuples.gen.js';
import { ChatExecutor } from '../chat/chat-executor.js';
import type { ModelEngine } from '../chat/model-engine.js';
import { type ProviderAPI, PROVIDERS } from '../chat/providers.gen.js';
import { HttpExchange } from '../http/exchange.js';
import { fetchAddresses } from '../tools/catalogue.js';
import type { Effect } from './effect.js';
import { ModelEffect, type ModelListener } from './model.js';

/** Makes a request, and passes its answer on as it comes. */
export function runHttp(effect: Effect, args: HTTPArgs): void {
  const { http } = effect.turn;
  const allowedOrigins = http.allowedOrigins ?? originsOf(effect);
  const listener = {
    head: (status: number, headers: readonly (readonly [string, string])[]) =>
      sendChunk(effect, status, headers, null),
    ...streamed(effect),
  };
  const settings = { ...http, allowedOrigins };
  startStream(effect, new HttpExchange(settings, args, listener, recordsOf(effect)));
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
export function runModel(effect: Effect, args: ModelArgs): void {
  const { executor } = effect.state.definition;
  const engineOf = (name: string): ModelEngine | undefined =>
    executor instanceof ChatExecutor && executor.options.model === name
      ? executor.engine
      : undefined;
  startStream(effect, new ModelEffect(engineOf, args, streamed(effect), recordsOf(effect)));
}

/** Finds the records of a turn by their handles. */
function recordsOf({ turn }: Effect): (handle: number) => unknown {
  return (handle) => turn.handles.entryOf(handle);
}

/** Passes a stream on to the module, and settles the effect at its end. */
function streamed(effect: Effect): ModelListener {
  const { turn, number } = effect;
  return {
    data: (bytes) => sendData(effect, bytes),
    done: () => {
      turn.requests?.delete(number);
      effect.settle();
    },
    failed: (error) => {
      turn.requests?.delete(number);
      effect.fail(error);
    },
  };
}

function startStream({ turn, number }: Effect, stream: HttpExchange | ModelEffect): void {
  (turn.requests ??= new Map<number, HttpExchange | ModelEffect>()).set(number, stream);
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
