/**
 * The context of a turn.
 */
import { BaseContext } from './base-context.js';
import { stateOf } from './state-of.js';

/**
 * The context of turn middleware: the turn's input, its collections and its signal. `TurnRunner.run` makes it.
 */
export class TurnContext extends BaseContext {
  /** The turn's id, which events carry as `turnId`. */
  get id(): string {
    return this[stateOf].turn.id;
  }
}
