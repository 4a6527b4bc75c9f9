/**
 * The bodies of records: writing them for the module, and making records from checked values.
 */
import type { Encoder } from '../codec/encoder.js';
import type { TypeRules } from '../abi/rules.gen.js';
import type { CheckedAs } from '../validation/checked.js';
import { check, type Checked, type Classes, phrase } from '../validation/rules.js';

/** Name of the method by which a record writes its body. */
export const encodeBody = Symbol('encodeBody');

/** Name of the method that returns the crossing form of a text. */
export const crossingText = Symbol('crossingText');

/** Something with a body. */
export interface Encodable {
  [encodeBody](enc: Encoder): void;
}

/** Writes the body of an item of a list. */
export function encodeItem(enc: Encoder, item: Encodable): void {
  item[encodeBody](enc);
}

/**
 * Values that need no check, passed instead of a constructor's raw object: the module's own records are made from
 * them.
 */
export class Parts {
  readonly values: Checked;

  constructor(values: Checked) {
    this.values = values;
  }
}

/**
 * The values of a record: its parts, or those of a raw object that is checked.
 *
 * @throws TurncoreError with the type's code; its message and details list every violation
 */
export function valuesOf<const T extends TypeRules, const C extends Classes>(
  type: T,
  raw: object,
  classes: C,
): CheckedAs<T, C> {
  return raw instanceof Parts ? (raw.values as CheckedAs<T, C>) : check(type, raw, classes);
}

/** Fields of the application's own. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Says that metadata are no object, if they are none. */
export function metadataViolations({ metadata }: Checked): readonly string[] {
  const tag = Object.prototype.toString.call(metadata ?? {});
  return tag === '[object Object]' ? [] : [phrase('object', { field: 'metadata' })];
}
