/**
 * Reads msgpack that may come from a hostile module: nothing is allocated before the bytes for it are known to be
 * there, and nesting is bounded.
 */
import { type CodecLimits, DEFAULT_LIMITS } from './limits.js';

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
  /** A frame is not an array that begins with an op, or is invalid in its place. */
  | 'frame'
  /** A tuple has the wrong fields. */
  | 'field';

/** Bytes that the ABI does not allow. */
export class CodecError extends Error {
  /** Offset of the refused value in the bytes. */
  readonly offset: number;
  readonly reason: CodecReason;

  constructor(reason: CodecReason, offset: number, message: string) {
    super(`${message} at byte ${offset}`);
    this.name = 'CodecError';
    this.reason = reason;
    this.offset = offset;
  }
}

/** The error for a frame that is well-formed and has no place in what the module and its host have said so far. */
export function wrongFrame(message: string): CodecError {
  return new CodecError('frame', 0, message);
}

/** Bounds on a module's output in one step: bytes, enough for three of the largest frames, and frames. */
export const MAX_STEP_OUTPUT = 48 << 20;
export const MAX_STEP_FRAMES = 1 << 18;

/** Strings of more bytes than this go to TextDecoder. For shorter ones its call costs more than the loop. */
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
  readonly #buf: Uint8Array;
  #pos = 0;
  #end: number;
  #depth: number;
  /** The tuple that is being read, for error messages. */
  #tuple = '';
  #tiny = EMPTY;
  #tinyUsed = 0;
  readonly #limits: Readonly<CodecLimits>;

  constructor(bytes: Uint8Array, limits: Readonly<CodecLimits> = DEFAULT_LIMITS) {
    this.#buf = bytes;
    this.#end = bytes.length;
    this.#limits = limits;
    this.#depth = limits.depth;
  }

  /** Where the next value begins. */
  get position(): number {
    return this.#pos;
  }

  /** True when nothing is left. */
  get done(): boolean {
    return this.#pos >= this.#end;
  }

  /** Reads one frame within the frame limit. */
  frame<T>(read: (d: Decoder) => T): T {
    const start = this.#pos;
    const end = this.#end;
    if (end - start <= this.#limits.frame) return read(this);
    this.#end = start + this.#limits.frame;
    try {
      return read(this);
    } catch (error) {
      if (error instanceof CodecError && error.reason === 'truncated') {
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

  // Tuples: the generated readers use these. Each throws a CodecError that names the tuple and the offset.

  /** The op of the next frame, an array of at most 15 elements. Reads nothing. */
  op(): number {
    const p = this.#pos;
    const b = this.#buf;
    if (p >= this.#end) throw truncated(p);
    if (b[p]! <= 0x90 || b[p]! > 0x9f) throw new CodecError('frame', p, 'not a frame');
    if (p + 1 >= this.#end) throw truncated(p);
    if (b[p + 1]! >= 0x80) throw new CodecError('frame', p, 'not a frame');
    return b[p + 1]!;
  }

  /** Begins a tuple of n elements, at most 15. Returns the first argument of {@link end}. */
  tuple(name: string, n: number): string {
    const outer = this.#tuple;
    this.#tuple = name;
    const start = this.#pos;
    if (start < this.#end && this.#buf[start] === (0x90 | n)) {
      this.#pos = start + 1;
      this.#enter(n, n, start);
    } else {
      const found = this.#arrayHeader(start);
      this.#enter(found, found, start);
      if (found !== n)
        this.#wrong(start, `a tuple of ${n} elements is expected, there are ${found}`);
    }
    return outer;
  }

  /** Ends a tuple and returns it. */
  end<T>(outer: string, tuple: T): T {
    this.#depth++;
    this.#tuple = outer;
    return tuple;
  }

  /** Reads a list. @param bytes least size of an item @param most largest number of items */
  list<T>(read: (d: Decoder) => T, bytes: number, most = this.#limits.array): T[] {
    const start = this.#pos;
    if (start < this.#end && this.#buf[start] === 0x90 && this.#depth > 0) {
      this.#pos = start + 1;
      return [];
    }
    const n = this.#arrayHeader(start);
    if (n > most) throw new CodecError('length', start, `list of more than ${most} items`);
    this.#enter(n, n * bytes, start);
    const list = new Array<T>(n);
    for (let i = 0; i < n; i++) list[i] = read(this);
    this.#depth++;
    return list;
  }

  /** Reads a list of strings. */
  strs(): string[] {
    return this.list(readStr, 1);
  }

  /** Reads the number with which a tuple of one kind begins. */
  tag<T extends number>(tag: T): T {
    const start = this.#pos;
    if (this.u8() !== tag) this.#wrong(start, `${tag} is expected`);
    return tag;
  }

  u8(): number {
    return this.#uint(0xff);
  }

  u16(): number {
    return this.#uint(0xffff);
  }

  u32(): number {
    return this.#uint(0xffffffff);
  }

  /** An integer from 0 to 2^53-1. */
  u64(): number {
    return this.#uint(Number.MAX_SAFE_INTEGER);
  }

  i32(): number {
    const start = this.#pos;
    const n = this.i64();
    return (n | 0) === n ? n : this.#wrong(start, 'the integer is out of range');
  }

  /** An integer from -(2^53-1) to 2^53-1. */
  i64(): number {
    const start = this.#pos;
    const t = this.#buf[start];
    const n = t === 0xcb || this.done ? undefined : this.value();
    return typeof n === 'number' ? n : this.#wrong(start, 'an integer is expected');
  }

  f64(): number {
    const start = this.#pos;
    const n = this.value();
    return typeof n === 'number' ? n : this.#wrong(start, 'a number is expected');
  }

  bool(): boolean {
    const start = this.#pos;
    const t = start < this.#end ? this.#buf[start] : undefined;
    if (t !== 0xc2 && t !== 0xc3) return this.#wrong(start, 'true or false is expected');
    this.#pos = start + 1;
    return t === 0xc3;
  }

  str(): string {
    const start = this.#pos;
    const t = start < this.#end ? this.#buf[start]! : 0;
    if (t >= 0xa0 && t < 0xc0) {
      this.#pos = start + 1;
      return this.#string(t & 0x1f, start);
    }
    const s = t < 0xd9 || t > 0xdb ? undefined : this.value();
    return typeof s === 'string' ? s : this.#wrong(start, 'a string is expected');
  }

  /** Skips a string. Returns an empty one. */
  skipStr(): string {
    const start = this.#pos;
    const t = start < this.#end ? this.#buf[start]! : 0;
    if (t < 0xa0 || t >= 0xc0) this.str();
    else {
      this.#pos = start + 1;
      this.#take(t & 0x1f, start);
    }
    return '';
  }

  bin(): Uint8Array<ArrayBuffer> {
    const start = this.#pos;
    const t = start < this.#end ? this.#buf[start]! : 0;
    const bytes = t < 0xc4 || t > 0xc6 ? undefined : this.value();
    if (bytes instanceof Uint8Array) return bytes as Uint8Array<ArrayBuffer>;
    return this.#wrong(start, 'a byte string is expected');
  }

  /** Reads nil if it comes next. Returns whether it did. */
  nil(): boolean {
    const nil = this.#pos < this.#end && this.#buf[this.#pos] === 0xc0;
    if (nil) this.#pos++;
    return nil;
  }

  #uint(most: number): number {
    const start = this.#pos;
    if (start < this.#end) {
      const t = this.#buf[start]!;
      if (t < 0x80) {
        this.#pos = start + 1;
        return t;
      }
    }
    const n = this.i64();
    return n >= 0 && n <= most ? n : this.#wrong(start, 'the integer is out of range');
  }

  /** Reads the head of an array. */
  #arrayHeader(start: number): number {
    const t = start < this.#end ? this.#buf[start]! : 0;
    this.#pos = start + 1;
    if (t >= 0x90 && t < 0xa0) return t & 0x0f;
    if (t === 0xdc) return this.#uint16(start);
    if (t === 0xdd) return this.#uint32(start);
    return this.#wrong(start, 'an array is expected');
  }

  #wrong(start: number, why: string): never {
    if (start >= this.#end) throw truncated(start);
    throw new CodecError('field', start, `${this.#tuple}: ${why}`);
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
    // Single bytes share a buffer: a frame may hold millions of them.
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
    // The array has its exact size: a growing one makes room for seventeen elements at once.
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

  /** Enters an array or map of n elements. @param bytes least size of all of them */
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

function readStr(d: Decoder): string {
  return d.str();
}

/**
 * Reads frames back to back.
 *
 * @param read reads one
 * @param offsets if given, gets the offset of each frame and last the end, so that frame i is
 *   `bytes.subarray(offsets[i], offsets[i + 1])`
 * @throws CodecError with the offset and the reason
 */
export function framesOf<T>(
  read: (d: Decoder) => T,
  bytes: Uint8Array,
  limits: Readonly<CodecLimits> = DEFAULT_LIMITS,
  offsets?: number[],
): T[] {
  const decoder = new Decoder(bytes, limits);
  const frames: T[] = [];
  while (!decoder.done) {
    if (frames.length === MAX_STEP_FRAMES) {
      throw new CodecError('length', decoder.position, `more than ${MAX_STEP_FRAMES} frames`);
    }
    offsets?.push(decoder.position);
    frames.push(decoder.frame(read));
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
  return valueOf((d) => d.value(), bytes, limits);
}

/** Like {@link decodeValue}, with a reader. */
export function valueOf<T>(
  read: (d: Decoder) => T,
  bytes: Uint8Array,
  limits: Readonly<CodecLimits> = DEFAULT_LIMITS,
): T {
  const decoder = new Decoder(bytes, limits);
  const value = read(decoder);
  if (!decoder.done)
    throw new CodecError('length', decoder.position, 'something follows the value');
  return value;
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
 * Makes objects like `{}`, without the room that engines reserve in object literals for later properties: a frame may
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
 * @param dense number of properties so far if they are named 0, 1, 2 and so on; otherwise -1
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
