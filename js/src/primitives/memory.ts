/**
 * Memories.
 */
import { memoryRules } from '../abi/rules.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { writeMemory } from '../codec/records.gen.js';
import { crossingText, encodeBody, valuesOf, type Metadata, metadataViolations } from './body.js';
import type { Timestamp } from './timestamp.js';
import { type Tokenizable, toText } from './tokenizable.js';

/** The fields of a {@link Memory}. */
export interface RawMemory {
  /** Not empty; unique in its store. */
  readonly id: string;
  /** Not empty when it is a string. */
  readonly content: string | Tokenizable;
  /** Confidence in it, 0 to 1. */
  readonly confidence: number;
  /** Importance of it, 0 to 1. */
  readonly importance: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Fields of the application's own, by name: JSON-like values. They are stored with it; no model gets them. */
  readonly metadata?: Metadata | undefined;
}

let owns: (value: object) => boolean;

/** Something to remember across turns. Immutable. */
export class Memory {
  static {
    owns = (value) => #createdAt in value;
  }

  /** Unique in its store. */
  readonly id: string;
  /** The remembered text. */
  readonly content: Tokenizable;
  /** Confidence in it, 0 to 1. */
  readonly confidence: number;
  /** Importance of it, 0 to 1. */
  readonly importance: number;
  /** Fields of the application's own, by name, deeply frozen; undefined for none. */
  readonly metadata: Metadata | undefined;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws TurncoreError E_INVALID_INITIAL_MEMORY_VALUE listing every violation */
  constructor(raw: RawMemory) {
    const values = valuesOf(memoryRules, raw, classes);
    this.id = values.id;
    this.content = values.content;
    this.confidence = values.confidence;
    this.importance = values.importance;
    this.metadata = values.metadata as Metadata | undefined;
    this.#createdAt = values.createdAt;
    this.#updatedAt = values.updatedAt;
    Object.freeze(this);
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
      confidence: this.confidence,
      importance: this.importance,
      createdAt: this.createdAt.toISOString(),
      updatedAt: this.updatedAt.toISOString(),
      metadata: this.metadata,
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    const { id, confidence, importance } = this;
    writeMemory(enc, {
      id,
      content: this.content[crossingText](),
      confidence,
      importance,
      createdAt: this.#createdAt,
      updatedAt: this.#updatedAt,
    });
  }
}

/** Recognizes a Memory. A Proxy of one does not count: it lacks the private fields. */
export function isMemory(value: unknown): value is Memory {
  return value instanceof Memory && owns(value);
}

const classes = { text: toText, also: metadataViolations };
