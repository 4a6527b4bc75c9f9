/**
 * Messages of a conversation.
 */
import type { Encoder } from '../codec/encoder.js';
import { type Converter, invalid } from '../validation/field-kinds.js';
import { check } from '../validation/rules.js';
import { encodeBody, encodeOptional, Parts } from './body.js';
import { Identity, type RawIdentity, toIdentity } from './identity.js';
import type { Timestamp } from './timestamp.js';
import { type Tokenizable, toText } from './tokenizable.js';

/** Who wrote a message. */
export type Role = 'user' | 'assistant';

/** What a {@link Message} is made of. */
export interface RawMessage {
  /** Not empty; unique in its store. */
  readonly id: string;
  readonly role: Role;
  /** Not empty when it is a string. */
  readonly content: string | Tokenizable;
  /** Default: the role, as both names. */
  readonly identity?: string | RawIdentity | Identity | undefined;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A message of a conversation. Immutable. */
export class Message {
  /** Unique in its store. */
  readonly id: string;
  /** Who wrote it. */
  readonly role: Role;
  /** Its text. A record that the module read from storage without text has none. */
  readonly content: Tokenizable | undefined;
  readonly #identity: Identity | undefined;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws TurncoreError E_INVALID_INITIAL_MESSAGE_VALUE listing every violation */
  constructor(raw: RawMessage) {
    const values = raw instanceof Parts ? raw.values : check('Message', raw, classes);
    this.id = values['id'] as string;
    this.role = values['role'] as Role;
    this.content = values['content'] as Tokenizable | undefined;
    this.#identity = values['identity'] as Identity | undefined;
    this.#createdAt = values['createdAt'] as number;
    this.#updatedAt = values['updatedAt'] as number;
    Object.freeze(this);
  }

  /** Who speaks. */
  get identity(): Identity {
    return this.#identity ?? Identity.from(this.role);
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
      role: this.role,
      content: this.content?.toString(),
      identity: this.identity.toJSON(),
      createdAt: this.createdAt.toISOString(),
      updatedAt: this.updatedAt.toISOString(),
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    enc.arrayHeader(7);
    enc.str(this.id);
    enc.str(this.role);
    encodeOptional(enc, this.content?.toString());
    if (this.#identity === undefined) enc.nil();
    else this.#identity[encodeBody](enc);
    enc.int(this.#createdAt);
    enc.int(this.#updatedAt);
    enc.nil();
  }
}

const classes = { text: toText, identity: toIdentity };

/** The kind of field `message`: a Message, or the text of one that is yet to be made. */
export const toMessage: Converter = (value) =>
  typeof value === 'string' || value instanceof Message ? value : invalid;
