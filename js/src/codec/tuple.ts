/**
 * Tuples within values.
 */
import { type Decoder, valueOf } from './decoder.js';
import { Encoder } from './encoder.js';

/** Reads a value that came in a frame as a tuple. @throws CodecError */
export function tupleOf<T>(value: unknown, read: (d: Decoder) => T): T {
  const enc = new Encoder(64);
  enc.value(value, 'tuple');
  return valueOf(read, enc.bytes());
}
