/**
 * Media in the bodies of requests: the module names their places but never gets their bytes.
 */
import { joined } from '../bytes.js';
import type { Splice } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { TurncoreError } from '../errors.js';
import { Media } from '../primitives/media.js';
import { Message } from '../primitives/message.js';
import { ToolCall } from '../primitives/tool-call.js';

/** A place in a body for the bytes of a media. */
export interface MediaSplice {
  /** Offset in the body as the module sent it. */
  readonly at: number;
  readonly media: Media;
  /** Largest size in bytes. */
  readonly max: number;
}

/** Finds the record that a handle names. */
export type RecordOf = (handle: number) => unknown;

/** The media at a place in a record's attachments or results. */
export function mediaOf(entry: unknown, part: number): Media | undefined {
  let found: unknown;
  if (entry instanceof Message) found = entry.attachments[part];
  else if (entry instanceof ToolCall) found = [entry.results].flat()[part];
  return found instanceof Media ? found : undefined;
}

/** The splices of a body. @throws CodecError for invalid ones */
export function mediaSplices(
  wire: readonly Splice[],
  length: number,
  recordOf: RecordOf,
): readonly MediaSplice[] {
  const splices: MediaSplice[] = [];
  let last = 0;
  for (const { at, handle, part, max } of wire) {
    const media = mediaOf(recordOf(handle), part);
    if (media === undefined || at < last || at > length) {
      throw wrongFrame(`splice of ${handle} (${part}) at ${at}`);
    }
    splices.push({ at, media, max });
    last = at;
  }
  return splices;
}

/**
 * The body with the bytes of the media in their places, in base64.
 *
 * @throws TurncoreError (rejects) E_MEDIA_TOO_LARGE, or the error of a reader
 */
export async function insertMedia(
  body: Uint8Array,
  splices: readonly MediaSplice[],
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const media: Uint8Array[] = [];
  let size = body.length;
  for (const splice of splices) {
    const bytes = await readMedia(splice, signal);
    media.push(bytes);
    size += base64Length(bytes.length);
  }
  const whole = new Uint8Array(size);
  let from = 0;
  let to = 0;
  splices.forEach(({ at }, i) => {
    whole.set(body.subarray(from, at), to);
    to = writeBase64(whole, to + at - from, media[i]!);
    from = at;
  });
  whole.set(body.subarray(from), to);
  return whole;
}

/** Reads a media up to its bound. */
async function readMedia({ media, max }: MediaSplice, signal: AbortSignal): Promise<Uint8Array> {
  const reader = (await media.stream()).getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > max) {
        throw TurncoreError.of('E_MEDIA_TOO_LARGE', `media ${media.id} has more than ${max} bytes`);
      }
      pieces.push(value);
    }
  } catch (error) {
    reader.cancel(error).catch(() => undefined); // the decisive failure is reported
    throw error;
  }
  return joined(pieces);
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

const DIGITS = new TextEncoder().encode(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
);
const PADDING = 0x3d;

/** Writes bytes in base64 and returns the index behind them. */
function writeBase64(into: Uint8Array, at: number, bytes: Uint8Array): number {
  const whole = bytes.length - (bytes.length % 3);
  for (let i = 0; i < whole; i += 3) {
    const bits = (bytes[i]! << 16) | (bytes[i + 1]! << 8) | bytes[i + 2]!;
    into[at++] = DIGITS[bits >> 18]!;
    into[at++] = DIGITS[(bits >> 12) & 63]!;
    into[at++] = DIGITS[(bits >> 6) & 63]!;
    into[at++] = DIGITS[bits & 63]!;
  }
  if (whole === bytes.length) return at;
  const bits = (bytes[whole]! << 16) | ((bytes[whole + 1] ?? 0) << 8);
  into[at++] = DIGITS[bits >> 18]!;
  into[at++] = DIGITS[(bits >> 12) & 63]!;
  into[at++] = whole + 1 < bytes.length ? DIGITS[(bits >> 6) & 63]! : PADDING;
  into[at++] = PADDING;
  return at;
}
