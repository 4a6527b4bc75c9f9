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
import { CodecError } from '../codec/decoder.js';
import type { ModelEngine } from '../models/engine.js';
import { type ProviderAPI, PROVIDERS } from '../models/providers.gen.js';
import type { ToolCall } from '../primitives/tool-call.js';
import { runForge, runRead, runSpool } from './artifact-effects.js';
import { ChatExecutor } from './chat-executor.js';
import type { ContextState } from './context-state.js';
import { deltaOf } from './deltas.js';
import type { Delta } from './deltas.js';
import { asError } from './error-table.js';
import { runEstimate } from './estimate.js';
import { HttpEffect } from './http.js';
import { settleForModel } from './kept-results.js';
import { ModelEffect, type ModelListener } from './model.js';
import { failEffect, isThenable, perform, performOnly, settleEffect } from './results.js';
import type { Callbacks, NextFn } from './runner-spec.js';
import { copyValue } from '../stash/copy-value.js';
import { fetchAddresses } from '../tools/catalogue.js';
import { isStandardSchema, validateArguments } from '../tools/standard-schema.js';
import type { Session } from './session.js';
import { TimedCall } from './timed-call.js';

/** What is known here of a DispatchContext: what its executor streams through. */
interface DispatchFacade {
  readonly helpers: unknown;
}

/** Starts an effect. @throws CodecError for one that makes no sense */
export function runEffect(session: Session, frame: EffectFrame): void {
  const { effect, context } = frame;
  const kind: number = frame.kind;
  switch (frame.kind) {
    case EffectKind.Executor:
      runExecutor(session, effect, session.context(context), frame.args);
      return;
    case EffectKind.Middleware:
      runMiddleware(session, effect, context, frame.args);
      return;
    case EffectKind.Tool:
      runTool(session, effect, session.context(context), frame.args);
      return;
    case EffectKind.Store:
      runStore(session, effect, context, frame.args);
      return;
    case EffectKind.Commit:
      runCommit(session, effect, context, frame.args);
      return;
    case EffectKind.Discard:
      runDiscard(session, effect, context, frame.args);
      return;
    case EffectKind.HTTP:
      runHttp(session, effect, context, frame.args);
      return;
    case EffectKind.Model:
      runModel(session, effect, context, frame.args);
      return;
    case EffectKind.Validate:
      runValidate(session, effect, session.context(context), frame.args);
      return;
    case EffectKind.Spool:
      runSpool(session, effect, session.context(context), frame.args);
      return;
    case EffectKind.Read:
      runRead(session, effect, session.context(context), frame.args);
      return;
    case EffectKind.Estimate:
      runEstimate(session, effect, session.context(context), frame.args);
      return;
    case EffectKind.Forge:
      runForge(session, effect, session.context(context), frame.args);
      return;
    default:
      throw new CodecError('frame', 0, `unknown effect ${kind}`);
  }
}

function runExecutor(
  session: Session,
  effect: number,
  state: ContextState,
  { iteration }: ExecutorArgs,
): void {
  state.iteration = iteration;
  const { executor } = state.spec;
  if (executor instanceof ChatExecutor) {
    throw new CodecError('frame', 0, 'the chat executor has no host function');
  }
  const ctx = state.facade as DispatchFacade;
  performOnly(session, effect, state, () => executor(ctx as never, ctx.helpers as never));
}

function runMiddleware(
  session: Session,
  effect: number,
  context: number,
  { pipeline, index }: MiddlewareArgs,
): void {
  const turn = pipeline === Pipeline.TurnInput || pipeline === Pipeline.TurnOutput;
  const state = session.context(turn ? 0 : context);
  const spec = turn ? session.spec : state.spec;
  const middleware = spec.pipelines[pipeline]?.[index];
  if (middleware === undefined) throw new CodecError('frame', 0, `unknown middleware ${index}`);
  performOnly(session, effect, state, () =>
    middleware(state.facade as never, nextOf(session, effect, state) as never),
  );
}

/** The function that runs what follows a middleware: once, and never in vain. */
function nextOf(session: Session, effect: number, state: ContextState): NextFn {
  let called = false;
  return () => {
    if (called || session.ended || !session.pump.alive) return Promise.resolve();
    called = true;
    return session.callLater(state.number, Method.Next, { effect }).then(nothing, nothing);
  };
}

function runTool(session: Session, effect: number, state: ContextState, args: ToolArgs): void {
  const { keep, spool } = args;
  const tool = session.tools.get(args.tool);
  const valid = takeKept(session, args.valid, args.args);
  const timed = args.timed ? new TimedCall(session, effect, state) : undefined;
  const settle = (value: unknown): void => {
    if (timed?.late === true) {
      settleEffect(session, effect, state, undefined);
      return;
    }
    if (!keep) {
      settleForModel(session, effect, state, tool, value, spool);
      return;
    }
    session.kept.keep(effect, value);
    settleEffect(session, effect, state, undefined);
  };
  const facade = timed?.facade ?? state.facade;
  const call = (): unknown => tool.handler(valid, facade as never, tool.meta);
  perform(session, effect, state, timed === undefined ? call : () => timed.run(call), settle);
}

/** What was kept under the number of an effect; the value that crossed when nothing is. */
function takeKept(session: Session, effect: number, crossed: unknown): unknown {
  return effect === 0 || !session.kept.has(effect) ? crossed : session.kept.take(effect);
}

/** Runs a tool's own validation. What it gives is kept for the handler, as not all of it may have an encoding. */
function runValidate(
  session: Session,
  effect: number,
  state: ContextState,
  { tool: number, args }: ValidateArgs,
): void {
  const tool = session.tools.get(number);
  const schema = tool.inputSchema;
  if (!isStandardSchema(schema)) {
    throw new CodecError('frame', 0, `tool ${tool.name} has no validation of its own`);
  }
  validateArguments(schema, tool.name, args).then(
    (valid) => {
      session.kept.keep(effect, valid);
      settleEffect(session, effect, state, isEncodable(valid) ? valid : args);
    },
    (error: unknown) => failEffect(session, effect, state, error),
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

function runStore(session: Session, effect: number, context: number, wire: WireDelta): void {
  const write = writeOf(session, wire);
  const state = storageState(session, context);
  performOnly(session, effect, state, () => writeOne(state, write));
}

/** Whose callbacks write: the turn's, or the standalone dispatch's. */
function storageState(session: Session, context: number): ContextState {
  return session.contexts[0] ?? session.context(context);
}

/** A write with the numbers of its collection and kind. */
interface QueuedWrite {
  readonly collection: number;
  readonly kind: number;
  readonly delta: Delta;
}

function writeOf(session: Session, wire: WireDelta): QueuedWrite {
  const { collection, write: kind } = wire;
  return { collection, kind, delta: deltaOf(wire, session.handles) };
}

/** Calls the storage callback of one write. */
function writeOne(state: ContextState, { collection, delta }: QueuedWrite): unknown {
  const { callbacks } = state.session.spec;
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

/** Replaces a group by deleting and storing; a failure says what was deleted. */
async function replaceOneByOne(
  state: ContextState,
  collection: number,
  ids: readonly string[],
  records: readonly ToolCall[],
): Promise<void> {
  const [store, , remove] = state.session.spec.callbacks.writes[collection]!;
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

function runCommit(session: Session, effect: number, context: number, args: CommitArgs): void {
  const writes = args.deltas.map((wire) => writeOf(session, wire));
  const state = storageState(session, context);
  const { commit, own } = session.spec.callbacks;
  if (commit === undefined || own !== undefined) {
    void commitInParts(session, effect, state, writes);
    return;
  }
  performOnly(session, effect, state, () =>
    commit(
      state.facade,
      writes.map((w) => w.delta),
    ),
  );
}

/**
 * Writes a queue in order, up to the first failure: through the callbacks for single writes, or, beside some of the
 * program's own, what stands together through the store's commit.
 */
async function commitInParts(
  session: Session,
  effect: number,
  state: ContextState,
  writes: readonly QueuedWrite[],
): Promise<void> {
  let applied = 0;
  try {
    while (applied < writes.length) {
      const part = togetherFrom(session.spec.callbacks, writes, applied);
      const result =
        part.length === 0
          ? writeOne(state, writes[applied]!)
          : session.spec.callbacks.commit!(state.facade, part);
      if (isThenable(result)) await result;
      applied += Math.max(part.length, 1);
    }
  } catch (error) {
    const total = writes.length;
    failEffect(session, effect, state, error, (e) => writeCommitResult(e, { applied, total }));
    return;
  }
  settleEffect(session, effect, state, undefined);
}

/** The next writes of a queue that the store's commit takes. */
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

function runDiscard(session: Session, effect: number, context: number, args: DiscardArgs): void {
  const deltas = args.deltas.map((wire) => deltaOf(wire, session.handles));
  const state = storageState(session, context);
  const status = args.status === Status.Aborted ? 'aborted' : 'nack';
  performOnly(session, effect, state, () =>
    session.spec.callbacks.discard?.(state.facade, deltas, status),
  );
}

function runHttp(session: Session, effect: number, context: number, args: HTTPArgs): void {
  const listener = {
    head: (status: number, headers: readonly (readonly [string, string])[]) =>
      sendChunk(session, effect, status, headers, null),
    ...streamed(session, effect, context),
  };
  const { http } = session;
  const allowedOrigins = http.allowedOrigins ?? originsOf(session, context);
  const settings = { ...http, allowedOrigins };
  const request = new HttpEffect(settings, args, listener, recordsOf(session));
  startStream(session, effect, request);
}

/**
 * Where the program has said that a dispatch goes: to the chat executor's API, and where its tools fetch. Undefined for
 * where only the module knows, the API of a provider that is built into it alone.
 */
function originsOf(session: Session, context: number): string[] | undefined {
  const { executor } = (session.contexts[context] ?? session.root).spec;
  const origins = session.tools.all().flatMap(fetchAddresses);
  if (!(executor instanceof ChatExecutor)) return origins;
  const { provider = 'openai', baseURL } = executor.options;
  const known: Readonly<Record<string, ProviderAPI>> = PROVIDERS;
  const address = baseURL ?? known[String(provider)]?.baseURL;
  return typeof address === 'string' ? [...origins, address] : undefined;
}

function runModel(session: Session, effect: number, context: number, args: ModelArgs): void {
  const { executor } = (session.contexts[context] ?? session.root).spec;
  const engineOf = (name: string): ModelEngine | undefined =>
    executor instanceof ChatExecutor && executor.options.model === name
      ? executor.engine
      : undefined;
  const listener = streamed(session, effect, context);
  startStream(session, effect, new ModelEffect(engineOf, args, listener, recordsOf(session)));
}

/** Finds the records of a session by their handles. */
function recordsOf(session: Session): (handle: number) => unknown {
  return (handle) => session.handles.entryOf(handle);
}

/** Hands the module what streams in, and settles the effect at its end. */
function streamed(session: Session, effect: number, context: number): ModelListener {
  const state = session.contexts[context] ?? session.root;
  return {
    data: (bytes) => sendData(session, effect, bytes),
    done: () => {
      session.requests?.delete(effect);
      settleEffect(session, effect, state, undefined);
    },
    failed: (error) => {
      session.requests?.delete(effect);
      failEffect(session, effect, state, error);
    },
  };
}

function startStream(session: Session, effect: number, stream: HttpEffect | ModelEffect): void {
  (session.requests ??= new Map<number, HttpEffect | ModelEffect>()).set(effect, stream);
  void stream.run();
}

/** Sends a part of an answer, in chunks that keep the limits in force. */
function sendData(session: Session, effect: number, bytes: Uint8Array): void {
  const { frame, string } = session.pump.instance.limits;
  const most = Math.min(frame - 64, string);
  for (let at = 0; at < bytes.length; at += most) {
    sendChunk(session, effect, 0, [], bytes.subarray(at, at + most));
  }
}

function sendChunk(
  session: Session,
  effect: number,
  status: number,
  headers: readonly (readonly [string, string])[],
  data: Uint8Array | null,
): void {
  if (session.ended || !session.pump.alive) return;
  const enc = session.pump.frame();
  const elapsed = session.elapsed();
  writeChunk(enc, { turn: session.number, effect, elapsed, status, headers, data });
  session.pump.sendAndDrain(session, enc);
}

function nothing(): void {
  // next() resolves to nothing and never rejects.
}
