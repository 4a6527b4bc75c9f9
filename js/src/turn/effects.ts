/**
 * Effects: what the module asks its host to do. Each runs user code and sends a Result.
 */
import { EffectKind, Method, Pipeline, Status, Write } from '../abi/frames.gen.js';
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
import { failEffect, perform, performOnly, settleEffect } from './results.js';
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

/** Starts an effect. @throws CodecError if it is malformed */
export function runEffect(turn: Turn, frame: EffectFrame): void {
  const { effect, context } = frame;
  const kind: number = frame.kind;
  switch (frame.kind) {
    case EffectKind.Executor:
      runExecutor(turn, effect, turn.context(context), frame.args);
      return;
    case EffectKind.Middleware:
      runMiddleware(turn, effect, context, frame.args);
      return;
    case EffectKind.Tool:
      runTool(turn, effect, turn.context(context), frame.args);
      return;
    case EffectKind.Store:
      runStore(turn, effect, context, frame.args);
      return;
    case EffectKind.Commit:
      runCommit(turn, effect, context, frame.args);
      return;
    case EffectKind.Discard:
      runDiscard(turn, effect, context, frame.args);
      return;
    case EffectKind.HTTP:
      runHttp(turn, effect, context, frame.args);
      return;
    case EffectKind.Model:
      runModel(turn, effect, context, frame.args);
      return;
    case EffectKind.Validate:
      runValidate(turn, effect, turn.context(context), frame.args);
      return;
    case EffectKind.Spool:
      runSpool(turn, effect, turn.context(context), frame.args);
      return;
    case EffectKind.Read:
      runRead(turn, effect, turn.context(context), frame.args);
      return;
    case EffectKind.Estimate:
      runEstimate(turn, effect, turn.context(context), frame.args);
      return;
    case EffectKind.Forge:
      runForge(turn, effect, turn.context(context), frame.args);
      return;
    default:
      throw new CodecError('frame', 0, `unknown effect ${kind}`);
  }
}

function runExecutor(
  turn: Turn,
  effect: number,
  state: ContextState,
  { iteration }: ExecutorArgs,
): void {
  state.iteration = iteration;
  const { executor } = state.definition;
  if (executor instanceof ChatExecutor) {
    throw new CodecError('frame', 0, 'the chat executor has no host function');
  }
  const ctx = state.facade as DispatchFacade;
  performOnly(turn, effect, state, () => executor(ctx as never, ctx.helpers as never));
}

function runMiddleware(
  turn: Turn,
  effect: number,
  context: number,
  { pipeline, index }: MiddlewareArgs,
): void {
  const ofTurn = pipeline === Pipeline.TurnInput || pipeline === Pipeline.TurnOutput;
  const state = turn.context(ofTurn ? 0 : context);
  const definition = ofTurn ? turn.definition : state.definition;
  const middleware = definition.pipelines[pipeline]?.[index];
  if (middleware === undefined) throw new CodecError('frame', 0, `unknown middleware ${index}`);
  performOnly(turn, effect, state, () =>
    middleware(state.facade as never, nextOf(turn, effect, state) as never),
  );
}

/** The `next` of a middleware: runs the rest of the pipeline once, and never rejects. */
function nextOf(turn: Turn, effect: number, state: ContextState): NextFn {
  let called = false;
  return () => {
    if (called || turn.ended || !turn.core.alive) return Promise.resolve();
    called = true;
    return turn.callLater(state.number, Method.Next, { effect }).then(nothing, nothing);
  };
}

function runTool(turn: Turn, effect: number, state: ContextState, args: ToolArgs): void {
  const { keep, spool } = args;
  const tool = turn.tools.get(args.tool);
  const valid = takeKept(turn, args.valid, args.args);
  const timed = args.timed ? new TimedCall(turn, effect, state) : undefined;
  const settle = (value: unknown): void => {
    if (timed?.late === true) {
      settleEffect(turn, effect, state, undefined);
      return;
    }
    if (!keep) {
      settleForModel(turn, effect, state, tool, value, spool);
      return;
    }
    turn.kept.keep(effect, value);
    settleEffect(turn, effect, state, undefined);
  };
  const facade = timed?.facade ?? state.facade;
  const call = (): unknown => tool.handler(valid, facade as never, tool.meta);
  perform(turn, effect, state, timed === undefined ? call : () => timed.run(call), settle);
}

/** The value kept under the number of an effect, or else the one that crossed. */
function takeKept(turn: Turn, effect: number, crossed: unknown): unknown {
  return effect === 0 || !turn.kept.has(effect) ? crossed : turn.kept.take(effect);
}

/** Runs a tool's own validation. Keeps its value for the handler, since the value may have no encoding. */
function runValidate(
  turn: Turn,
  effect: number,
  state: ContextState,
  { tool: number, args }: ValidateArgs,
): void {
  const tool = turn.tools.get(number);
  const schema = tool.inputSchema;
  if (!isStandardSchema(schema)) {
    throw new CodecError('frame', 0, `tool ${tool.name} has no validation of its own`);
  }
  validateArguments(schema, tool.name, args).then(
    (valid) => {
      turn.kept.keep(effect, valid);
      settleEffect(turn, effect, state, isEncodable(valid) ? valid : args);
    },
    (error: unknown) => failEffect(turn, effect, state, error),
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

function runStore(turn: Turn, effect: number, context: number, wire: WireDelta): void {
  const write = writeOf(turn, wire);
  const state = storageState(turn, context);
  performOnly(turn, effect, state, () => writeOne(state, write));
}

/** Whose callbacks write: the turn's, or the standalone dispatch's. */
function storageState(turn: Turn, context: number): ContextState {
  return turn.contexts[0] ?? turn.context(context);
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

function runCommit(turn: Turn, effect: number, context: number, args: CommitArgs): void {
  const writes = args.deltas.map((wire) => writeOf(turn, wire));
  const state = storageState(turn, context);
  const { commit, own } = turn.definition.callbacks;
  if (commit === undefined || own !== undefined) {
    void commitInParts(turn, effect, state, writes);
    return;
  }
  performOnly(turn, effect, state, () =>
    commit(
      state.facade,
      writes.map((w) => w.delta),
    ),
  );
}

/**
 * Writes a queue in order, up to the first failure, through the callbacks for single writes. Beside some of the
 * program's own, the store's commit takes the writes between theirs.
 */
async function commitInParts(
  turn: Turn,
  effect: number,
  state: ContextState,
  writes: readonly QueuedWrite[],
): Promise<void> {
  let applied = 0;
  try {
    while (applied < writes.length) {
      const part = togetherFrom(turn.definition.callbacks, writes, applied);
      const result =
        part.length === 0
          ? writeOne(state, writes[applied]!)
          : turn.definition.callbacks.commit!(state.facade, part);
      if (isThenable(result)) await result;
      applied += Math.max(part.length, 1);
    }
  } catch (error) {
    const total = writes.length;
    failEffect(turn, effect, state, error, (e) => writeCommitResult(e, { applied, total }));
    return;
  }
  settleEffect(turn, effect, state, undefined);
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

function runDiscard(turn: Turn, effect: number, context: number, args: DiscardArgs): void {
  const deltas = args.deltas.map((wire) => deltaOf(wire, turn.handles));
  const state = storageState(turn, context);
  const status = args.status === Status.Aborted ? 'aborted' : 'nack';
  performOnly(turn, effect, state, () =>
    turn.definition.callbacks.discard?.(state.facade, deltas, status),
  );
}

function runHttp(turn: Turn, effect: number, context: number, args: HTTPArgs): void {
  const listener = {
    head: (status: number, headers: readonly (readonly [string, string])[]) =>
      sendChunk(turn, effect, status, headers, null),
    ...streamed(turn, effect, context),
  };
  const { http } = turn;
  const allowedOrigins = http.allowedOrigins ?? originsOf(turn, context);
  const settings = { ...http, allowedOrigins };
  const request = new HttpExchange(settings, args, listener, recordsOf(turn));
  startStream(turn, effect, request);
}

/**
 * The origins that the program names for a dispatch: the chat executor's API, and the addresses of its fetch tools.
 * Undefined if only the module knows the API's address.
 */
function originsOf(turn: Turn, context: number): string[] | undefined {
  const { executor } = (turn.contexts[context] ?? turn.root).definition;
  const origins = turn.tools.all().flatMap(fetchAddresses);
  if (!(executor instanceof ChatExecutor)) return origins;
  const { provider = 'openai', baseURL } = executor.options;
  const known: Readonly<Record<string, ProviderAPI>> = PROVIDERS;
  const address = baseURL ?? known[String(provider)]?.baseURL;
  return typeof address === 'string' ? [...origins, address] : undefined;
}

function runModel(turn: Turn, effect: number, context: number, args: ModelArgs): void {
  const { executor } = (turn.contexts[context] ?? turn.root).definition;
  const engineOf = (name: string): ModelEngine | undefined =>
    executor instanceof ChatExecutor && executor.options.model === name
      ? executor.engine
      : undefined;
  const listener = streamed(turn, effect, context);
  startStream(turn, effect, new ModelEffect(engineOf, args, listener, recordsOf(turn)));
}

/** Finds the records of a turn by their handles. */
function recordsOf(turn: Turn): (handle: number) => unknown {
  return (handle) => turn.handles.entryOf(handle);
}

/** Passes a stream on to the module, and settles the effect at its end. */
function streamed(turn: Turn, effect: number, context: number): ModelListener {
  const state = turn.contexts[context] ?? turn.root;
  return {
    data: (bytes) => sendData(turn, effect, bytes),
    done: () => {
      turn.requests?.delete(effect);
      settleEffect(turn, effect, state, undefined);
    },
    failed: (error) => {
      turn.requests?.delete(effect);
      failEffect(turn, effect, state, error);
    },
  };
}

function startStream(turn: Turn, effect: number, stream: HttpExchange | ModelEffect): void {
  (turn.requests ??= new Map<number, HttpExchange | ModelEffect>()).set(effect, stream);
  void stream.run();
}

/** Sends a part of an answer in chunks within the limits. */
function sendData(turn: Turn, effect: number, bytes: Uint8Array): void {
  const { frame, string } = turn.core.instance.limits;
  const most = Math.min(frame - 64, string);
  for (let at = 0; at < bytes.length; at += most) {
    sendChunk(turn, effect, 0, [], bytes.subarray(at, at + most));
  }
}

function sendChunk(
  turn: Turn,
  effect: number,
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
