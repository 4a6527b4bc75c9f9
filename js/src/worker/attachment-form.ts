/**
 * Attachments on their way to the worker: the bytes of a reader, which itself stays in the page.
 */
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import { Media, type RawMedia } from '../primitives/media.js';
import { type Packed, Packer, Unpacker } from './cloning.js';

/** A media that can cross. */
export interface AttachmentForm {
  /** Its fields, without the reader. */
  readonly media: Packed;
  /** They are given away. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A media whose bytes are still to be read. */
export interface Attachment {
  readonly name: string;
  readonly media: Media;
  readonly packed: Packed;
}

/**
 * Looks at the attachments of an input.
 *
 * @throws TurncoreError E_INVALID_VALUE unless it is media, E_NOT_CLONEABLE for a fact about one that cannot cross
 */
export function attachmentsIn(given: unknown): readonly Attachment[] | undefined {
  if (given === undefined) return undefined;
  if (!Array.isArray(given)) throw invalidValue('attachments', 'must be a list of Media');
  return given.map((media: unknown, i) => {
    const name = `attachments[${i}]`;
    if (!(media instanceof Media)) throw invalidValue(name, 'must be a Media');
    return { name, media, packed: new Packer().pack(media.toJSON(), name, 'throw') };
  });
}

/** Reads the bytes. @throws TurncoreError (rejects) E_NOT_CLONEABLE naming a reader that fails */
export async function readAttachment({ name, media, packed }: Attachment): Promise<AttachmentForm> {
  try {
    return { media: packed, bytes: (await media.asBytes()) as Uint8Array<ArrayBuffer> };
  } catch (cause) {
    const details = { field: `${name}.reader` };
    const why = `\`${name}.reader\` cannot be read: ${messageOf(cause)}`;
    throw TurncoreError.of('E_NOT_CLONEABLE', why, { cause, details });
  }
}

/** Makes the media in the worker. */
export function mediaOf({ media, bytes }: AttachmentForm): Media {
  const fields = new Unpacker().unpack(media) as Omit<RawMedia, 'reader'>;
  const blob = new Blob([bytes]);
  return new Media({
    ...fields,
    reader: { stream: () => blob.stream(), byteLength: () => blob.size },
  });
}
