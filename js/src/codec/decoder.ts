/**
 * Reads msgpack that may come from a hostile module: nothing is allocated before the bytes for it are known to be
 * there, and nesting is bounded.
 */

/** Why bytes were refused. */
export type CodecReason =
  /** The bytes end within a value. */
  | 'truncated'
  /** Arrays and maps are nested too deep. */
  | 'depth'
  /** A string, byte string, array or map is longer than the limit. */
  | 'length'
  /** An integer is beyond 2^53-1. */
  | 'range'
  /** A float32, an extension type, the unused byte 0xC1, or a map key that is not a string. */
  | 'type'
  /** A frame is not an array that begins with an op. */
  | 'frame';

/** Bytes that are not what the ABI allows. */
export class CodecError extends Error {
  /** Of the byte that begins the refused value, from the start of the bytes. */
  readonly offset: number;
  readonly reason: CodecReason;

  constructor(reason: CodecReason, offset: number, message: string) {
    super(`${message} at byte ${offset}`);
    this.name = 'CodecError';
    this.reason = reason;
    this.offset = offset;
  }
}

/** Bounds of what is decoded. */
export interface CodecLimits {
  /** Bytes of one frame. */
  frame: number;
  /** Bytes of one string or byte string. */
  string: number;
  /** Elements of one array or entries of one map. */
  array: number;
  /** Nesting of arrays and maps in one frame. */
  depth: number;
}

/** The ABI's own bounds; Hello and Welcome may lower them. */
export const DEFAULT_LIMITS: Readonly<CodecLimits> = Object.freeze({
  frame: 16 << 20,
  string: 16 << 20,
  array: 8192,
  depth: 64,
});

/** What a module may say in one step: bytes, three of the largest frames, and frames. */
export const MAX_STEP_OUTPUT = 48 << 20;
export const MAX_STEP_FRAMES = 1 << 18;

/** Strings of more bytes than this go to TextDecoder: below, its call costs more than the loop. */
const INLINE_STRING = 32;

const utf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });
const EMPTY = new Uint8Array(0);
const DIGIT_0 = 0x30;
const UNDERSCORE = 0x5f;
const scratch = new DataView(new ArrayBuffer(8));
const char = String.fromCharCode;

/**
 * Reads values one after the other. The strings and byte strings it returns are copies; the bytes must not change
 * while it reads.
 */
export class Decoder {
  #buf: Uint8Array;
  #pos = 0;
  #end: number;
  #depth: number;
  #tiny = EMPTY;
  #tinyUsed = 0;
  readonly #limits: Readonly<CodecLimits>;

  constructor(bytes: Uint8Array, limits: Readonly<CodecLimits> = DEFAULT_LIMITS) {
    this.#buf = bytes;
    this.#end = bytes.length;
    this.#limits = limits;
    this.#depth = limits.depth;
  }

  /** Begins anew with other bytes. */
  reset(bytes: Uint8Array): void {
    this.#buf = bytes;
    this.#pos = 0;
    this.#end = bytes.length;
    this.#depth = this.#limits.depth;
  }

  /** Where the next value begins. */
  get position(): number {
    return this.#pos;
  }

  /** True when nothing is left. */
  get done(): boolean {
    return this.#pos >= this.#end;
  }

  /** Reads one frame: an array whose first element is a number, within the frame limit. */
  frame(): unknown[] {
    const start = this.#pos;
    const end = this.#end;
    this.#end = Math.min(end, start + this.#limits.frame);
    try {
      const frame = this.value();
      if (!Array.isArray(frame) || typeof frame[0] !== 'number') {
        throw new CodecError('frame', start, 'not a frame');
      }
      return frame as unknown[];
    } catch (error) {
      if (error instanceof CodecError && error.reason === 'truncated' && this.#end < end) {
        throw new CodecError('length', start, `frame of more than ${this.#limits.frame} bytes`);
      }
      throw error;
    } finally {
      this.#end = end;
    }
  }

  /** Reads one value: null, boolean, number, string, Uint8Array, array or plain object. */
  value(): unknown {
    const start = this.#pos;
    if (start >= this.#end) throw truncated(start);
    const b = this.#buf;
    const t = b[start]!;
    this.#pos = start + 1;
    if (t < 0x80) return t;
    if (t >= 0xe0) return t - 0x100;
    if (t < 0x90) return this.#map(t & 0x0f, start);
    if (t < 0xa0) return this.#array(t & 0x0f, start);
    if (t < 0xc0) return this.#string(t & 0x1f, start);
    switch (t) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.#bin(this.#uint8(start), start);
      case 0xc5:
        return this.#bin(this.#uint16(start), start);
      case 0xc6:
        return this.#bin(this.#uint32(start), start);
      case 0xcb:
        scratch.setUint32(0, this.#uint32(start));
        scratch.setUint32(4, this.#uint32(start));
        return scratch.getFloat64(0);
      case 0xcc:
        return this.#uint8(start);
      case 0xcd:
        return this.#uint16(start);
      case 0xce:
        return this.#uint32(start);
      case 0xcf:
        return safe(this.#uint32(start) * 0x100000000 + this.#uint32(start), start);
      case 0xd0:
        return (this.#uint8(start) << 24) >> 24;
      case 0xd1:
        return (this.#uint16(start) << 16) >> 16;
      case 0xd2:
        return this.#uint32(start) | 0;
      case 0xd3:
        return safe((this.#uint32(start) | 0) * 0x100000000 + this.#uint32(start), start);
      case 0xd9:
        return this.#string(this.#uint8(start), start);
      case 0xda:
        return this.#string(this.#uint16(start), start);
      case 0xdb:
        return this.#string(this.#uint32(start), start);
      case 0xdc:
        return this.#array(this.#uint16(start), start);
      case 0xdd:
        return this.#array(this.#uint32(start), start);
      case 0xde:
        return this.#map(this.#uint16(start), start);
      case 0xdf:
        return this.#map(this.#uint32(start), start);
      default:
        throw new CodecError('type', start, `type 0x${t.toString(16)} is not allowed`);
    }
  }

  #uint8(start: number): number {
    const p = this.#pos;
    if (p >= this.#end) throw truncated(start);
    this.#pos = p + 1;
    return this.#buf[p]!;
  }

  #uint16(start: number): number {
    const p = this.#pos;
    if (p + 2 > this.#end) throw truncated(start);
    this.#pos = p + 2;
    const b = this.#buf;
    return (b[p]! << 8) | b[p + 1]!;
  }

  #uint32(start: number): number {
    const p = this.#pos;
    if (p + 4 > this.#end) throw truncated(start);
    this.#pos = p + 4;
    const b = this.#buf;
    return ((b[p]! << 24) | (b[p + 1]! << 16) | (b[p + 2]! << 8) | b[p + 3]!) >>> 0;
  }

  /** Takes n bytes and returns where they begin. */
  #take(n: number, start: number): number {
    const p = this.#pos;
    if (n > this.#limits.string) {
      throw new CodecError('length', start, `string of more than ${this.#limits.string} bytes`);
    }
    if (n > this.#end - p) throw truncated(start);
    this.#pos = p + n;
    return p;
  }

  #bin(n: number, start: number): Uint8Array {
    const p = this.#take(n, start);
    if (n > 1) return this.#buf.slice(p, p + n);
    // An object of its own is much for so little: a frame may hold millions of them.
    if (n === 0) return EMPTY;
    if (this.#tinyUsed === this.#tiny.length) {
      this.#tiny = new Uint8Array(256);
      this.#tinyUsed = 0;
    }
    const i = this.#tinyUsed++;
    this.#tiny[i] = this.#buf[p]!;
    return this.#tiny.subarray(i, i + 1);
  }

  #string(n: number, start: number): string {
    const p = this.#take(n, start);
    if (n > INLINE_STRING) return utf8.decode(this.#buf.subarray(p, p + n));
    return shortString(this.#buf, p, n);
  }

  #array(n: number, start: number): unknown[] {
    this.#enter(n, n, start);
    // Of the exact size: an array that grows takes room for seventeen elements at once.
    const list = new Array<unknown>(n);
    for (let i = 0; i < n; i++) list[i] = this.value();
    this.#depth++;
    return list;
  }

  #map(n: number, start: number): Record<string, unknown> {
    this.#enter(n, n * 2, start);
    const map = new PlainObject();
    let dense = 0;
    for (let i = 0; i < n; i++) {
      const key = this.#key();
      const value = this.value();
      const c = key.charCodeAt(0);
      if (c >= DIGIT_0 && c <= DIGIT_0 + 9) {
        dense = putIndexed(map, key, value, dense);
      } else if (c === UNDERSCORE && key === '__proto__') {
        // Assignment would set the prototype.
        Object.defineProperty(map, key, {
          value,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      } else {
        map[key] = value;
      }
    }
    this.#depth++;
    return map;
  }

  #key(): string {
    const start = this.#pos;
    if (start >= this.#end) throw truncated(start);
    const t = this.#buf[start]!;
    this.#pos = start + 1;
    if (t >= 0xa0 && t < 0xc0) return this.#string(t & 0x1f, start);
    if (t === 0xd9) return this.#string(this.#uint8(start), start);
    if (t === 0xda) return this.#string(this.#uint16(start), start);
    if (t === 0xdb) return this.#string(this.#uint32(start), start);
    throw new CodecError('type', start, 'map key that is not a string');
  }

  /** Checks an array or map of n elements that take at least the given bytes. */
  #enter(n: number, bytes: number, start: number): void {
    if (n > this.#limits.array) {
      throw new CodecError(
        'length',
        start,
        `array or map of more than ${this.#limits.array} elements`,
      );
    }
    if (bytes > this.#end - this.#pos) throw truncated(start);
    if (this.#depth <= 0) {
      throw new CodecError('depth', start, `nesting of more than ${this.#limits.depth} levels`);
    }
    this.#depth--;
  }
}

/**
 * Reads frames back to back.
 *
 * @param offsets if given, gets the offset of each frame and last the end, so that frame i is
 *   `bytes.subarray(offsets[i], offsets[i + 1])`
 * @throws CodecError with the offset and the reason
 */
export function decodeFrames(
  bytes: Uint8Array,
  limits: Readonly<CodecLimits> = DEFAULT_LIMITS,
  offsets?: number[],
): unknown[][] {
  const decoder = new Decoder(bytes, limits);
  const frames: unknown[][] = [];
  while (!decoder.done) {
    if (frames.length === MAX_STEP_FRAMES) {
      throw new CodecError('length', decoder.position, `more than ${MAX_STEP_FRAMES} frames`);
    }
    offsets?.push(decoder.position);
    frames.push(decoder.frame());
  }
  offsets?.push(decoder.position);
  return frames;
}

/**
 * Reads the one value that the bytes hold.
 *
 * @throws CodecError also when something follows the value
 */
export function decodeValue(
  bytes: Uint8Array,
  limits: Readonly<CodecLimits> = DEFAULT_LIMITS,
): unknown {
  const decoder = new Decoder(bytes, limits);
  const value = decoder.value();
  if (!decoder.done)
    throw new CodecError('length', decoder.position, 'something follows the value');
  return value;
}

/** Reads the values that the bytes hold back to back, such as the record bodies of a block. */
export function decodeValues(
  bytes: Uint8Array,
  limits: Readonly<CodecLimits> = DEFAULT_LIMITS,
): unknown[] {
  const decoder = new Decoder(bytes, limits);
  const values: unknown[] = [];
  while (!decoder.done) values.push(decoder.value());
  return values;
}

function shortString(b: Uint8Array, start: number, n: number): string {
  const end = start + n;
  let s = '';
  let p = start;
  // Several characters a call: joining them one by one costs three times as much.
  for (; end - p >= 8; p += 8) {
    const c0 = b[p]!;
    const c1 = b[p + 1]!;
    const c2 = b[p + 2]!;
    const c3 = b[p + 3]!;
    const c4 = b[p + 4]!;
    const c5 = b[p + 5]!;
    const c6 = b[p + 6]!;
    const c7 = b[p + 7]!;
    if ((c0 | c1 | c2 | c3 | c4 | c5 | c6 | c7) > 0x7f) return utf8.decode(b.subarray(start, end));
    s += char(c0, c1, c2, c3, c4, c5, c6, c7);
  }
  if (end - p >= 4) {
    const c0 = b[p]!;
    const c1 = b[p + 1]!;
    const c2 = b[p + 2]!;
    const c3 = b[p + 3]!;
    if ((c0 | c1 | c2 | c3) > 0x7f) return utf8.decode(b.subarray(start, end));
    s += char(c0, c1, c2, c3);
    p += 4;
  }
  for (; p < end; p++) {
    const c = b[p]!;
    if (c > 0x7f) return utf8.decode(b.subarray(start, end));
    s += char(c);
  }
  return s;
}

/**
 * Makes objects like `{}`, but without the room that engines give object literals for properties to come: a frame may
 * hold millions of empty maps.
 */
const PlainObject = function PlainObject() {
  // Nothing to set.
} as unknown as new () => Record<string, unknown>;
(PlainObject as { prototype: unknown }).prototype = Object.prototype;

/** The largest array index; a property of this name makes V8 keep an object's indexed properties in a hash table. */
const MAX_INDEX = '4294967294';

/**
 * Puts a property whose name may be an array index. Engines keep such properties in an array as long as the largest,
 * so a hostile `{"1023": nil}` of seven bytes would take twelve thousand.
 *
 * @param dense how many properties are there that are named 0, 1, 2 and so on; -1 once there are others
 * @returns the same for the next property
 */
function putIndexed(
  map: Record<string, unknown>,
  key: string,
  value: unknown,
  dense: number,
): number {
  const next = key === String(dense) ? dense + 1 : -1;
  if (next < 0 && dense >= 0) {
    map[MAX_INDEX] = null;
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- what stays is the table
    delete map[MAX_INDEX];
  }
  map[key] = value;
  return next;
}

function safe(n: number, start: number): number {
  if (!Number.isSafeInteger(n)) throw new CodecError('range', start, 'integer beyond 2^53-1');
  return n;
}

function truncated(start: number): CodecError {
  return new CodecError('truncated', start, 'truncated value');
}
