/**
 * Frames of any shape.
 */
import { CodecError, type Decoder, framesOf } from '../../src/codec/decoder.js';
import type { CodecLimits } from '../../src/codec/limits.js';

function anyFrame(d: Decoder): unknown[] {
  const start = d.position;
  const frame = d.value();
  if (Array.isArray(frame) && typeof frame[0] === 'number') return frame as unknown[];
  throw new CodecError('frame', start, 'not a frame');
}

/** Reads frames back to back, each as an array whose first element is a number. */
export function decodeFrames(
  bytes: Uint8Array,
  limits?: Readonly<CodecLimits>,
  offsets?: number[],
): unknown[][] {
  return framesOf(anyFrame, bytes, limits, offsets);
}
