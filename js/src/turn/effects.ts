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
  type MiddlewareArgs,
  writeCommitResult,
} from '../codec/tuples.gen.js';
import { isThenable, type NextFn } from '../awaitable.js';
import { CodecError } from '../codec/decoder.js';
import type { ToolCall } from '../primitives/tool-call.js';
import { ChatExecutor } from '../chat/chat-executor.js';
import type { ContextState } from './context-state.js';
import { deltaOf } from '../collections/deltas.js';
import type { Delta } from '../collections/deltas.js';
import { asError } from './error-table.js';
import { Effect } from './effect.js';
import type { Callbacks } from './definition.js';
import { lateEffects } from './late.js';
import type { Early, Run, Runs } from './runs.js';
import type { Turn } from './turn.js';

/** What is known here of a DispatchContext: what its executor streams through. */
interface DispatchFacade {
  readonly helpers: unknown;
}

const early: Runs<Early> = {
  [EffectKind.Executor]: runExecutor,
  [EffectKind.Middleware]: runMiddleware,
  [EffectKind.Store]: runStore,
  [EffectKind.Commit]: runCommit,
  [EffectKind.Discard]: runDiscard,
};

/** Whether effects of a kind can be run at once. Unknown kinds can: they fail. */
export function isLoaded(kind: number): boolean {
  return lateEffects() !== undefined || kind in early;
}

/** Starts an effect whose kind is loaded. @throws CodecError if it is malformed */
export function runEffect(turn: Turn, { effect, kind, context, args }: EffectFrame): void {
  const runs: Readonly<Record<number, Run<never> | undefined>> =
    kind in early ? early : lateEffects()!;
  const run = runs[kind];
  if (run === undefined) throw new CodecError('frame', 0, `unknown effect ${kind}`);
  run(effectOf(turn, effect, context), args as never);
}

/** Fails an effect that cannot be run. */
export function failEffect(turn: Turn, { effect, context }: EffectFrame, error: unknown): void {
  effectOf(turn, effect, context).fail(error);
}

function effectOf(turn: Turn, effect: number, context: number): Effect {
  return new Effect(turn, effect, context === 0 ? turn.root : turn.context(context));
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

function nothing(): void {
  // next() resolves to nothing and never rejects.
}
