/**
 * Makes the callbacks of a runner from a store.
 */
import type { RecordName } from '../collections/deltas.js';
import type { AnyRecord, HistoryKind } from '../collections/history.js';
import type { TurnContext } from '../context/turn-context.js';
import type { Delta } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import type { ConduitBytes } from '../primitives/readers.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCall } from '../primitives/tool-call.js';
import type { TurnCallbacks } from '../runners/callbacks.js';
import { madeForStore, singular } from '../runners/own-callbacks.js';
import { requireFunction, requireObject } from '../context/arguments.js';
import { keeperOf } from './keeper.js';
import { sessionNamed } from './session-id.js';
import type { Beginning } from '../sessions/session-loader.js';
import type { BytesReader, Store } from './store.js';

/** Settings of {@link storeCallbacks} and `loadConversation`. */
export interface SessionOptions {
  /** Returns the session of a turn. Default: `sessionId` in its stash, or "default". */
  readonly session?: ((ctx: TurnContext) => string) | undefined;
}

/** The session in a turn's stash. */
function stashedSession(ctx: TurnContext): unknown {
  return ctx.stash.get('sessionId');
}

/**
 * Returns the function that selects the session of a turn.
 *
 * @throws TurncoreError E_INVALID_VALUE without a store, and for invalid settings; the returned function throws
 * E_INVALID_SESSION_ID unless it is the id of a session
 */
export function sessionOf(store: Store, options: SessionOptions): (ctx: TurnContext) => string {
  requireObject(store, 'store');
  const methods = store as unknown as Readonly<Record<string, unknown>>;
  for (const name of ['load', 'commit', 'putBytes', 'openBytes']) {
    requireFunction(methods[name], `store.${name}`);
  }
  requireObject(options, 'options');
  const { session } = options;
  if (session === undefined) return (ctx) => sessionNamed(stashedSession(ctx));
  requireFunction(session, 'options.session');
  // A function that returns none must not select the default.
  return (ctx) => sessionNamed(session(ctx) ?? 0, 'session');
}

/**
 * All callbacks of a TurnRunner except the executor, made from a store: `new TurnRunner({...storeCallbacks(store),
 * executorCallback})`. An iteration's writes are committed in one call.
 *
 * You can override single callbacks after it. Your callback is called for every write of its kind, in turn middleware
 * and in dispatches. Writes keep their order, and adjacent other writes still go to the store in one `commit`. A
 * callback that stores or deletes tool calls also gets those of `replaceToolCallGroup`, unless you override that too.
 * Your own `commitCallback` together with callbacks for single writes is an error.
 *
 * @throws TurncoreError E_INVALID_VALUE for anything that is not a store
 */
export function storeCallbacks(store: Store, options: SessionOptions = {}): TurnCallbacks {
  const session = sessionOf(store, options);
  const keeper = keeperOf(store);
  const commit = (ctx: TurnContext, deltas: readonly Delta[]): unknown =>
    keeper.writer(ctx, session(ctx)).commit(ctx, deltas);
  const bytes = async (
    ctx: TurnContext,
    id: string,
    content: ConduitBytes,
  ): Promise<BytesReader> => {
    const of = session(ctx);
    await store.putBytes(of, id, content);
    return store.openBytes(of, id);
  };
  const load = async (ctx: TurnContext) => {
    const of = session(ctx);
    const loaded = await keeper.loader.load(of);
    keeper.writer(ctx, of).saw(loaded.revision, false);
    return loaded;
  };
  const callbacks: Record<string, unknown> = {
    fetchToolsCallback: (_ctx: TurnContext) => [],
    refreshStandingInstructionsCallback: async (ctx: TurnContext) => [
      ...(await load(ctx)).instructions,
    ],
    mutateStandingInstructionCallback: (ctx: TurnContext, old: string, record: Tokenizable) =>
      commit(ctx, [{ op: 'mutate', kind: 'standingInstruction', record, old }]),
    replaceToolCallGroupCallback: (ctx: TurnContext, ids: string[], records: ToolCall[]) =>
      commit(ctx, [{ op: 'replaceToolCallGroup', kind: 'toolCall', ids, records }]),
    storeMediaBytesCallback: bytes,
    storeRetrievableBytesCallback: bytes,
    commitCallback: commit,
  };
  for (const name of singular) {
    const kind = uncapital(name) as RecordName;
    for (const op of ['store', 'mutate'] as const) {
      callbacks[`${op}${name}Callback`] ??= (ctx: TurnContext, record: Entry) =>
        commit(ctx, [{ op, kind, record }]);
    }
    callbacks[`delete${name}Callback`] = (ctx: TurnContext, id: string) =>
      commit(ctx, [{ op: 'delete', kind, id }]);
  }
  for (const name of ['Memories', 'Messages', 'Thoughts', 'ToolCalls', 'Retrievables']) {
    const kind = uncapital(name) as HistoryKind;
    callbacks[`fetch${name}Callback`] = async (ctx: TurnContext) =>
      recordsIn((await load(ctx)).records[kind]);
  }
  return madeForStore(callbacks as unknown as TurnCallbacks);
}

/** The records of a loaded session. */
function recordsIn(records: Beginning<AnyRecord> | undefined): AnyRecord[] {
  return records === undefined ? [] : [...records.history].slice(0, records.length);
}

function uncapital(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
