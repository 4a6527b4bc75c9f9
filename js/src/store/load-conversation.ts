/**
 * The middleware that puts a session's records into a turn.
 */
import type { TurnPipelineMiddlewareFn } from '../context/functions.js';
import { enterTurn, SessionLoader } from './session-loader.js';
import type { Store } from './store.js';
import { type SessionOptions, sessionOf } from './store-callbacks.js';

/**
 * A turn input middleware that loads the session's conversation from a store into the turn's collections, in front of
 * what they hold already. A record that is there under the same id, such as the message that the turn began with, stays
 * instead of the store's copy.
 *
 * The middleware remembers the sessions that it loaded last, each with its revision, and asks the store for what came
 * after: see {@link Store.load}. With a store that has revisions a turn costs the same however long the conversation.
 * With one that has none every turn loads and encodes the whole session, but what the module has already does not cross
 * to it again.
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
