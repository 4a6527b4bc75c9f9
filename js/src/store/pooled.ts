/**
 * Small byte strings that share buffers. A buffer of its own costs a platform more than the few hundred bytes of an
 * event.
 */

/** Bytes of a buffer. */
const SIZE = 8192;
/** The longest byte string that shares one. */
const LONGEST = SIZE / 8;

let buffer = new Uint8Array(0);
let used = SIZE;

/** A copy that stays in this process: what clones it would clone its neighbours, too. */
export function pooled(bytes: Uint8Array): Uint8Array {
  const size = bytes.length;
  if (size > LONGEST) return bytes.slice();
  if (size > SIZE - used) {
    buffer = new Uint8Array(SIZE);
    used = 0;
  }
  const copy = buffer.subarray(used, used + size);
  copy.set(bytes);
  used += size;
  return copy;
}

/** @internal Name of the property of a store that copies bodies before a call returns, and keeps none that it gets. */
export const copiesAtOnce = Symbol('copiesAtOnce');
