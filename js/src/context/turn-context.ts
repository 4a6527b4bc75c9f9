/**
 * The context of a turn.
 */
import { BaseContext } from './base-context.js';

/**
 * The context of turn middleware: the turn's input, its collections and its signal. `TurnRunner.run` makes it.
 */
export class TurnContext extends BaseContext {}
