/**
 * Messages of a conversation.
 */
import { messageRules } from '../abi/rules.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { writeMessage } from '../codec/records.gen.js';
import { type Converter, invalid } from '../validation/field-kinds.js';
import {
  crossingText,
  encodeBody,
  encodeItem,
  valuesOf,
  type Metadata,
  metadataViolations,
} from './body.js';
import { Identity, type RawIdentity, toIdentity } from './identity.js';
import { Media } from './media.js';
import type { Timestamp } from './timestamp.js';
import { type Tokenizable, toText } from './tokenizable.js';

/** The author of a message. */
export type Role = 'user' | 'assistant';

/** The fields of a {@link Message}. */
export interface RawMessage {
  /** Not empty; unique in its store. */
  readonly id: string;
  readonly role: Role;
  /** Not empty when it is a string. Required unless there are attachments. */
  readonly content?: string | Tokenizable | undefined;
  /** Default: the role, as both names. */
  readonly identity?: string | RawIdentity | Identity | undefined;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Its attachments: at least one, or undefined. */
  readonly attachments?: readonly Media[] | undefined;
  /** Fields of the application's own, by name: JSON-like values. They are stored with it; no model gets them. */
  readonly metadata?: Metadata | undefined;
}

let owns: (value: object) => boolean;

/** A message of a conversation. Immutable. */
export class Message {
  static {
    owns = (value) => #identity in value;
  }

  /** Unique in its store. */
  readonly id: string;
  /** Its author. */
  readonly role: Role;
  /** Its text; undefined if it has only attachments. */
  readonly content: Tokenizable | undefined;
  /** Its attachments, frozen; empty for none. */
  readonly attachments: readonly Media[];
  /** Fields of the application's own, by name, deeply frozen; undefined for none. */
  readonly metadata: Metadata | undefined;
  readonly #identity: Identity | undefined;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws TurncoreError E_INVALID_INITIAL_MESSAGE_VALUE listing every violation */
  constructor(raw: RawMessage) {
    const values = valuesOf(messageRules, raw, classes);
    this.id = values.id;
    this.role = values.role;
    this.content = values.content;
    this.attachments = Object.freeze(values.attachments ?? []);
    this.#identity = values.identity;
    this.metadata = values.metadata as Metadata | undefined;
    this.#createdAt = values.createdAt;
    this.#updatedAt = values.updatedAt;
    Object.freeze(this);
  }

  /** Who speaks. */
  get identity(): Identity {
    return this.#identity ?? Identity.from(this.role);
  }

  /** @internal The given identity. */
  get ownIdentity(): Identity | undefined {
    return this.#identity;
  }

  /** When it was created. */
  get createdAt(): Date {
    return new Date(this.#createdAt);
  }

  /** When it was last changed. */
  get updatedAt(): Date {
    return new Date(this.#updatedAt);
  }

  /**
   * Its fields as plain data, times in ISO 8601. An empty list of attachments is omitted, as the constructor requires.
   */
  toJSON(): Record<string, unknown> {
    const attachments = this.attachments.map((media) => media.toJSON());
    return {
      id: this.id,
      role: this.role,
      content: this.content?.toString(),
      attachments: attachments.length > 0 ? attachments : undefined,
      identity: this.identity.toJSON(),
      createdAt: this.createdAt.toISOString(),
      updatedAt: this.updatedAt.toISOString(),
      metadata: this.metadata,
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    const { attachments } = this;
    writeMessage(enc, {
      id: this.id,
      role: this.role,
      content: this.content?.[crossingText]() ?? null,
      identity: this.#identity?.tuple ?? null,
      createdAt: this.#createdAt,
      updatedAt: this.#updatedAt,
      attachments: attachments.length === 0 ? null : (e) => e.list(attachments, encodeItem),
    });
  }
}

/** Recognizes a Message. A Proxy of one does not count: it lacks the private fields. */
export function isMessage(value: unknown): value is Message {
  return value instanceof Message && owns(value);
}

const classes = {
  text: toText,
  identity: toIdentity,
  instances: { Media: (value: unknown) => value instanceof Media },
  also: metadataViolations,
};

/** The kind of field `message`: a Message, or the text of a new one. */
export const toMessage: Converter<string | Message> = (value) =>
  typeof value === 'string' || isMessage(value) ? value : invalid;
