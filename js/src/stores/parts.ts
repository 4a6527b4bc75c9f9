/**
 * Bytes in parts: databases bound a row.
 */
import { requireBytes } from '../context/arguments.js';
import { invalidValue } from '../errors.js';
import type { ConduitBytes } from '../primitives/readers.js';

/** Bytes of a part. */
export const PART = 2 ** 20;

/** The parts of what is put: all but the last have 1 MiB. @throws TurncoreError E_INVALID_VALUE unless it is bytes */
export async function* partsOf(content: ConduitBytes): AsyncGenerator<Uint8Array> {
  const body: unknown = content instanceof Blob ? content.stream() : content;
  requireBytes(body instanceof ArrayBuffer ? new Uint8Array(body) : body, 'bytes');
  const whole = wholeOf(body);
  if (whole !== undefined) {
    for (let at = 0; at < whole.length; at += PART) yield whole.subarray(at, at + PART);
    return;
  }
  let part = new Uint8Array(PART);
  let filled = 0;
  for await (const piece of body as ReadableStream<Uint8Array>) {
    if (!(piece instanceof Uint8Array)) throw invalidValue('bytes', 'must be a stream of bytes');
    for (let at = 0; at < piece.length;) {
      const more = piece.subarray(at, at + PART - filled);
      part.set(more, filled);
      filled += more.length;
      at += more.length;
      if (filled < PART) continue;
      yield part;
      part = new Uint8Array(PART);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

/** All bytes, if they are there; undefined for a stream. */
function wholeOf(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (!ArrayBuffer.isView(body)) return undefined;
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
}
