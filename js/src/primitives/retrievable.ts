/**
 * Retrieved documents.
 */
import type { Encoder } from '../codec/encoder.js';
import { check } from '../validation/rules.js';
import { encodeBody, encodeOptional, Parts } from './body.js';
import type { Timestamp } from './timestamp.js';
import { type Tokenizable, toText } from './tokenizable.js';

/** Where a document comes from, chosen by who retrieved it: how far its text is to be trusted. */
export type TrustTier = 'first-party' | 'third-party-public' | 'third-party-private';

/** What a {@link Retrievable} is made of. */
export interface RawRetrievable {
  /** Not empty; unique in its store. */
  readonly id: string;
  /** Not empty when it is a string. */
  readonly content: string | Tokenizable;
  /** No default: whoever retrieves must say. */
  readonly trustTier: TrustTier;
  /** Where it was found. */
  readonly source?: string | undefined;
  /** What it is. */
  readonly kind?: string | undefined;
  /** How well it fits, 0 to 1. */
  readonly score?: number | undefined;
  /** Whether its text stands in the prompt itself. Default false. */
  readonly inline?: boolean | undefined;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A retrieved document. Immutable. */
export class Retrievable {
  /** Unique in its store. */
  readonly id: string;
  /** Its text. */
  readonly content: Tokenizable;
  /** How far its text is to be trusted. */
  readonly trustTier: TrustTier;
  /** Where it was found. */
  readonly source: string | undefined;
  /** What it is. */
  readonly kind: string | undefined;
  /** How well it fits, 0 to 1. */
  readonly score: number | undefined;
  /** Whether its text stands in the prompt itself. */
  readonly inline: boolean;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws TurncoreError E_INVALID_INITIAL_RETRIEVABLE_VALUE listing every violation */
  constructor(raw: RawRetrievable) {
    const values = raw instanceof Parts ? raw.values : check('Retrievable', raw, classes);
    this.id = values['id'] as string;
    this.content = values['content'] as Tokenizable;
    this.trustTier = values['trustTier'] as TrustTier;
    this.source = values['source'] as string | undefined;
    this.kind = values['kind'] as string | undefined;
    this.score = values['score'] as number | undefined;
    this.inline = values['inline'] as boolean;
    this.#createdAt = values['createdAt'] as number;
    this.#updatedAt = values['updatedAt'] as number;
    Object.freeze(this);
  }

  /** When it was made. */
  get createdAt(): Date {
    return new Date(this.#createdAt);
  }

  /** When it was last changed. */
  get updatedAt(): Date {
    return new Date(this.#updatedAt);
  }

  /** Its fields as plain data, times in ISO 8601. */
  toJSON(): Record<string, unknown> {
    return {
      id: this.id,
      content: this.content.toString(),
      trustTier: this.trustTier,
      source: this.source,
      kind: this.kind,
      score: this.score,
      inline: this.inline,
      createdAt: this.createdAt.toISOString(),
      updatedAt: this.updatedAt.toISOString(),
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    enc.arrayHeader(9);
    enc.str(this.id);
    enc.str(this.content.toString());
    enc.str(this.trustTier);
    encodeOptional(enc, this.source);
    encodeOptional(enc, this.kind);
    if (this.score === undefined) enc.nil();
    else enc.float(this.score);
    enc.bool(this.inline);
    enc.int(this.#createdAt);
    enc.int(this.#updatedAt);
  }
}

const classes = { text: toText, content: toText };
