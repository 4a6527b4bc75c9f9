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
import { wrongFrame } from '../codec/decoder.js';
import { ChatExecutor } from '../chat/chat-executor.js';
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

/** How to run effects of whatever kinds. */
type AnyRuns = Readonly<Record<number, Run<never> | undefined>>;

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

/** An effect that may be refused: what it runs instead then fails. */
export type Refusable = EffectFrame & { readonly refused?: (() => Promise<never>) | undefined };

/**
 * Starts an effect whose kind is loaded.
 *
 * @param instead is run in its place, to fail
 * @throws CodecError if it is malformed
 */
export function runEffect(
  turn: Turn,
  frame: Refusable,
  instead: (() => unknown) | undefined = frame.refused,
): void {
  const { kind, args } = frame;
  const effect = new Effect(turn, frame);
  if (instead) {
    effect.perform(instead);
    return;
  }
  const runs: AnyRuns = kind in early ? early : lateEffects()!;
  const run = (turn.runs as AnyRuns | undefined)?.[kind] ?? runs[kind];
  if (run === undefined) throw wrongFrame(`unknown effect ${kind}`);
  run(effect, args as never, frame);
}

function runExecutor(effect: Effect, { iteration }: ExecutorArgs): void {
  const { state } = effect;
  state.iteration = iteration;
  const { executor } = state.definition;
  if (executor instanceof ChatExecutor) {
    throw wrongFrame('there is no executor');
  }
  const ctx = state.facade as DispatchFacade;
  effect.perform(() => executor(ctx as never, ctx.helpers as never));
}

function runMiddleware(effect: Effect, { pipeline, index }: MiddlewareArgs): void {
  const { state } = effect;
  const middleware = state.definition.pipelines[pipeline]?.[index];
  if (middleware === undefined) throw wrongFrame(`unknown middleware ${index}`);
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

function runStore(effect: Effect, wire: WireDelta): void {
  const write = writeOf(effect.turn, wire);
  effect.perform(() => writeOne(effect, write, ''));
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

/**
 * Calls the storage callback of one write.
 *
 * @param part names it among several for this effect
 */
function writeOne(effect: Effect, { collection, delta }: QueuedWrite, part: string): unknown {
  const { callbacks } = effect.turn.definition;
  const ctx = effect.writing(part);
  const writes = callbacks.writes[collection];
  if (writes === undefined) throw wrongFrame(`unknown collection ${collection}`);
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
      return replaceOneByOne(effect, collection, delta, part);
  }
}

type ReplacedGroup = Extract<Delta, { op: 'replaceToolCallGroup' }>;

/** Replaces a group by deleting and storing. A failure tells what was deleted. */
async function replaceOneByOne(
  effect: Effect,
  collection: number,
  { ids, records }: ReplacedGroup,
  part: string,
): Promise<void> {
  const [store, , remove] = effect.turn.definition.callbacks.writes[collection]!;
  const deletedIds: string[] = [];
  let calls = 0;
  const next = (): object => effect.writing(`${part}.${calls++}`);
  try {
    for (const id of ids) {
      await remove(next(), id);
      deletedIds.push(id);
    }
    for (const record of records) await store(next(), record);
  } catch (thrown) {
    const error = asError(thrown);
    if (Object.isExtensible(error)) Object.assign(error, { deletedIds });
    throw error;
  }
}

function runCommit(effect: Effect, args: CommitArgs): void {
  const writes = args.deltas.map((wire) => writeOf(effect.turn, wire));
  const { commit, own } = effect.turn.definition.callbacks;
  if (commit === undefined || own !== undefined) void commitInParts(effect, writes);
  else {
    const deltas = writes.map((w) => w.delta);
    effect.perform(() => commit(effect.writing(), deltas));
  }
}

/**
 * Writes a queue in order, up to the first failure, through the callbacks for single writes. Beside some of the
 * program's own, the store's commit takes the writes between theirs.
 */
async function commitInParts(effect: Effect, writes: readonly QueuedWrite[]): Promise<void> {
  const { callbacks } = effect.turn.definition;
  let applied = 0;
  try {
    while (applied < writes.length) {
      const part = togetherFrom(callbacks, writes, applied);
      const place = `.${applied}`;
      const result =
        part.length === 0
          ? writeOne(effect, writes[applied]!, place)
          : callbacks.commit!(effect.writing(place), part);
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

function runDiscard(effect: Effect, args: DiscardArgs): void {
  const { turn } = effect;
  const deltas = args.deltas.map((wire) => deltaOf(wire, turn.handles));
  const status = args.status === Status.Aborted ? 'aborted' : 'nack';
  effect.perform(() => turn.definition.callbacks.discard?.(effect.writing(), deltas, status));
}

function nothing(): void {
  // next() resolves to nothing and never rejects.
}
