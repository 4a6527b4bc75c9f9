/**
 * Retrieved documents.
 */
import { retrievableRules } from '../abi/rules.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { utf8Length } from '../codec/layout.js';
import { writeRetrievable, writeTextPart } from '../codec/records.gen.js';
import type { DispatchContext } from './reader-context.js';
import { artifactClassOf } from '../validation/artifact-class.js';
import type { Converter } from '../validation/field-kinds.js';
import { encodeBody, Parts, valuesOf, type Metadata, metadataViolations } from './body.js';
import { type ArtifactClass, isArtifactClass, SpooledArtifact } from './spooled-artifact.js';
import type { Timestamp } from './timestamp.js';
import { type Tokenizable, toText } from './tokenizable.js';
import type { TrustTier } from './trust-tier.js';

/** The fields of a {@link Retrievable}. */
export interface RawRetrievable {
  /** Not empty; unique in its store. */
  readonly id: string;
  /** Not empty when it is a string. */
  readonly content: string | Tokenizable | SpooledArtifact;
  /** No default: the code that retrieves it must set it. */
  readonly trustTier: TrustTier;
  /** Where it was found. */
  readonly source?: string | undefined;
  /** What it is. */
  readonly kind?: string | undefined;
  /** Relevance, 0 to 1. */
  readonly score?: number | undefined;
  /** Whether the prompt has its text instead of a handle. Default false. */
  readonly inline?: boolean | undefined;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Returns the class of the artifact for its text. Default: {@link SpooledArtifact}. */
  readonly artifactConstructor?: (() => ArtifactClass) | undefined;
  /** Fields of the application's own, by name: JSON-like values. They are stored with it; no model gets them. */
  readonly metadata?: Metadata | undefined;
}

let owns: (value: object) => boolean;

/** A retrieved document. Immutable. */
export class Retrievable {
  static {
    owns = (value) => #createdAt in value;
  }

  /** Unique in its store. */
  readonly id: string;
  /** Its text, or the artifact that holds it. */
  readonly content: Tokenizable | SpooledArtifact;
  /** The trust in its text. */
  readonly trustTier: TrustTier;
  /** Where it was found. */
  readonly source: string | undefined;
  /** What it is. */
  readonly kind: string | undefined;
  /** Relevance, 0 to 1. */
  readonly score: number | undefined;
  /** Whether the prompt has its text instead of a handle. */
  readonly inline: boolean;
  /** Returns the class of the artifact for its text. */
  readonly artifactConstructor: (() => ArtifactClass) | undefined;
  /** Fields of the application's own, by name, deeply frozen; undefined for none. */
  readonly metadata: Metadata | undefined;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws TurncoreError E_INVALID_INITIAL_RETRIEVABLE_VALUE listing every violation */
  constructor(raw: RawRetrievable) {
    const values = valuesOf(retrievableRules, raw, classes);
    this.id = values.id;
    this.content = values.content;
    this.trustTier = values.trustTier;
    this.source = values.source;
    this.kind = values.kind;
    this.score = values.score;
    this.inline = values.inline;
    this.artifactConstructor = values.artifactConstructor;
    this.metadata = values.metadata as Metadata | undefined;
    this.#createdAt = values.createdAt;
    this.#updatedAt = values.updatedAt;
    Object.freeze(this);
  }

  /** Whether the size of its handle is unknown: an artifact that is not inline and has no size hints. */
  get sizeUnknown(): boolean {
    const { content } = this;
    return content instanceof SpooledArtifact && !this.inline && !content.hasSizeHints();
  }

  /** Its whole text. */
  async contentString(): Promise<string> {
    const { content } = this;
    return content instanceof SpooledArtifact ? content.asString() : content.toString();
  }

  /**
   * Its tokens in a prompt. For an artifact that is not inline and has size hints, those of its handle,
   * synchronously. Otherwise those of its whole text, for an artifact as a promise.
   *
   * @throws TurncoreError as {@link Tokenizable.estimateTokens}
   */
  estimateTokens(encoding: string, ctx?: DispatchContext): number | Promise<number> {
    const { content } = this;
    if (!(content instanceof SpooledArtifact)) return content.estimateTokens(encoding, ctx);
    if (this.inline || !content.hasSizeHints()) return content.estimateTokens(encoding, ctx);
    return content.estimateHandleTokens(this.id, encoding);
  }

  /** @internal The text to spool when it is stored: a string, unless the document is inline. */
  get spooledText(): string | undefined {
    const { content } = this;
    if (content instanceof SpooledArtifact || content.dynamic || this.inline) return undefined;
    return content.toString();
  }

  /** @internal The same document with another content. */
  withContent(content: SpooledArtifact): Retrievable {
    return new Retrievable(
      new Parts({
        id: this.id,
        content,
        trustTier: this.trustTier,
        source: this.source,
        kind: this.kind,
        score: this.score,
        inline: this.inline,
        artifactConstructor: this.artifactConstructor,
        metadata: this.metadata,
        createdAt: this.#createdAt,
        updatedAt: this.#updatedAt,
      }) as unknown as RawRetrievable,
    );
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
      content: this.content.toJSON(),
      trustTier: this.trustTier,
      source: this.source,
      kind: this.kind,
      score: this.score,
      inline: this.inline,
      createdAt: this.createdAt.toISOString(),
      updatedAt: this.updatedAt.toISOString(),
      metadata: this.metadata,
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    writeRetrievable(enc, {
      id: this.id,
      content: (e) => this.#encodeContent(e),
      trustTier: this.trustTier,
      source: this.source ?? null,
      kind: this.kind ?? null,
      score: this.score ?? null,
      inline: this.inline,
      createdAt: this.#createdAt,
      updatedAt: this.#updatedAt,
    });
  }

  /** Text that will be spooled stays with the host: the module gets only its size. */
  #encodeContent(enc: Encoder): void {
    const text = this.spooledText;
    if (text === undefined) this.content[encodeBody](enc);
    else writeTextPart(enc, { bytes: utf8Length(text) });
  }
}

/** Recognizes a Retrievable. A Proxy of one does not count: it lacks the private fields. */
export function isRetrievable(value: unknown): value is Retrievable {
  return value instanceof Retrievable && owns(value);
}

/** The kind of field `content`: text, or an artifact. */
const toContent: Converter<Tokenizable | SpooledArtifact> = (value, report) =>
  value instanceof SpooledArtifact ? value : toText(value, report);

const classes = {
  text: toText,
  content: toContent,
  artifactClass: artifactClassOf(isArtifactClass),
  also: metadataViolations,
};
