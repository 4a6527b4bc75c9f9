/**
 * The middleware that puts a session's records into a turn.
 */
import type { TurnPipelineMiddlewareFn } from '../context/functions.js';
import { keeperOf } from './keeper.js';
import type { Store } from './store.js';
import { type SessionOptions, sessionOf } from './store-callbacks.js';

/**
 * A turn input middleware that loads the session's conversation from a store into the turn's collections, in front of
 * their records. A present record with the same id, such as the turn's own message, wins over the store's copy.
 *
 * The process remembers the sessions of a store that it loaded last with their revisions, for all runners, and asks the
 * store for later records: see {@link Store.load}. With revisions a turn costs the same, however long the conversation.
 * Without revisions every turn loads and encodes the whole session, but records that the module already has do not
 * cross again.
 *
 * A turn that has loaded its session does not overwrite what others change meanwhile: its commit fails instead, with
 * E_SESSION_CONFLICT. See `Commit` of `turncore/stores`.
 *
 * @throws TurncoreError E_INVALID_VALUE for anything that is not a store
 */
export function loadConversation(
  store: Store,
  options: SessionOptions = {},
): TurnPipelineMiddlewareFn {
  const sessionIn = sessionOf(store, options);
  const keeper = keeperOf(store);
  return async (ctx, next) => {
    const session = sessionIn(ctx);
    const { loader } = keeper;
    const loaded = await loader.load(session);
    keeper.writer(ctx, session).saw(loaded.revision, true);
    loader.enter(ctx, loaded);
    for (const text of loaded.instructions) {
      if (!ctx.standingInstructions.has(text.toString())) ctx.standingInstructions.add(text);
    }
    await next();
  };
}
