/**
 * Tokenizers of the host, which count exactly.
 */
import type { CommonCode } from '../abi/codes.gen.js';
import { letGo } from '../awaitable.js';
import { TurncoreError } from '../errors.js';
import { isObject } from '../validation/field-kinds.js';
import { violationError } from '../validation/rules.js';

/**
 * Counts the tokens of texts: one whole number from 0 for each, in order. It gets all texts to count in one call and
 * must answer synchronously. It should not cache texts: its counts are kept.
 */
export type Tokenizer = (texts: readonly string[]) => readonly number[];

/** The encoding that is always estimated by length. */
const BUILT_IN = 'claude';

/** A host's tokenizers by the names of their encodings. */
export class Tokenizers {
  readonly #functions: ReadonlyMap<string, Tokenizer>;

  /**
   * @param code of the error that lists the violations
   * @throws TurncoreError E_TOKEN_ESTIMATOR_SHADOWS_BUILTIN for `claude`; with the given code for anything that is
   * not a function
   */
  constructor(functions: Readonly<Record<string, unknown>>, code: CommonCode) {
    const list = Object.entries(functions).filter(([, fn]) => fn !== undefined);
    const violations = tokenizerViolations(functions, []);
    if (violations.length > 0) throw violationError(code, violations);
    if (list.some(([name]) => name === BUILT_IN)) {
      throw TurncoreError.of('E_TOKEN_ESTIMATOR_SHADOWS_BUILTIN', BUILT_IN);
    }
    this.#functions = new Map(list as [string, Tokenizer][]);
  }

  /** Names of the encodings. */
  get encodings(): string[] {
    return [...this.#functions.keys()];
  }

  /** Whether there is a tokenizer for an encoding. */
  has(encoding: string): boolean {
    return this.#functions.has(encoding);
  }

  /**
   * Tokens of texts.
   *
   * @throws the tokenizer's error, and TypeError if it returns anything but a count for each text
   */
  count(encoding: string, texts: readonly string[]): readonly number[] {
    const given: unknown = this.#functions.get(encoding)!(texts);
    // A copy without holes, which every() skips.
    const counts: unknown[] = Array.isArray(given) ? Array.from(given) : [];
    if (!Array.isArray(given) || counts.length !== texts.length || !counts.every(isCount)) {
      letGo(given);
      throw new TypeError(`the tokenizer for ${encoding} must return a count for each text`);
    }
    return counts;
  }
}

/**
 * Lists the violations of tokenizers. The built-in name is a separate error if there is no other violation.
 *
 * @param others further violations of the configuration
 */
export function tokenizerViolations(functions: unknown, others: readonly string[]): string[] {
  if (!isObject(functions)) return [];
  const list = Object.entries(functions).filter(([, fn]) => fn !== undefined);
  const violations = list.flatMap(([name, fn]) => {
    if (name === '') return ['`tokenizers` must have names that are not empty'];
    return typeof fn === 'function' ? [] : [`\`tokenizers.${name}\` must be a function`];
  });
  if (violations.length + others.length > 0 && functions[BUILT_IN] !== undefined) {
    violations.push(`\`tokenizers.${BUILT_IN}\` is built in and cannot be replaced`);
  }
  return violations;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
