/**
 * The sources of a turn's time and randomness. The guest reads neither; a turn gets them with its frames, so that a
 * recorded turn replays to the same bytes.
 */
import { HEX } from './bytes.js';

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** Returns that many random bytes. */
export type Entropy = (size: number) => Uint8Array;

/** The platform's clock, in whole milliseconds. */
export const systemClock: Clock = () => Math.trunc(Date.now());

/** Largest number of bytes per getRandomValues. */
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

/** 100 ns intervals from the start of the Gregorian calendar to the Unix epoch, 0x01b21dd213814000, in two halves. */
const GREGORIAN_HIGH = 0x01b21dd2;
const GREGORIAN_LOW = 0x13814000;

/**
 * A UUID of version 6 (RFC 9562): sorts by time.
 *
 * @param now milliseconds since the Unix epoch
 * @param entropy {@link UUID_ENTROPY} bytes: two for the clock sequence, six for the node; the rest is not used
 */
export function uuidv6(now: number, entropy: Uint8Array): string {
  if (entropy.length < 8) throw new RangeError('uuidv6 takes 8 bytes of entropy or more');
  // The time in intervals has more bits than a number is exact for, and BigInts are slow: it is put together from
  // high * 2^32 + low. upper * 2^20 + lower are the milliseconds.
  const ms = Math.trunc(now);
  const upper = Math.floor(ms / 0x100000) * 10_000;
  const lower = (ms & 0xfffff) * 10_000;
  const carry = Math.floor(upper / 0x1000);
  const sum = (upper - carry * 0x1000) * 0x100000 + lower + GREGORIAN_LOW;
  const high = carry + GREGORIAN_HIGH + Math.floor(sum / 0x100000000);
  const low = sum >>> 0;
  const first = ((high << 4) | (low >>> 28)) >>> 0;
  const e = entropy;
  // A node that is not a network address says so with the multicast bit.
  return `${digits(first >>> 16)}${digits(first)}-${digits(low >>> 12)}-${digits(0x6000 | (low & 0xfff))}-${digits(
    ((e[0]! & 0x3f) | 0x80) * 0x100 + e[1]!,
  )}-${digits((e[2]! | 1) * 0x100 + e[3]!)}${digits(e[4]! * 0x100 + e[5]!)}${digits(e[6]! * 0x100 + e[7]!)}`;
}

/** The low 16 bits of a number as four digits. */
function digits(n: number): string {
  return HEX[(n >>> 8) & 0xff]! + HEX[n & 0xff]!;
}
