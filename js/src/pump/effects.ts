/**
 * Effects: what the module asks its host to do. Each runs user code and sends a Result.
 */
import { EffectKind, Method, Op, Pipeline, Write } from '../abi/frames.gen.js';
import { CodecError } from '../codec/decoder.js';
import { requireShape } from '../codec/shape.js';
import type { ModelEngine } from '../models/engine.js';
import type { ToolCall } from '../primitives/tool-call.js';
import { runForge, runRead, runSpool } from './artifact-effects.js';
import { ChatExecutor } from './chat-executor.js';
import type { ContextState } from './context-state.js';
import { type Delta, readDelta, type WireDelta } from './deltas.js';
import { asError } from './error-table.js';
import { runEstimate } from './estimate.js';
import { HttpEffect } from './http.js';
import { settleForModel } from './kept-results.js';
import { ModelEffect, type ModelListener } from './model.js';
import {
  beginResult,
  failEffect,
  isThenable,
  perform,
  performOnly,
  sendResult,
  settleEffect,
} from './results.js';
import type { Callbacks, NextFn } from './runner-spec.js';
import { copyValue } from '../stash/copy-value.js';
import { isStandardSchema, validateArguments } from '../tools/standard-schema.js';
import type { Session } from './session.js';
import { TimedCall } from './timed-call.js';

/** What is known here of a DispatchContext: what its executor streams through. */
interface DispatchFacade {
  readonly helpers: unknown;
}

/** Starts an effect. @throws CodecError for one that makes no sense */
export function runEffect(session: Session, frame: readonly unknown[]): void {
  const effect = frame[2] as number;
  const context = frame[4] as number;
  const args = frame[7];
  switch (frame[3]) {
    case EffectKind.Executor:
      runExecutor(session, effect, session.context(context), args);
      return;
    case EffectKind.Middleware:
      runMiddleware(session, effect, context, args);
      return;
    case EffectKind.Tool:
      runTool(session, effect, session.context(context), args);
      return;
    case EffectKind.Store:
      runStore(session, effect, context, args);
      return;
    case EffectKind.Commit:
      runCommit(session, effect, context, args);
      return;
    case EffectKind.Discard:
      runDiscard(session, effect, context, args);
      return;
    case EffectKind.HTTP:
      runHttp(session, effect, context, args);
      return;
    case EffectKind.Model:
      runModel(session, effect, context, args);
      return;
    case EffectKind.Validate:
      runValidate(session, effect, session.context(context), args);
      return;
    case EffectKind.Spool:
      runSpool(session, effect, session.context(context), args);
      return;
    case EffectKind.Read:
      runRead(session, effect, session.context(context), args);
      return;
    case EffectKind.Estimate:
      runEstimate(session, effect, session.context(context), args);
      return;
    case EffectKind.Forge:
      runForge(session, effect, session.context(context), args);
      return;
    default:
      throw new CodecError('frame', 0, `unknown effect ${String(frame[3])}`);
  }
}

function runExecutor(session: Session, effect: number, state: ContextState, args: unknown): void {
  state.iteration = requireShape(args, 'n', 'ExecutorArgs')[0] as number;
  const { executor } = state.spec;
  if (executor instanceof ChatExecutor) {
    throw new CodecError('frame', 0, 'the chat executor has no host function');
  }
  const ctx = state.facade as DispatchFacade;
  performOnly(session, effect, state, () => executor(ctx as never, ctx.helpers as never));
}

function runMiddleware(session: Session, effect: number, context: number, args: unknown): void {
  const a = requireShape(args, 'nn', 'MiddlewareArgs');
  const pipeline = a[0] as number;
  const turn = pipeline === Pipeline.TurnInput || pipeline === Pipeline.TurnOutput;
  const state = session.context(turn ? 0 : context);
  const spec = turn ? session.spec : state.spec;
  const middleware = spec.pipelines[pipeline]?.[a[1] as number];
  if (middleware === undefined)
    throw new CodecError('frame', 0, `unknown middleware ${String(a[1])}`);
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
    const enc = session.beginCall(state.number, Method.Next);
    const { call } = session;
    enc.arrayHeader(1);
    enc.int(effect);
    return session.callLater(enc, call).then(nothing, nothing);
  };
}

function runTool(session: Session, effect: number, state: ContextState, args: unknown): void {
  const a = requireShape(args, 'nsss*bnnb', 'ToolArgs');
  const tool = session.tools.get(a[0] as number);
  const keep = a[5] as boolean;
  const valid = takeKept(session, a[6] as number, a[4]);
  const spool = a[7] as number;
  const timed = a[8] === true ? new TimedCall(session, effect, state) : undefined;
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
function runValidate(session: Session, effect: number, state: ContextState, args: unknown): void {
  const a = requireShape(args, 'n*', 'ValidateArgs');
  const tool = session.tools.get(a[0] as number);
  const schema = tool.inputSchema;
  if (!isStandardSchema(schema)) {
    throw new CodecError('frame', 0, `tool ${tool.name} has no validation of its own`);
  }
  validateArguments(schema, tool.name, a[1]).then(
    (valid) => {
      session.kept.keep(effect, valid);
      settleEffect(session, effect, state, isEncodable(valid) ? valid : a[1]);
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

function runStore(session: Session, effect: number, context: number, args: unknown): void {
  const delta = readDelta(args, session.handles);
  const state = storageState(session, context);
  performOnly(session, effect, state, () => writeOne(state, delta));
}

/** Whose callbacks write: the turn's, or the standalone dispatch's. */
function storageState(session: Session, context: number): ContextState {
  return session.contexts[0] ?? session.context(context);
}

/** Calls the storage callback of one write. */
function writeOne(state: ContextState, wire: WireDelta): unknown {
  const { callbacks } = state.session.spec;
  const { delta } = wire;
  const ctx = state.facade;
  const writes = callbacks.writes[wire.collection];
  if (writes === undefined)
    throw new CodecError('frame', 0, `unknown collection ${wire.collection}`);
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
      return replaceOneByOne(state, wire.collection, delta.ids, delta.records);
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

function runCommit(session: Session, effect: number, context: number, args: unknown): void {
  const deltas = readDeltas(session, requireShape(args, 'a', 'CommitArgs')[0]);
  const state = storageState(session, context);
  const { commit, own } = session.spec.callbacks;
  if (commit === undefined || own !== undefined) {
    void commitInParts(session, effect, state, deltas);
    return;
  }
  performOnly(session, effect, state, () =>
    commit(
      state.facade,
      deltas.map((d) => d.delta),
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
  deltas: readonly WireDelta[],
): Promise<void> {
  let applied = 0;
  try {
    while (applied < deltas.length) {
      const part = togetherFrom(session.spec.callbacks, deltas, applied);
      const result =
        part.length === 0
          ? writeOne(state, deltas[applied]!)
          : session.spec.callbacks.commit!(state.facade, part);
      if (isThenable(result)) await result;
      applied += Math.max(part.length, 1);
    }
  } catch (error) {
    const enc = beginResult(session, effect);
    if (enc === undefined) return;
    session.errors.encode(enc, asError(error), state.reason, [applied, deltas.length]);
    enc.nil();
    sendResult(session, effect, enc);
    return;
  }
  settleEffect(session, effect, state, undefined);
}

/** The next writes of a queue that the store's commit takes. */
function togetherFrom(
  { commit, own }: Callbacks,
  deltas: readonly WireDelta[],
  first: number,
): Delta[] {
  const part: Delta[] = [];
  if (commit === undefined || own === undefined) return part;
  const isOwn = ({ delta, collection, write }: WireDelta): boolean =>
    delta.op === 'replaceToolCallGroup' ? own.replaceGroup : own.single[collection]![write]!;
  for (let i = first; i < deltas.length && !isOwn(deltas[i]!); i++) part.push(deltas[i]!.delta);
  return part;
}

function runDiscard(session: Session, effect: number, context: number, args: unknown): void {
  const a = requireShape(args, 'an', 'DiscardArgs');
  const deltas: Delta[] = readDeltas(session, a[0]).map((d) => d.delta);
  const state = storageState(session, context);
  const status = a[1] === 2 ? 'aborted' : 'nack';
  performOnly(session, effect, state, () =>
    session.spec.callbacks.discard?.(state.facade, deltas, status),
  );
}

function readDeltas(session: Session, list: unknown): WireDelta[] {
  return ((list ?? []) as unknown[]).map((delta) => readDelta(delta, session.handles));
}

function runHttp(session: Session, effect: number, context: number, args: unknown): void {
  const listener = {
    head: (status: number, headers: readonly (readonly [string, string])[]) =>
      sendChunk(session, effect, status, headers, undefined),
    ...streamed(session, effect, context),
  };
  const request = new HttpEffect(session.http, args, listener, recordsOf(session));
  startStream(session, effect, request);
}

function runModel(session: Session, effect: number, context: number, args: unknown): void {
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
  data: Uint8Array | undefined,
): void {
  if (session.ended || !session.pump.alive) return;
  const enc = session.pump.frame();
  enc.arrayHeader(7);
  enc.int(Op.Chunk);
  enc.int(session.number);
  enc.int(effect);
  enc.int(session.elapsed());
  enc.int(status);
  enc.arrayHeader(headers.length);
  for (const [name, value] of headers) {
    enc.arrayHeader(2);
    enc.str(name);
    enc.str(value);
  }
  if (data === undefined) enc.nil();
  else enc.bin(data);
  session.pump.sendAndDrain(session, enc);
}

function nothing(): void {
  // next() resolves to nothing and never rejects.
}
