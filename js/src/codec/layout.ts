/**
 * The layout of lengths and numbers in msgpack.
 */

/** Bytes of a string in UTF-8, lone surrogates counted as U+FFFD. */
export function utf8Length(s: string): number {
  let size = s.length;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c < 0x80) continue;
    if (c < 0x800) {
      size++;
      continue;
    }
    size += 2;
    if (c >= 0xd800 && c < 0xdc00 && i + 1 < s.length) {
      const low = s.charCodeAt(i + 1);
      // A pair is two units and four bytes.
      if (low >= 0xdc00 && low < 0xe000) i++;
    }
  }
  return size;
}

/** The first bytes of the shortest headers: of byte strings, and of strings that are too long for the tiny form. */
export const BIN = 0xc4;
export const STR = 0xd9;

/** Bytes of such a header. */
export function headerSize(n: number): number {
  return n < 0x100 ? 2 : n < 0x10000 ? 3 : 5;
}

/** Writes such a header of n bytes. */
export function putHeader(b: Uint8Array, p: number, first: number, n: number): void {
  if (n < 0x100) {
    b[p] = first;
    b[p + 1] = n;
  } else if (n < 0x10000) {
    b[p] = first + 1;
    put16(b, p + 1, n);
  } else {
    b[p] = first + 2;
    put32(b, p + 1, n);
  }
}

/** Writes 16 bits, big-endian, and returns the position after them. */
export function put16(b: Uint8Array, p: number, n: number): number {
  b[p] = n >> 8;
  b[p + 1] = n;
  return p + 2;
}

/** Writes 32 bits, big-endian, and returns the position after them. */
export function put32(b: Uint8Array, p: number, n: number): number {
  b[p] = n >>> 24;
  b[p + 1] = n >>> 16;
  b[p + 2] = n >>> 8;
  b[p + 3] = n;
  return p + 4;
}
