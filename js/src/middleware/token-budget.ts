/**
 * A budget that fits a context into a model's window.
 */
import { requireOptions } from '../context/options.js';
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { invalidValue } from '../errors.js';
import { inputOnly, moduleMiddleware, requireCount } from './options.js';

/** Options of {@link tokenBudget}. */
export interface TokenBudgetOptions {
  /**
   * A token encoding: one with a tokenizer of the runner, `claude` (a token is 3.5 UTF-16 units), or any other (4,
   * with a warning).
   */
  readonly encoding: string;
  /** Size of the model's window in tokens. */
  readonly limit: number;
  /**
   * Number of these tokens to keep free, for the answer and for tokens that a provider adds around texts. Default 0.
   */
  readonly reserve?: number | undefined;
}

/**
 * A dispatch input middleware that fits the dispatch's context into `limit` minus `reserve` tokens. It removes
 * records from the dispatch's own collections, but not from the turn's or from storage: first the conversation before
 * the last user message, oldest first; then retrieved documents, lowest score first; then memories, least important
 * first; then the dispatch's records since that message, oldest first. Adjacent tool calls are removed together.
 * System prompt, standing instructions, tools and the last user message stay: if they alone do not fit, it changes
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
