/**
 * Text that a model sees.
 */
import { letGo } from '../awaitable.js';
import type { Encoder } from '../codec/encoder.js';
import type { DispatchContext } from './reader-context.js';
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import { type Converter, invalid } from '../validation/field-kinds.js';
import { crossingText, encodeBody } from './body.js';
import { estimateText } from './estimate.js';

/**
 * Gives the text of a dynamic {@link Tokenizable}. It is called synchronously at every read and must return a string.
 * It must work without a context, which it gets only if the reader has one.
 */
export type TextEvaluator = (ctx?: DispatchContext) => string;

/** The source of a {@link Tokenizable}. */
export type TextSource = string | TextEvaluator;

/** Name of the method that renders a text before it crosses to the module. */
export const renderForCrossing = Symbol('renderForCrossing');

let owns: (value: object) => boolean;

/**
 * A piece of text for a model: the content of a record, a system prompt, a standing instruction. A plain string is
 * accepted everywhere a Tokenizable is. Two with the same text are different entries of a collection.
 *
 * A static one holds a string. A dynamic one has a function that returns the text at each read; the module gets the
 * text rendered when the record crosses. {@link set} changes later reads on the host, but not the module's copy.
 */
export class Tokenizable {
  static {
    owns = (value) => #source in value;
  }

  #source: TextSource;
  /** Dynamic: the crossing text, as last rendered. */
  #crossing: string | undefined;
  /** Tokens by encoding; for a dynamic text, rendered without a context. */
  #counts: Map<string, number> | undefined;
  /** Dynamic: tokens by context and encoding. */
  #contextCounts: WeakMap<object, Map<string, number>> | undefined;

  /**
   * @param source the text, which may be empty, or a function that returns it
   * @throws TurncoreError E_INVALID_VALUE for anything else
   */
  constructor(source: TextSource) {
    this.#source = requireSource(source);
  }

  /** Makes a Tokenizable from a string or a function; returns a Tokenizable unchanged. */
  static from(value: TextSource | Tokenizable): Tokenizable {
    return isTokenizable(value) ? value : new Tokenizable(value);
  }

  /** Whether a function returns the text. */
  get dynamic(): boolean {
    return typeof this.#source === 'function';
  }

  /** UTF-16 units of the text. @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID */
  get length(): number {
    return this.render().length;
  }

  /**
   * The text, rendered for a context if given.
   *
   * @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID if the function threw (then its error is the cause) or
   * returned anything but a string
   */
  render(ctx?: DispatchContext): string {
    const source = this.#source;
    return typeof source === 'string' ? source : evaluate(source, ctx);
  }

  /** Replaces the text or its function. @returns this text. @throws TurncoreError E_INVALID_VALUE for anything else */
  set(source: TextSource): this {
    this.#source = requireSource(source);
    this.#crossing = undefined;
    this.#counts = undefined;
    this.#contextCounts = undefined;
    return this;
  }

  /**
   * Tokens of the text in an encoding: `claude` is ceil(UTF-16 units / 3.5). Another encoding is counted by the
   * host's tokenizer for it, or else is ceil(UTF-16 units / 4). The count is kept once per encoding, for a dynamic
   * text once per context and encoding.
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

  /** @internal Renders the crossing text, so that encoding it cannot fail. Returns its UTF-16 units. */
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
    // Only a context has a tokenizer, so counts with and without a context are separate for static texts too.
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

/** Recognizes a Tokenizable. A Proxy of one does not count: it lacks the private fields. */
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
    throw TurncoreError.of('E_TOKENIZABLE_EVALUATOR_INVALID', messageOf(cause), { cause });
  }
  if (typeof text === 'string') return text;
  letGo(text);
  const what =
    text === null ? 'null' : Array.isArray(text) ? 'a list' : `a value of type ${typeof text}`;
  throw TurncoreError.of('E_TOKENIZABLE_EVALUATOR_INVALID', `it returned ${what}`);
}

/** The kind of field `text`: a Tokenizable, or a string, which becomes one. */
export const toText: Converter<Tokenizable> = (value) => {
  if (isTokenizable(value)) return value;
  return typeof value === 'string' ? new Tokenizable(value) : invalid;
};
