/**
 * Media: images, sounds, videos and documents.
 */
import type { Encoder } from '../codec/encoder.js';
import { writeMediaPart } from '../codec/tuples.gen.js';
import { systemClock, systemEntropy, UUID_ENTROPY, uuidv6 } from '../entropy.js';
import { TurncoreError } from '../errors.js';
import { Stash, stashViolations } from '../stash/stash.js';
import { collect, type Converter, invalid, isObject } from '../validation/field-kinds.js';
import { check } from '../validation/rules.js';
import { encodeBody, Parts } from './body.js';
import { type MediaReader, toMediaReader } from './readers.js';
import type { TrustTier } from './trust-tier.js';

/** What a {@link Media} is. */
export type MediaKind = 'image' | 'audio' | 'video' | 'document';

/**
 * What a model that perceives the media may be made to do: nothing, follow instructions that can be read off it as
 * text, or follow what nobody can read off it beforehand.
 */
export type ModalityHazard = 'inert' | 'extractable-instructions' | 'opaque-perceptual';

/** Something known about a media, and how far that is to be trusted: a transcript, say. */
export interface MediaStashEntry {
  /** A JSON-like value. */
  readonly value: unknown;
  /** How far the value is to be trusted. */
  readonly trustTier: TrustTier;
  /** Whether it was made of what the media holds. */
  readonly derivedFromMedia?: boolean | undefined;
}

/** What a {@link Media} is made of. */
export interface RawMedia {
  /** Default: a UUID. */
  readonly id?: string | undefined;
  readonly kind: MediaKind;
  /** Such as "image/png". */
  readonly mimeType: string;
  readonly filename: string;
  /** No default: whoever brings it in must say. */
  readonly trustTier: TrustTier;
  /** No default: whoever brings it in must say. */
  readonly modalityHazard: ModalityHazard;
  /** Where it was found. */
  readonly source?: string | undefined;
  readonly reader: MediaReader;
  /** What is known about it, by name. Default: nothing. */
  readonly stash?: Readonly<Record<string, MediaStashEntry>> | undefined;
}

/** What the factories of {@link Media} take: they know the trust tier, and the hazard from the kind. */
export type MediaParts = Omit<RawMedia, 'trustTier' | 'modalityHazard'> & {
  /** Default: `extractable-instructions` for a document, `opaque-perceptual` for all others. */
  readonly modalityHazard?: ModalityHazard | undefined;
};

/**
 * An image, a sound, a video or a document. Its bytes stay where they are until a reader is asked for them; its stash
 * can be added to.
 */
export class Media {
  readonly id: string;
  readonly kind: MediaKind;
  /** Such as "image/png". */
  readonly mimeType: string;
  readonly filename: string;
  /** How far it is to be trusted. */
  readonly trustTier: TrustTier;
  /** What a model that perceives it may be made to do. */
  readonly modalityHazard: ModalityHazard;
  /** Where it was found. */
  readonly source: string | undefined;
  /** Reads its bytes. */
  readonly reader: MediaReader;
  /** What is known about it: a {@link MediaStashEntry} under each name. */
  readonly stash: Stash;

  /** @throws TurncoreError E_INVALID_INITIAL_MEDIA_VALUE listing every violation */
  constructor(raw: RawMedia) {
    const values = raw instanceof Parts ? raw.values : check('Media', raw, classes);
    this.id =
      (values['id'] as string | undefined) ?? uuidv6(systemClock(), systemEntropy(UUID_ENTROPY));
    this.kind = values['kind'] as MediaKind;
    this.mimeType = values['mimeType'] as string;
    this.filename = values['filename'] as string;
    this.trustTier = values['trustTier'] as TrustTier;
    this.modalityHazard = values['modalityHazard'] as ModalityHazard;
    this.source = values['source'] as string | undefined;
    this.reader = values['reader'] as MediaReader;
    this.stash = new Stash((values['stash'] ?? {}) as Record<string, unknown>);
    Object.freeze(this);
  }

  /** What a user attached: of tier `third-party-private`. */
  static userAttachment(parts: MediaParts): Media {
    return made(parts, 'third-party-private');
  }

  /** What a tool of the operator's made: of tier `first-party`. */
  static toolGenerated(parts: MediaParts): Media {
    return made(parts, 'first-party');
  }

  /** What was found in public: of tier `third-party-public`. */
  static retrievedPublic(parts: MediaParts): Media {
    return made(parts, 'third-party-public');
  }

  /** What was found in private: of tier `third-party-private`. */
  static retrievedPrivate(parts: MediaParts): Media {
    return made(parts, 'third-party-private');
  }

  /**
   * The bytes from the first on: a stream of its own at each call.
   *
   * @throws TurncoreError (rejects) E_NOT_A_MEDIA_READER when the reader gives none
   */
  async stream(): Promise<ReadableStream<Uint8Array>> {
    const stream = await this.reader.stream();
    if (isStream(stream)) return stream;
    throw TurncoreError.of('E_NOT_A_MEDIA_READER', 'stream gave no stream');
  }

  /**
   * How many bytes there are; undefined if the reader does not know.
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

  /** What it is, as plain data; its bytes are not read. */
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

/** Bytes that are turned into Base64 at once: a multiple of three. */
const PIECE = 3 * 4096;

function made(parts: MediaParts, trustTier: TrustTier): Media {
  // Anything that is not an object is for the rules to refuse.
  if (!isObject(parts)) return new Media(parts);
  const usual = parts.kind === 'document' ? 'extractable-instructions' : 'opaque-perceptual';
  const modalityHazard = parts.modalityHazard ?? usual;
  return new Media({ ...parts, trustTier, modalityHazard });
}

/** The kind of field `mediaStash`: what is known about a media, by name. */
const toMediaStash: Converter = (value, report) => {
  if (!isObject(value)) return invalid;
  let wrong = false;
  for (const name of Object.keys(value)) {
    try {
      check('MediaStashEntry', value[name]);
    } catch (error) {
      wrong = true;
      collect(error, (part) => {
        report(part.startsWith('`') ? `\`${name}.${part.slice(1)}` : `${name}: ${part}`);
      });
    }
  }
  return wrong ? invalid : value;
};

const classes = {
  mediaReader: toMediaReader,
  mediaStash: toMediaStash,
  // Values of entries have been looked at: what is left is an object that is not a map, such as a Date.
  also: ({ stash }: Readonly<Record<string, unknown>>) =>
    isObject(stash) && Object.keys(stash).length === 0 ? stashViolations(stash) : [],
};
