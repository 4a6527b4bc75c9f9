/**
 * The contexts of user code.
 */
import type { ContextState } from '../turn/context-state.js';
import { DispatchContext } from './dispatch-context.js';
import { TurnContext } from './turn-context.js';

/** Makes the context object for user code: number 0 is the turn's, the others are dispatches'. */
export function facadeOf(state: ContextState): TurnContext | DispatchContext {
  return state.number === 0 ? new TurnContext(state) : new DispatchContext(state);
}
