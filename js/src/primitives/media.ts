/**
 * Media: images, sounds, videos and documents.
 */
import { mediaRules, mediaStashEntryRules } from '../abi/rules.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { writeMediaPart } from '../codec/records.gen.js';
import { systemClock, systemEntropy, UUID_ENTROPY, uuidv6 } from '../entropy.js';
import { TurncoreError } from '../errors.js';
import { Stash, stashViolations } from '../stash/stash.js';
import { type Converter, invalid, isObject } from '../validation/field-kinds.js';
import { check, violationsIn } from '../validation/rules.js';
import { encodeBody } from './body.js';
import { type MediaReader, toMediaReader } from './readers.js';
import type { TrustTier } from './trust-tier.js';

/** Kinds of {@link Media}. */
export type MediaKind = 'image' | 'audio' | 'video' | 'document';

/**
 * The hazard to a model that perceives the media: none, instructions that can be extracted as text beforehand, or
 * content that cannot be checked beforehand.
 */
export type ModalityHazard = 'inert' | 'extractable-instructions' | 'opaque-perceptual';

/** A fact about a media with its trust tier, for example a transcript. */
export interface MediaStashEntry {
  /** A JSON-like value. */
  readonly value: unknown;
  /** The trust in the value. */
  readonly trustTier: TrustTier;
  /** Whether it was derived from the media's content. */
  readonly derivedFromMedia?: boolean | undefined;
}

/** The fields of a {@link Media}. */
export interface RawMedia {
  /** Default: a UUID. */
  readonly id?: string | undefined;
  readonly kind: MediaKind;
  /** Such as "image/png". */
  readonly mimeType: string;
  readonly filename: string;
  /** No default: the code that adds the media must set it. */
  readonly trustTier: TrustTier;
  /** No default: the code that adds the media must set it. */
  readonly modalityHazard: ModalityHazard;
  /** Where it was found. */
  readonly source?: string | undefined;
  readonly reader: MediaReader;
  /** Facts about it, by name. Default: none. */
  readonly stash?: Readonly<Record<string, MediaStashEntry>> | undefined;
}

/** The argument of the factories of {@link Media}: they set the trust tier, and derive the hazard from the kind. */
export type MediaParts = Omit<RawMedia, 'trustTier' | 'modalityHazard'> & {
  /** Default: `extractable-instructions` for a document, `opaque-perceptual` for everything else. */
  readonly modalityHazard?: ModalityHazard | undefined;
};

/**
 * An image, a sound, a video or a document. Its bytes stay in place until a reader reads them; you can add to its
 * stash.
 */
export class Media {
  readonly id: string;
  readonly kind: MediaKind;
  /** Such as "image/png". */
  readonly mimeType: string;
  readonly filename: string;
  /** The trust in it. */
  readonly trustTier: TrustTier;
  /** The hazard to a model that perceives it. */
  readonly modalityHazard: ModalityHazard;
  /** Where it was found. */
  readonly source: string | undefined;
  /** Reads its bytes. */
  readonly reader: MediaReader;
  /** Facts about it: a {@link MediaStashEntry} under each name. */
  readonly stash: Stash;

  /** @throws TurncoreError E_INVALID_INITIAL_MEDIA_VALUE listing every violation */
  constructor(raw: RawMedia) {
    const values = check(mediaRules, raw, classes);
    this.id = values.id ?? uuidv6(systemClock(), systemEntropy(UUID_ENTROPY));
    this.kind = values.kind;
    this.mimeType = values.mimeType;
    this.filename = values.filename;
    this.trustTier = values.trustTier;
    this.modalityHazard = values.modalityHazard;
    this.source = values.source;
    this.reader = values.reader;
    this.stash = new Stash(values.stash);
    Object.freeze(this);
  }

  /** An attachment of a user, with the tier `third-party-private`. */
  static userAttachment(parts: MediaParts): Media {
    return made(parts, 'third-party-private');
  }

  /** A media made by a tool of the operator, with the tier `first-party`. */
  static toolGenerated(parts: MediaParts): Media {
    return made(parts, 'first-party');
  }

  /** A media from a public source, with the tier `third-party-public`. */
  static retrievedPublic(parts: MediaParts): Media {
    return made(parts, 'third-party-public');
  }

  /** A media from a private source, with the tier `third-party-private`. */
  static retrievedPrivate(parts: MediaParts): Media {
    return made(parts, 'third-party-private');
  }

  /**
   * The bytes from the start, as a new stream at each call.
   *
   * @throws TurncoreError (rejects) E_NOT_A_MEDIA_READER when the reader gives none
   */
  async stream(): Promise<ReadableStream<Uint8Array>> {
    const stream = await this.reader.stream();
    if (isStream(stream)) return stream;
    throw TurncoreError.of('E_NOT_A_MEDIA_READER', 'stream gave no stream');
  }

  /**
   * The number of bytes; undefined if the reader does not know it.
   *
   * @throws TurncoreError (rejects) E_NOT_A_MEDIA_READER when the reader gives something else
   */
  async byteLength(): Promise<number | undefined> {
    const size: unknown = await this.reader.byteLength();
    if (size === undefined || (Number.isSafeInteger(size) && (size as number) >= 0)) {
      return size as number | undefined;
    }
    throw TurncoreError.of('E_NOT_A_MEDIA_READER', 'byteLength gave no size');
  }

  /** All bytes. */
  async asBytes(): Promise<Uint8Array> {
    const stream = (await this.stream()) as ReadableStream<Uint8Array<ArrayBuffer>>;
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** All bytes in Base64 (RFC 4648, with padding). */
  async asBase64(): Promise<string> {
    const bytes = await this.asBytes();
    const pieces: string[] = [];
    for (let i = 0; i < bytes.length; i += PIECE) {
      pieces.push(btoa(String.fromCharCode(...bytes.subarray(i, i + PIECE))));
    }
    return pieces.join('');
  }

  /** Its description as plain data; does not read its bytes. */
  toJSON(): Record<string, unknown> {
    return {
      id: this.id,
      kind: this.kind,
      mimeType: this.mimeType,
      filename: this.filename,
      trustTier: this.trustTier,
      modalityHazard: this.modalityHazard,
      source: this.source,
      stash: this.stash.all(),
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    const stash = this.stash.all();
    writeMediaPart(enc, {
      id: this.id,
      kind: this.kind,
      mimeType: this.mimeType,
      filename: this.filename,
      trustTier: this.trustTier,
      modalityHazard: this.modalityHazard,
      source: this.source ?? null,
      bytes: -1,
      stash: Object.keys(stash).length === 0 ? null : (e) => e.value(stash, 'stash'),
    });
  }
}

function isStream(value: unknown): boolean {
  return typeof (value as Partial<ReadableStream> | null | undefined)?.getReader === 'function';
}

/** Bytes per conversion to Base64: a multiple of three. */
const PIECE = 3 * 4096;

function made(parts: MediaParts, trustTier: TrustTier): Media {
  // The rules reject anything that is not an object.
  if (!isObject(parts)) return new Media(parts);
  const usual = parts.kind === 'document' ? 'extractable-instructions' : 'opaque-perceptual';
  const modalityHazard = parts.modalityHazard ?? usual;
  return new Media({ ...parts, trustTier, modalityHazard });
}

/** The kind of field `mediaStash`: facts about a media, by name. */
const toMediaStash: Converter<Readonly<Record<string, unknown>>> = (value, report) => {
  if (!isObject(value)) return invalid;
  const violations = Object.entries(value).flatMap(([name, entry]) =>
    violationsIn(name, () => check(mediaStashEntryRules, entry)),
  );
  for (const violation of violations) report(violation);
  return violations.length > 0 ? invalid : value;
};

const classes = {
  mediaReader: toMediaReader,
  mediaStash: toMediaStash,
  // The values of entries are checked: what remains is an object that is not a map, such as a Date.
  also: ({ stash }: Readonly<Record<string, unknown>>) =>
    isObject(stash) && Object.keys(stash).length === 0 ? stashViolations(stash) : [],
};
