/**
 * Effects: what the module asks its host to do. Each runs user code and sends a Result.
 */
import { EffectKind, Method, Status, Write } from '../abi/frames.gen.js';
import {
  type CommitArgs,
  type Delta as WireDelta,
  type DiscardArgs,
  type EffectFrame,
  type ExecutorArgs,
  type HTTPArgs,
  type MiddlewareArgs,
  type ModelArgs,
  type ToolArgs,
  type ValidateArgs,
  writeChunk,
  writeCommitResult,
} from '../codec/tuples.gen.js';
import { isThenable, type NextFn } from '../awaitable.js';
import { CodecError } from '../codec/decoder.js';
import type { ModelEngine } from '../chat/model-engine.js';
import { type ProviderAPI, PROVIDERS } from '../chat/providers.gen.js';
import type { ToolCall } from '../primitives/tool-call.js';
import { runForge, runRead, runSpool } from './artifact-effects.js';
import { ChatExecutor } from '../chat/chat-executor.js';
import type { ContextState } from './context-state.js';
import { deltaOf } from '../collections/deltas.js';
import type { Delta } from '../collections/deltas.js';
import { asError } from './error-table.js';
import { runEstimate } from './estimate.js';
import { HttpExchange } from '../http/exchange.js';
import { settleForModel } from './kept-results.js';
import { ModelEffect, type ModelListener } from './model.js';
import { Effect } from './effect.js';
import type { Callbacks } from './definition.js';
import { copyValue } from '../stash/copy-value.js';
import { fetchAddresses } from '../tools/catalogue.js';
import { isStandardSchema, validateArguments } from '../tools/standard-schema.js';
import type { Turn } from './turn.js';
import { TimedCall } from './timed-call.js';

/** What is known here of a DispatchContext: what its executor streams through. */
interface DispatchFacade {
  readonly helpers: unknown;
}

/** Runs an effect with the arguments of its kind. */
type Run<Args> = (effect: Effect, args: Args) => void;

/** The kinds of effect, by number. */
const runs: { readonly [F in EffectFrame as F['kind']]: Run<F['args']> } = {
  [EffectKind.Executor]: runExecutor,
  [EffectKind.Middleware]: runMiddleware,
  [EffectKind.Tool]: runTool,
  [EffectKind.Store]: runStore,
  [EffectKind.Commit]: runCommit,
  [EffectKind.Discard]: runDiscard,
  [EffectKind.HTTP]: runHttp,
  [EffectKind.Model]: runModel,
  [EffectKind.Validate]: runValidate,
  [EffectKind.Spool]: runSpool,
  [EffectKind.Read]: runRead,
  [EffectKind.Estimate]: runEstimate,
  [EffectKind.Forge]: runForge,
};

/** Starts an effect. @throws CodecError if it is malformed */
export function runEffect(turn: Turn, { effect, kind, context, args }: EffectFrame): void {
  const run = (runs as Readonly<Record<number, Run<never> | undefined>>)[kind];
  if (run === undefined) throw new CodecError('frame', 0, `unknown effect ${kind}`);
  const state = context === 0 ? turn.root : turn.context(context);
  run(new Effect(turn, effect, state), args as never);
}

function runExecutor(effect: Effect, { iteration }: ExecutorArgs): void {
  const { state } = effect;
  state.iteration = iteration;
  const { executor } = state.definition;
  if (executor instanceof ChatExecutor) {
    throw new CodecError('frame', 0, 'the chat executor has no host function');
  }
  const ctx = state.facade as DispatchFacade;
  effect.perform(() => executor(ctx as never, ctx.helpers as never));
}

function runMiddleware(effect: Effect, { pipeline, index }: MiddlewareArgs): void {
  const { state } = effect;
  const middleware = state.definition.pipelines[pipeline]?.[index];
  if (middleware === undefined) throw new CodecError('frame', 0, `unknown middleware ${index}`);
  effect.perform(() => middleware(state.facade as never, nextOf(effect) as never));
}

/** The `next` of a middleware: runs the rest of the pipeline once, and never rejects. */
function nextOf({ turn, number: effect, state }: Effect): NextFn {
  let called = false;
  return () => {
    if (called || turn.ended || !turn.core.alive) return Promise.resolve();
    called = true;
    return turn.callLater(state.number, Method.Next, { effect }).then(nothing, nothing);
  };
}

function runTool(effect: Effect, args: ToolArgs): void {
  const { turn, state } = effect;
  const { keep, spool } = args;
  const tool = turn.tools.get(args.tool);
  const valid = turn.kept.has(args.valid) ? turn.takeKept(args.valid) : args.args;
  const timed = args.timed ? new TimedCall(effect) : undefined;
  const settle = (value: unknown): void => {
    if (timed?.late === true) effect.settle();
    else if (!keep) settleForModel(effect, tool, value, spool);
    else {
      turn.kept.set(effect.number, value);
      effect.settle();
    }
  };
  const facade = timed?.facade ?? state.facade;
  const call = (): unknown => tool.handler(valid, facade as never, tool.meta);
  effect.perform(timed === undefined ? call : () => timed.run(call), settle);
}

/** Runs a tool's own validation. Keeps its value for the handler, since the value may have no encoding. */
function runValidate(effect: Effect, { tool: number, args }: ValidateArgs): void {
  const { turn } = effect;
  const tool = turn.tools.get(number);
  const schema = tool.inputSchema;
  if (!isStandardSchema(schema)) {
    throw new CodecError('frame', 0, `tool ${tool.name} has no validation of its own`);
  }
  validateArguments(schema, tool.name, args).then(
    (valid) => {
      turn.kept.set(effect.number, valid);
      effect.settle(isEncodable(valid) ? valid : args);
    },
    (error: unknown) => effect.fail(error),
  );
}

function isEncodable(value: unknown): boolean {
  try {
    copyValue(value, 'args');
    return true;
  } catch {
    return false;
  }
}

function runStore(given: Effect, wire: WireDelta): void {
  const effect = given.ofStorage();
  const write = writeOf(effect.turn, wire);
  effect.perform(() => writeOne(effect.state, write));
}

/** A write with the numbers of its collection and kind. */
interface QueuedWrite {
  readonly collection: number;
  readonly kind: number;
  readonly delta: Delta;
}

function writeOf(turn: Turn, wire: WireDelta): QueuedWrite {
  const { collection, write: kind } = wire;
  return { collection, kind, delta: deltaOf(wire, turn.handles) };
}

/** Calls the storage callback of one write. */
function writeOne(state: ContextState, { collection, delta }: QueuedWrite): unknown {
  const { callbacks } = state.turn.definition;
  const ctx = state.facade;
  const writes = callbacks.writes[collection];
  if (writes === undefined) throw new CodecError('frame', 0, `unknown collection ${collection}`);
  switch (delta.op) {
    case 'store':
      return writes[Write.Store](ctx, delta.record);
    case 'mutate':
      // Only standing instructions have an old text.
      return 'old' in delta
        ? writes[Write.Mutate](ctx, delta.old, delta.record)
        : writes[Write.Mutate](ctx, delta.record);
    case 'delete':
      return writes[Write.Delete](ctx, delta.id);
    case 'replaceToolCallGroup':
      if (callbacks.replaceToolCallGroup !== undefined) {
        return callbacks.replaceToolCallGroup(ctx, delta.ids, delta.records);
      }
      return replaceOneByOne(state, collection, delta.ids, delta.records);
  }
}

/** Replaces a group by deleting and storing. A failure tells what was deleted. */
async function replaceOneByOne(
  state: ContextState,
  collection: number,
  ids: readonly string[],
  records: readonly ToolCall[],
): Promise<void> {
  const [store, , remove] = state.turn.definition.callbacks.writes[collection]!;
  const deletedIds: string[] = [];
  try {
    for (const id of ids) {
      await remove(state.facade, id);
      deletedIds.push(id);
    }
    for (const record of records) await store(state.facade, record);
  } catch (thrown) {
    const error = asError(thrown);
    if (Object.isExtensible(error)) Object.assign(error, { deletedIds });
    throw error;
  }
}

function runCommit(given: Effect, args: CommitArgs): void {
  const effect = given.ofStorage();
  const writes = args.deltas.map((wire) => writeOf(effect.turn, wire));
  const { commit, own } = effect.turn.definition.callbacks;
  if (commit === undefined || own !== undefined) void commitInParts(effect, writes);
  else {
    const deltas = writes.map((w) => w.delta);
    effect.perform(() => commit(effect.state.facade, deltas));
  }
}

/**
 * Writes a queue in order, up to the first failure, through the callbacks for single writes. Beside some of the
 * program's own, the store's commit takes the writes between theirs.
 */
async function commitInParts(effect: Effect, writes: readonly QueuedWrite[]): Promise<void> {
  const { state } = effect;
  const { callbacks } = effect.turn.definition;
  let applied = 0;
  try {
    while (applied < writes.length) {
      const part = togetherFrom(callbacks, writes, applied);
      const result =
        part.length === 0
          ? writeOne(state, writes[applied]!)
          : callbacks.commit!(state.facade, part);
      if (isThenable(result)) await result;
      applied += Math.max(part.length, 1);
    }
  } catch (error) {
    const total = writes.length;
    effect.fail(error, (e) => writeCommitResult(e, { applied, total }));
    return;
  }
  effect.settle();
}

/** The next writes of a queue for the store's commit. */
function togetherFrom(
  { commit, own }: Callbacks,
  writes: readonly QueuedWrite[],
  first: number,
): Delta[] {
  const part: Delta[] = [];
  if (commit === undefined || own === undefined) return part;
  const isOwn = ({ delta, collection, kind }: QueuedWrite): boolean =>
    delta.op === 'replaceToolCallGroup' ? own.replaceGroup : own.single[collection]![kind]!;
  for (let i = first; i < writes.length && !isOwn(writes[i]!); i++) part.push(writes[i]!.delta);
  return part;
}

function runDiscard(given: Effect, args: DiscardArgs): void {
  const effect = given.ofStorage();
  const { turn, state } = effect;
  const deltas = args.deltas.map((wire) => deltaOf(wire, turn.handles));
  const status = args.status === Status.Aborted ? 'aborted' : 'nack';
  effect.perform(() => turn.definition.callbacks.discard?.(state.facade, deltas, status));
}

function runHttp(effect: Effect, args: HTTPArgs): void {
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

function runModel(effect: Effect, args: ModelArgs): void {
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

function nothing(): void {
  // next() resolves to nothing and never rejects.
}
