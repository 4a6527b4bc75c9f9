/**
 * Where time and randomness of a turn come from. The guest reads neither; a turn gets them with its frames, so that
 * a recorded turn replays to the same bytes.
 */

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** Returns that many random bytes. */
export type Entropy = (size: number) => Uint8Array;

/** The platform's clock, in whole milliseconds. */
export const systemClock: Clock = () => Math.trunc(Date.now());

/** Bytes getRandomValues gives at most. */
const RANDOM_LIMIT = 65536;

/** The platform's cryptographic randomness. */
export const systemEntropy: Entropy = (size) => {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i += RANDOM_LIMIT) {
    crypto.getRandomValues(bytes.subarray(i, Math.min(i + RANDOM_LIMIT, size)));
  }
  return bytes;
};

/** The instant at which {@link fixedClock} stands unless told otherwise: 2026-01-01T00:00:00Z. */
export const FIXED_INSTANT = 1767225600000;

/** A clock that stands still. */
export function fixedClock(instant: number = FIXED_INSTANT): Clock {
  return () => instant;
}

/**
 * Entropy that is the same for the same seed, on every host: the outputs of mulberry32 as four little-endian bytes
 * each. Each call begins with the next output. For tests and reproducible runs only.
 *
 * @param seed taken modulo 2^32
 */
export function seededEntropy(seed: number): Entropy {
  const next = mulberry32(seed);
  return (size) => {
    const bytes = new Uint8Array(size);
    for (let i = 0; i < size; i += 4) {
      const word = next();
      for (let k = 0; k < 4 && i + k < size; k++) bytes[i + k] = word >>> (8 * k);
    }
    return bytes;
  };
}

/** The generator mulberry32: each call returns the next 32-bit unsigned integer. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Bytes of entropy that {@link uuidv6} takes. */
export const UUID_ENTROPY = 10;

/** 100 ns intervals from the start of the Gregorian calendar to the Unix epoch. */
const GREGORIAN_OFFSET = 0x01b21dd213814000n;

/**
 * A UUID of version 6 (RFC 9562): sorts by time.
 *
 * @param now milliseconds since the Unix epoch
 * @param entropy {@link UUID_ENTROPY} bytes: two for the clock sequence, six for the node; the rest is not used
 */
export function uuidv6(now: number, entropy: Uint8Array): string {
  if (entropy.length < 8) throw new RangeError('uuidv6 takes 8 bytes of entropy or more');
  const time = BigInt.asUintN(60, BigInt(Math.trunc(now)) * 10_000n + GREGORIAN_OFFSET);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Number(time >> 28n));
  view.setUint16(4, Number((time >> 12n) & 0xffffn));
  view.setUint16(6, 0x6000 | Number(time & 0xfffn));
  bytes.set(entropy.subarray(0, 8), 8);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  // A node that is no network address says so with the multicast bit.
  bytes[10] = bytes[10]! | 0x01;
  let text = '';
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += HEX[bytes[i]!]!;
  }
  return text;
}

const HEX = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));
