/**
 * What user code sees of a context.
 */
import type { ContextState } from '../turn/context-state.js';
import { DispatchContext } from './dispatch-context.js';
import { TurnContext } from './turn-context.js';

/** Makes what user code sees of a context: number 0 is the turn's, the others are dispatches'. */
export function facadeOf(state: ContextState): TurnContext | DispatchContext {
  return state.number === 0 ? new TurnContext(state) : new DispatchContext(state);
}
