/**
 * Text that a model sees.
 */
import type { Encoder } from '../codec/encoder.js';
import { type Converter, invalid } from '../validation/field-kinds.js';
import { encodeBody } from './body.js';

/**
 * A piece of text for a model: contents of records, system prompts and standing instructions. Wherever one is
 * accepted a plain string is too. Immutable; two with the same text are different entries of a collection.
 */
export class Tokenizable {
  readonly #text: string;

  /** @param text the text; it may be empty. @throws TypeError unless it is a string */
  constructor(text: string) {
    if (typeof text !== 'string') throw new TypeError('a Tokenizable needs a string');
    this.#text = text;
  }

  /** A Tokenizable of a string; a Tokenizable is returned as it is. */
  static from(value: string | Tokenizable): Tokenizable {
    return value instanceof Tokenizable ? value : new Tokenizable(value);
  }

  /** UTF-16 units of the text. */
  get length(): number {
    return this.#text.length;
  }

  /** The text. */
  toString(): string {
    return this.#text;
  }

  /** The text. */
  valueOf(): string {
    return this.#text;
  }

  /** The text. */
  toJSON(): string {
    return this.#text;
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    enc.str(this.#text);
  }
}

/** The kind of field `text`: a Tokenizable, or a string that is made one. */
export const toText: Converter = (value) => {
  if (value instanceof Tokenizable) return value;
  return typeof value === 'string' ? new Tokenizable(value) : invalid;
};
