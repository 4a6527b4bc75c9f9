/**
 * The contexts of user code.
 */
import type { ContextState } from '../turn/context-state.js';
import { DispatchContext } from './dispatch-context.js';
import { TurnContext } from './turn-context.js';

/**
 * Makes the context object for user code: number 0 is the turn's, the others are dispatches'.
 *
 * @param key makes the key of the call that it is for
 * @param signal of that call alone
 */
export function facadeOf(
  state: ContextState,
  key?: () => string,
  signal?: AbortSignal,
): TurnContext | DispatchContext {
  const Context = state.number === 0 ? TurnContext : DispatchContext;
  return new Context(state, key, signal);
}
