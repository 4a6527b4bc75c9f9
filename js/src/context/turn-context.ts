/**
 * The context of a turn.
 */
import { BaseContext, stateOf } from './base-context.js';

/**
 * What turn middleware works on: the turn's input, its collections and its signal. Made by `TurnRunner.run`.
 */
export class TurnContext extends BaseContext {
  /** The turn's id, which events carry as `turnId`. */
  get id(): string {
    return this[stateOf].turn.id;
  }
}
