/**
 * Text that a model sees.
 */
import { letGo } from '../awaitable.js';
import type { Encoder } from '../codec/encoder.js';
import type { DispatchContext } from './reader-context.js';
import { invalidValue, TurncoreError } from '../errors.js';
import { type Converter, invalid } from '../validation/field-kinds.js';
import { crossingText, encodeBody } from './body.js';
import { estimateText } from './estimate.js';

/**
 * Gives the text of a dynamic {@link Tokenizable}. It is called at every read, at once, and has to return a string; it
 * must do without a context, which is there only when the reader had one.
 */
export type TextEvaluator = (ctx?: DispatchContext) => string;

/** What a {@link Tokenizable} is made of. */
export type TextSource = string | TextEvaluator;

/** Name of the method that renders a text before it crosses to the module. */
export const renderForCrossing = Symbol('renderForCrossing');

let owns: (value: object) => boolean;

/**
 * A piece of text for a model: contents of records, system prompts and standing instructions. Wherever one is
 * accepted a plain string is too. Two with the same text are different entries of a collection.
 *
 * A static one holds a string. A dynamic one has a function that gives the text each time it is read; the module gets
 * the text that it has when its record crosses. {@link set} changes what the host reads from then on, and nothing that
 * the module has already.
 */
export class Tokenizable {
  static {
    owns = (value) => #source in value;
  }

  #source: TextSource;
  /** Dynamic: the text that crosses, from the last time it was rendered for that. */
  #crossing: string | undefined;
  /** Tokens by encoding; of a dynamic text, as it reads without a context. */
  #counts: Map<string, number> | undefined;
  /** Dynamic: tokens by context and encoding. */
  #contextCounts: WeakMap<object, Map<string, number>> | undefined;

  /**
   * @param source the text, which may be empty, or the function that gives it
   * @throws TurncoreError E_INVALID_VALUE for anything else
   */
  constructor(source: TextSource) {
    this.#source = requireSource(source);
  }

  /** A Tokenizable of a string or a function; a Tokenizable is returned as it is. */
  static from(value: TextSource | Tokenizable): Tokenizable {
    return isTokenizable(value) ? value : new Tokenizable(value);
  }

  /** Whether a function gives the text. */
  get dynamic(): boolean {
    return typeof this.#source === 'function';
  }

  /** UTF-16 units of the text. @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID */
  get length(): number {
    return this.render().length;
  }

  /**
   * The text, for a context if one is given.
   *
   * @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID when the function threw, which is the cause then, or gave
   *   something that is not a string
   */
  render(ctx?: DispatchContext): string {
    const source = this.#source;
    return typeof source === 'string' ? source : evaluate(source, ctx);
  }

  /** Replaces the text, or the function that gives it. @returns this text. @throws TurncoreError E_INVALID_VALUE for anything else */
  set(source: TextSource): this {
    this.#source = requireSource(source);
    this.#crossing = undefined;
    this.#counts = undefined;
    this.#contextCounts = undefined;
    return this;
  }

  /**
   * Tokens that the text has in an encoding: `claude` has ceil(UTF-16 units / 3.5), another one is counted by the
   * tokenizer that the context's host has for it, and is ceil(UTF-16 units / 4) when there is none. The count is kept:
   * once for an encoding, and of a dynamic text once for each context and encoding.
   *
   * @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID; E_INVALID_VALUE for an encoding that is not a name
   */
  estimateTokens(encoding: string, ctx?: DispatchContext): number {
    const counts = this.#countsFor(ctx);
    let count = counts.get(encoding);
    if (count === undefined) {
      count = estimateText(encoding, this.render(ctx), ctx);
      counts.set(encoding, count);
    }
    return count;
  }

  /** The text without a context. @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID */
  toString(): string {
    return this.render();
  }

  /** The text without a context. @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID */
  valueOf(): string {
    return this.render();
  }

  /** The text without a context. @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID */
  toJSON(): string {
    return this.render();
  }

  /** @internal Renders the text that crosses, so that encoding it cannot fail. Returns its UTF-16 units. */
  [renderForCrossing](): number {
    const text = this.render();
    if (this.dynamic) this.#crossing = text;
    return text.length;
  }

  /** @internal */
  [crossingText](): string {
    return this.#crossing ?? this.render();
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    enc.str(this[crossingText]());
  }

  #countsFor(ctx: DispatchContext | undefined): Map<string, number> {
    // Only with a context is there a tokenizer, so counts with one and without are kept apart for static texts too.
    if (ctx === undefined) return (this.#counts ??= new Map<string, number>());
    this.#contextCounts ??= new WeakMap();
    let counts = this.#contextCounts.get(ctx);
    if (counts === undefined) {
      counts = new Map();
      this.#contextCounts.set(ctx, counts);
    }
    return counts;
  }
}

/** Tells a Tokenizable: a Proxy of one is none, it lacks what the class keeps to itself. */
export function isTokenizable(value: unknown): value is Tokenizable {
  return value instanceof Tokenizable && owns(value);
}

function requireSource(source: TextSource): TextSource {
  if (typeof source === 'string' || typeof source === 'function') return source;
  throw invalidValue('text', 'must be a string, or a function that returns one');
}

function evaluate(evaluator: TextEvaluator, ctx: DispatchContext | undefined): string {
  let text: unknown;
  try {
    text = evaluator(ctx);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw TurncoreError.of('E_TOKENIZABLE_EVALUATOR_INVALID', why, { cause });
  }
  if (typeof text === 'string') return text;
  letGo(text);
  const what =
    text === null ? 'null' : Array.isArray(text) ? 'a list' : `a value of type ${typeof text}`;
  throw TurncoreError.of('E_TOKENIZABLE_EVALUATOR_INVALID', `it returned ${what}`);
}

/** The kind of field `text`: a Tokenizable, or a string that is made one. */
export const toText: Converter = (value) => {
  if (isTokenizable(value)) return value;
  return typeof value === 'string' ? new Tokenizable(value) : invalid;
};
