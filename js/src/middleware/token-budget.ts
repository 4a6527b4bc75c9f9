/**
 * A context that fits into a model's window.
 */
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { invalidValue } from '../errors.js';
import { inputOnly, moduleMiddleware, requireCount, requireOptions } from './options.js';

/** What {@link tokenBudget} keeps a context within. */
export interface TokenBudgetOptions {
  /**
   * A token encoding: one that the runner has a tokenizer for, `claude` (a token is 3.5 UTF-16 units), or any other (4,
   * with a warning).
   */
  readonly encoding: string;
  /** Tokens that the model's window holds. */
  readonly limit: number;
  /** Tokens of them kept free, for the answer and for what a provider puts around texts. Default 0. */
  readonly reserve?: number | undefined;
}

/**
 * A dispatch input middleware that makes the dispatch's context fit into `limit` less `reserve` tokens. It takes records
 * out of the dispatch's own collections, neither out of the turn's nor out of storage: first the conversation before the
 * last user message, oldest first; then retrieved documents, those with the lowest score first; then memories, the least
 * important first; then what the dispatch did since that message, oldest first. Neighbouring tool calls go together.
 * System prompt, standing instructions, tools and the last user message stay: when they alone do not fit, it changes
 * nothing and nacks with E_TOKEN_BUDGET. It runs inside the module.
 *
 * @throws TurncoreError E_INVALID_VALUE for options that break a rule
 */
export function tokenBudget(options: TokenBudgetOptions): DispatchPipelineMiddlewareFn {
  requireOptions('tokenBudget', options, ['encoding', 'limit', 'reserve']);
  const { encoding, limit, reserve = 0 } = options;
  if (typeof encoding !== 'string' || encoding === '') {
    throw invalidValue('tokenBudget.encoding', 'must be a non-empty string');
  }
  requireCount('tokenBudget.limit', limit);
  if (!Number.isInteger(reserve) || reserve < 0 || reserve >= limit) {
    throw invalidValue('tokenBudget.reserve', 'must be a whole number from 0 and less than limit');
  }
  return moduleMiddleware('tokenBudget', { encoding, limit, reserve }, inputOnly);
}
