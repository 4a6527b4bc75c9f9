/**
 * The middleware that puts a session's records into a turn.
 */
import type { TurnPipelineMiddlewareFn } from '../context/functions.js';
import { enterTurn, SessionLoader } from './session-loader.js';
import type { Store } from './store.js';
import { type SessionOptions, sessionOf } from './store-callbacks.js';

/**
 * A turn input middleware that loads the session's conversation from a store into the turn's collections, in front of
 * their records. A present record with the same id, such as the turn's own message, wins over the store's copy.
 *
 * The middleware remembers the sessions that it loaded last with their revisions, and asks the store for later
 * records: see {@link Store.load}. With revisions a turn costs the same, however long the conversation. Without
 * revisions every turn loads and encodes the whole session, but records that the module already has do not cross
 * again.
 *
 * @throws TurncoreError E_INVALID_VALUE for anything that is not a store
 */
export function loadConversation(
  store: Store,
  options: SessionOptions = {},
): TurnPipelineMiddlewareFn {
  const session = sessionOf(store, options);
  const sessions = new SessionLoader(store);
  return async (ctx, next) => {
    const loaded = await sessions.load(session(ctx));
    enterTurn(ctx, loaded);
    for (const text of loaded.instructions) {
      if (!ctx.standingInstructions.has(text.toString())) ctx.standingInstructions.add(text);
    }
    await next();
  };
}
