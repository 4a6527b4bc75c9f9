/**
 * Counts the tokens of texts.
 */
import { invalidValue } from '../errors.js';

/** Name of the method by which a context counts tokens with its host's tokenizer. */
export const countTokens = Symbol('countTokens');

/** The part of a context that counts tokens. */
export interface TokenCounter {
  /** Tokens of a text, or undefined when there is no tokenizer for the encoding. */
  [countTokens]?(encoding: string, text: string): number | undefined;
}

/** Approximate UTF-16 units per token of Claude's models. */
const CLAUDE = 3.5;
/** Assumed UTF-16 units per token of an unknown encoding. */
const UNKNOWN = 4;

/**
 * Tokens of a text: by the host's tokenizer for the encoding, otherwise by length: ceil(UTF-16 units / 3.5) for
 * `claude`, ceil(UTF-16 units / 4) for all others.
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

/** Estimated tokens of a text with that many UTF-16 units. */
export function tokensOfLength(encoding: string, units: number): number {
  requireEncoding(encoding);
  return Math.ceil(units / (encoding === 'claude' ? CLAUDE : UNKNOWN));
}

function requireEncoding(encoding: unknown): void {
  if (typeof encoding !== 'string' || encoding === '') {
    throw invalidValue('encoding', 'must be a non-empty string');
  }
}
