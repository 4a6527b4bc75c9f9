/**
 * Who speaks.
 */
import { identityRules } from '../abi/rules.gen.js';
import type { IdentityRecord } from '../codec/tuples.gen.js';
import { collect, type Converter, invalid, isObject } from '../validation/field-kinds.js';
import { crossingText, valuesOf } from './body.js';
import { type Tokenizable, toText } from './tokenizable.js';

/** The fields of an {@link Identity}. */
export interface RawIdentity {
  /** Names the speaker for systems; a number becomes text. */
  readonly identifier: string | number;
  /** Names the speaker to the model. */
  readonly representation: string | Tokenizable;
}

/** A speaker: a name for systems and a name for the model. Immutable. */
export class Identity {
  /** Names the speaker to systems. */
  readonly identifier: string;
  /** Names the speaker to the model. */
  readonly representation: Tokenizable;

  /** @throws TurncoreError E_INVALID_INITIAL_IDENTITY_VALUE listing every violation */
  constructor(raw: RawIdentity) {
    const values = valuesOf(identityRules, raw, classes);
    this.identifier = values.identifier;
    this.representation = values.representation;
    Object.freeze(this);
  }

  /** Makes an Identity from a string, which is both names, or from its parts; returns an Identity unchanged. */
  static from(value: string | RawIdentity | Identity): Identity {
    if (value instanceof Identity) return value;
    if (typeof value === 'string')
      return new Identity({ identifier: value, representation: value });
    return new Identity(value);
  }

  /** Its parts as plain data. */
  toJSON(): { identifier: string; representation: string } {
    return { identifier: this.identifier, representation: this.representation.toString() };
  }

  /** @internal The part of it that crosses. */
  get tuple(): IdentityRecord {
    return { identifier: this.identifier, representation: this.representation[crossingText]() };
  }
}

const classes = { text: toText };

/** The kind of field `identity`: an Identity, or an argument of {@link Identity.from}. */
export const toIdentity: Converter<Identity> = (value, report) => {
  if (value instanceof Identity) return value;
  if (typeof value !== 'string' && !isObject(value)) return invalid;
  try {
    return Identity.from(value as string | RawIdentity);
  } catch (error) {
    return collect(error, report);
  }
};
