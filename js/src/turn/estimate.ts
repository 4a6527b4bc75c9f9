/**
 * Counting tokens for user code that has a context.
 */
import { Method } from '../abi/frames.gen.js';
import { exactTokens, tokensOfLength } from '../primitives/estimate.js';
import type { ContextState } from './context-state.js';
import { asError } from './error-table.js';

/** UTF-16 units of a text that a warning shows. */
const PREVIEW = 80;

/** Tokens of texts, by their length where no tokenizer counts them, which a warning says then. */
export function estimateTexts(
  state: ContextState,
  encoding: string,
  texts: readonly string[],
): readonly number[] {
  return countTexts(state, encoding, texts) ?? texts.map((t) => tokensOfLength(encoding, t.length));
}

/** Tokens of texts by a tokenizer; undefined when there is none, or when it failed. A warning says so. */
export function countTexts(
  state: ContextState,
  encoding: string,
  texts: readonly string[],
): readonly number[] | undefined {
  exactTokens(encoding, '', undefined); // refuses anything that is not a name
  if (encoding === 'claude' || texts.length === 0) return undefined;
  const { tokenizers } = state.definition;
  if (!tokenizers.has(encoding)) {
    warn(state, encoding, texts[0]!, `there is no tokenizer for ${encoding}`, undefined);
    return undefined;
  }
  try {
    return tokenizers.count(encoding, texts);
  } catch (error) {
    warn(state, encoding, texts[0]!, `the tokenizer for ${encoding} failed`, error);
    return undefined;
  }
}

/** Warns once for an encoding and context, as long as anybody hears it. */
function warn(
  state: ContextState,
  encoding: string,
  text: string,
  why: string,
  error: unknown,
): void {
  const { turn } = state;
  if (state.ended || turn.ended || !turn.core.alive) return;
  turn.callNow(state.number, Method.Warn, {
    kind: 'token-estimation-degraded',
    message: `${why}: tokens are estimated from the length of the text`,
    once: encoding,
    error: error === undefined ? null : turn.errors.wireOf(asError(error), state.reason),
    payload: (e) => e.value({ encoding, textPreview: text.slice(0, PREVIEW) }, 'payload'),
  });
}
