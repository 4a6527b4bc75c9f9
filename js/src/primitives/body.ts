/**
 * The bodies of records: how they are written for the module, and how records are made of checked values.
 */
import type { Encoder } from '../codec/encoder.js';
import type { Checked } from '../validation/rules.js';

/** Name of the method by which a record writes its body. */
export const encodeBody = Symbol('encodeBody');

/** Something with a body. */
export interface Encodable {
  [encodeBody](enc: Encoder): void;
}

/** Values that need no check, in place of a constructor's raw object: the module's own records are made of them. */
export class Parts {
  readonly values: Checked;

  constructor(values: Checked) {
    this.values = values;
  }
}

/** Writes a string, or nil for none. */
export function encodeOptional(enc: Encoder, text: string | undefined): void {
  if (text === undefined) enc.nil();
  else enc.str(text);
}
