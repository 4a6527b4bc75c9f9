/**
 * Makes the callbacks of a runner from a store.
 */
import type { RecordName } from '../collections/deltas.js';
import type { TurnContext } from '../context/turn-context.js';
import type { Delta } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import { invalidValue } from '../errors.js';
import type { ConduitBytes } from '../primitives/readers.js';
import type { TurnCallbacks } from '../runners/callbacks.js';
import { madeForStore } from '../runners/own-callbacks.js';
import { requireFunction, requireObject, requireString } from '../context/arguments.js';
import { collectBytes } from './byte-store.js';
import type { BytesReader, Store } from './store.js';

/** Settings of {@link storeCallbacks} and `loadConversation`. */
export interface SessionOptions {
  /** Returns the session of a turn. Default: `sessionId` in its stash, or "default". */
  readonly session?: ((ctx: TurnContext) => string) | undefined;
}

/** The session in a turn's stash. */
export function stashedSession(ctx: TurnContext): string {
  return sessionNamed(ctx.stash.get('sessionId'));
}

/**
 * The session for a stash's `sessionId`: "default" if there is none.
 *
 * @throws TurncoreError E_INVALID_VALUE for anything that is not a string, which must not select another session
 */
export function sessionNamed(id: unknown): string {
  if (id === undefined || id === null || id === '') return 'default';
  if (typeof id === 'string') return id;
  throw invalidValue('stash.sessionId', 'must be a string');
}

/**
 * Returns the function that selects the session of a turn.
 *
 * @throws TurncoreError E_INVALID_VALUE without a store, and for invalid settings; the returned function throws it
 * for a session id that is not a string
 */
export function sessionOf(store: Store, options: SessionOptions): (ctx: TurnContext) => string {
  requireObject(store, 'store');
  const methods = store as unknown as Readonly<Record<string, unknown>>;
  for (const name of ['load', 'commit', 'writeBytes']) {
    requireFunction(methods[name], `store.${name}`);
  }
  requireObject(options, 'options');
  const { session = stashedSession } = options;
  requireFunction(session, 'options.session');
  return (ctx) => requireString(session(ctx), 'session');
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
  const commit = (ctx: TurnContext, ...deltas: Delta[]): unknown =>
    store.commit(session(ctx), deltas);
  const put = (kind: RecordName) => (ctx: TurnContext, record: Entry) =>
    commit(ctx, { op: 'store', kind, record });
  const change = (kind: RecordName) => (ctx: TurnContext, record: Entry) =>
    commit(ctx, { op: 'mutate', kind, record });
  const remove = (kind: RecordName) => (ctx: TurnContext, id: string) =>
    commit(ctx, { op: 'delete', kind, id });
  const bytes = async (ctx: TurnContext, id: string, content: ConduitBytes): Promise<BytesReader> =>
    store.writeBytes(session(ctx), id, await collectBytes(content));
  const load = async (ctx: TurnContext) => await store.load(session(ctx));
  return madeForStore({
    fetchMemoriesCallback: async (ctx) => [...(await load(ctx)).memories],
    fetchMessagesCallback: async (ctx) => [...(await load(ctx)).messages],
    fetchThoughtsCallback: async (ctx) => [...(await load(ctx)).thoughts],
    fetchToolCallsCallback: async (ctx) => [...(await load(ctx)).toolCalls],
    fetchRetrievablesCallback: async (ctx) => [...(await load(ctx)).retrievables],
    fetchToolsCallback: (_ctx) => [],
    refreshStandingInstructionsCallback: async (ctx) => [...(await load(ctx)).instructions],
    storeStandingInstructionCallback: put('standingInstruction'),
    mutateStandingInstructionCallback: (ctx, old, record) =>
      commit(ctx, { op: 'mutate', kind: 'standingInstruction', record, old }),
    deleteStandingInstructionCallback: remove('standingInstruction'),
    storeMemoryCallback: put('memory'),
    mutateMemoryCallback: change('memory'),
    deleteMemoryCallback: remove('memory'),
    storeRetrievableCallback: put('retrievable'),
    mutateRetrievableCallback: change('retrievable'),
    deleteRetrievableCallback: remove('retrievable'),
    storeMessageCallback: put('message'),
    mutateMessageCallback: change('message'),
    deleteMessageCallback: remove('message'),
    storeThoughtCallback: put('thought'),
    mutateThoughtCallback: change('thought'),
    deleteThoughtCallback: remove('thought'),
    storeToolCallCallback: put('toolCall'),
    mutateToolCallCallback: change('toolCall'),
    deleteToolCallCallback: remove('toolCall'),
    replaceToolCallGroupCallback: (ctx, ids, records) =>
      commit(ctx, { op: 'replaceToolCallGroup', kind: 'toolCall', ids, records }),
    storeMediaBytesCallback: bytes,
    storeRetrievableBytesCallback: bytes,
    commitCallback: (ctx, deltas) => store.commit(session(ctx), deltas),
  } satisfies TurnCallbacks);
}
