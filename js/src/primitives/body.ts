/**
 * The bodies of records: how they are written for the module, and how records are made of checked values.
 */
import type { Encoder } from '../codec/encoder.js';
import type { Checked } from '../validation/rules.js';

/** Name of the method by which a record writes its body. */
export const encodeBody = Symbol('encodeBody');

/** Name of the method by which a text gives what crosses of it. */
export const crossingText = Symbol('crossingText');

/** Something with a body. */
export interface Encodable {
  [encodeBody](enc: Encoder): void;
}

/** Writes the body of an item of a list. */
export function encodeItem(enc: Encoder, item: Encodable): void {
  item[encodeBody](enc);
}

/** Values that need no check, in place of a constructor's raw object: the module's own records are made of them. */
export class Parts {
  readonly values: Checked;

  constructor(values: Checked) {
    this.values = values;
  }
}
