/**
 * The bytes of events and of their values.
 */
import { Encoder, type Write } from '../codec/encoder.js';

/** The most nesting of an event: that of a frame. */
const DEPTH = 64;

/** The bytes of an event as the module sent it. @param copy makes the copy that is returned */
export function bodyOf(event: unknown, copy: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  scratch.reset();
  scratch.value(event, 'event', DEPTH);
  return copy(scratch.bytes());
}

/** The bytes of a value. @param name of it, for errors */
export function bytesOf(value: unknown, name: string): Uint8Array<ArrayBuffer> {
  scratch.reset();
  scratch.value(value, name);
  return scratch.copy();
}

/** The bytes that a function writes. */
export function bytesBy(write: Write): Uint8Array {
  const enc = new Encoder();
  write(enc);
  return enc.bytes();
}

const scratch = new Encoder(4096);
