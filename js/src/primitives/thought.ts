/**
 * Thoughts: the reasoning of a model.
 */
import { thoughtRules } from '../abi/rules.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { writeThought } from '../codec/records.gen.js';
import { crossingText, encodeBody, valuesOf, type Metadata, metadataViolations } from './body.js';
import { Identity, type RawIdentity, toIdentity } from './identity.js';
import type { Timestamp } from './timestamp.js';
import { Tokenizable, toText } from './tokenizable.js';

/** The fields of a {@link Thought}. */
export interface RawThought {
  /** Not empty; unique in its store. */
  readonly id: string;
  /** Required, and not empty when it is a string, unless there is a payload. */
  readonly content?: string | Tokenizable | undefined;
  /** Default: "assistant", as both names. */
  readonly identity?: string | RawIdentity | Identity | undefined;
  /** Data that a provider wants back unchanged: a JSON-like value. Needs replayCompatibility. */
  readonly payload?: unknown;
  /** Names the wire format of the payload. */
  readonly replayCompatibility?: string | undefined;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Fields of the application's own, by name: JSON-like values. They are stored with it; no model gets them. */
  readonly metadata?: Metadata | undefined;
}

let owns: (value: object) => boolean;

/** A piece of a model's reasoning. Immutable. */
export class Thought {
  static {
    owns = (value) => #identity in value;
  }

  /** Unique in its store. */
  readonly id: string;
  /** Its text; empty if there is only a payload. */
  readonly content: Tokenizable;
  /** Data that a provider wants back unchanged, deeply frozen. */
  readonly payload: unknown;
  /** Names the wire format of the payload. */
  readonly replayCompatibility: string | undefined;
  /** Fields of the application's own, by name, deeply frozen; undefined for none. */
  readonly metadata: Metadata | undefined;
  readonly #identity: Identity | undefined;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws TurncoreError E_INVALID_INITIAL_THOUGHT_VALUE listing every violation */
  constructor(raw: RawThought) {
    const values = valuesOf(thoughtRules, raw, classes);
    const identity = values.identity;
    this.id = values.id;
    this.content = values.content ?? new Tokenizable('');
    this.payload = values.payload;
    this.replayCompatibility = values.replayCompatibility;
    this.#identity = identity instanceof Identity ? identity : undefined;
    this.metadata = values.metadata as Metadata | undefined;
    this.#createdAt = values.createdAt;
    this.#updatedAt = values.updatedAt;
    Object.freeze(this);
  }

  /** Who thinks. */
  get identity(): Identity {
    return this.#identity ?? Identity.from('assistant');
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

  /** Its fields as plain data, times in ISO 8601. */
  toJSON(): Record<string, unknown> {
    return {
      id: this.id,
      content: this.content.toString(),
      identity: this.identity.toJSON(),
      payload: this.payload,
      replayCompatibility: this.replayCompatibility,
      createdAt: this.createdAt.toISOString(),
      updatedAt: this.updatedAt.toISOString(),
      metadata: this.metadata,
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    writeThought(enc, {
      id: this.id,
      content: this.content[crossingText](),
      identity: this.#identity?.tuple ?? null,
      payload: (e) => e.value(this.payload, 'payload'),
      replayCompatibility: this.replayCompatibility ?? null,
      createdAt: this.#createdAt,
      updatedAt: this.#updatedAt,
    });
  }
}

/** Tells a Thought: a Proxy of one is none, it lacks what the class keeps to itself. */
export function isThought(value: unknown): value is Thought {
  return value instanceof Thought && owns(value);
}

const classes = { text: toText, identity: toIdentity, also: metadataViolations };
