/**
 * A limit on the cost of a turn.
 */
import { requireOptions } from '../context/options.js';
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { invalidValue } from '../errors.js';
import { inputOnly, moduleMiddleware } from './options.js';

/** Prices of a model, per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Price of cached input. Default: the price of other input. */
  readonly cachedInput?: number | undefined;
}

/** Options of {@link spendLimit}. */
export interface SpendLimitOptions {
  /** More than 0. */
  readonly limit: number;
  /** Such as "USD", for messages. */
  readonly currency?: string | undefined;
  /**
   * Prices by model. A model whose reported name ends in a date or version, such as `m-2024-07-18`, has the price of
   * `m` unless it has its own.
   */
  readonly prices: Readonly<Record<string, Price>>;
}

/**
 * A dispatch input middleware that nacks with E_SPEND_LIMIT before a model call if the turn's earlier calls, in all
 * its dispatches, have reached the limit, by the usage that executors reported and the price table. Usage without a
 * price, a model or numbers nacks with E_SPEND_UNKNOWN_PRICE. It runs inside the module.
 *
 * @throws TurncoreError E_INVALID_VALUE for options that break a rule
 */
export function spendLimit(options: SpendLimitOptions): DispatchPipelineMiddlewareFn {
  requireOptions('spendLimit', options, ['limit', 'currency', 'prices']);
  const { limit, currency, prices } = options;
  if (!isAmount(limit) || limit === 0) {
    throw invalidValue('spendLimit.limit', 'must be a positive number');
  }
  if (currency !== undefined && typeof currency !== 'string') {
    throw invalidValue('spendLimit.currency', 'must be a string');
  }
  requireOptions('spendLimit.prices', prices, Object.keys(prices ?? {}));
  const models = Object.entries(prices);
  if (models.length === 0) throw invalidValue('spendLimit.prices', 'must name at least one model');
  for (const [model, price] of models) {
    const name = `spendLimit.prices.${model}`;
    requireOptions(name, price, ['input', 'output', 'cachedInput']);
    const { input, output, cachedInput = 0 } = price;
    if (![input, output, cachedInput].every(isAmount)) {
      throw invalidValue(
        name,
        'must have input and output, and may have cachedInput: numbers from 0',
      );
    }
  }
  return moduleMiddleware('spendLimit', { limit, currency: currency ?? '', prices }, inputOnly);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
