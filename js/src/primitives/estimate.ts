/**
 * How many tokens a text has.
 */
import { invalidValue } from '../errors.js';

/** Name of the method by which a context counts tokens with a tokenizer that its host has. */
export const countTokens = Symbol('countTokens');

/** A context, as far as counting tokens goes. */
export interface TokenCounter {
  /** Tokens of a text, or undefined when there is no tokenizer for the encoding. */
  [countTokens]?(encoding: string, text: string): number | undefined;
}

/** UTF-16 units that a token of Claude's models has, roughly. */
const CLAUDE = 3.5;
/** UTF-16 units that a token of an unknown encoding is taken to have. */
const UNKNOWN = 4;

/**
 * Tokens that a text has: by the tokenizer that the context's host has for the encoding, and else by its length:
 * ceil(UTF-16 units / 3.5) for `claude`, ceil(UTF-16 units / 4) for all others.
 *
 * @throws TurncoreError E_INVALID_VALUE for an encoding that is not a name
 */
export function estimateText(encoding: string, text: string, ctx?: TokenCounter): number {
  return exactTokens(encoding, text, ctx) ?? tokensOfLength(encoding, text.length);
}

/** Tokens of a text by its context's tokenizer, or undefined when there is none. */
export function exactTokens(
  encoding: string,
  text: string,
  ctx: TokenCounter | undefined,
): number | undefined {
  requireEncoding(encoding);
  return encoding === 'claude' ? undefined : ctx?.[countTokens]?.(encoding, text);
}

/** Tokens that a text of so many UTF-16 units is taken to have. */
export function tokensOfLength(encoding: string, units: number): number {
  requireEncoding(encoding);
  return Math.ceil(units / (encoding === 'claude' ? CLAUDE : UNKNOWN));
}

function requireEncoding(encoding: unknown): void {
  if (typeof encoding !== 'string' || encoding === '') {
    throw invalidValue('encoding', 'must be a non-empty string');
  }
}
