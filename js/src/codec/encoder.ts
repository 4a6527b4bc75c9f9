/**
 * Writes msgpack as the ABI requires: every value has one encoding (SPEC.md, "Values").
 */
import { invalidValue } from '../errors.js';
import { BIN, headerSize, put16, put32, putHeader, STR, utf8Length } from './layout.js';
import { DEFAULT_LIMITS } from './limits.js';
import { isDate, isForeignPlain, MAX_VALUE_DEPTH, ValuePath } from './value-path.js';

export { utf8Length } from './layout.js';

/** Writes one value. */
export type Write = (enc: Encoder) => void;

const text = new TextEncoder();
const scratch = new DataView(new ArrayBuffer(8));

/** Strings of more UTF-16 units than this go to TextEncoder. For shorter ones its call costs more than the loop. */
const INLINE_STRING = 96;
/** Strings of more UTF-16 units than this are measured before room is made for them. */
const MEASURED_STRING = 1 << 16;
/** Length of the longest string that a frame holds whatever its characters are. */
const LONGEST_SURE = Math.trunc(DEFAULT_LIMITS.frame / 3);

/**
 * A growing buffer of msgpack, reused from frame to frame.
 *
 * {@link bytes} returns a view of that buffer, which is valid until the next write or reset. A method that throws may
 * leave a part of its value in the encoder; {@link truncate} removes it.
 */
export class Encoder {
  #buf: Uint8Array<ArrayBuffer>;
  #pos = 0;

  /** @param capacity initial size in bytes; the buffer grows when it is full */
  constructor(capacity = 512) {
    this.#buf = new Uint8Array(Math.max(capacity, 64));
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#pos;
  }

  /** Forgets what was written and keeps the buffer. */
  reset(): void {
    this.#pos = 0;
  }

  /** Drops everything written after the encoder had the given length. */
  truncate(length: number): void {
    if (length < 0 || length > this.#pos)
      throw new RangeError(`cannot truncate to ${length} bytes`);
    this.#pos = length;
  }

  /** What was written, as a view: valid until the next write or reset. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#buf.subarray(0, this.#pos);
  }

  /** A copy of what was written. */
  copy(): Uint8Array<ArrayBuffer> {
    return this.#buf.slice(0, this.#pos);
  }

  /** Begins an array; n elements must follow. */
  arrayHeader(n: number): void {
    this.#header(n, 0x90, 0xdc);
  }

  /** Begins a map; n pairs of a string and a value must follow. */
  mapHeader(n: number): void {
    this.#header(n, 0x80, 0xde);
  }

  /** Writes the header of an array or a map. @param tiny first byte below 16 elements @param long of 16 bits */
  #header(n: number, tiny: number, long: number): void {
    const p = this.#reserve(5);
    const b = this.#buf;
    if (n < 16) {
      b[p] = tiny | n;
      this.#pos = p + 1;
    } else if (n < 0x10000) {
      b[p] = long;
      this.#pos = put16(b, p + 1, n);
    } else {
      b[p] = long + 1;
      this.#pos = put32(b, p + 1, n);
    }
  }

  /** Writes nil. */
  nil(): void {
    const p = this.#reserve(1);
    this.#buf[p] = 0xc0;
    this.#pos = p + 1;
  }

  /** Writes a bool. */
  bool(v: boolean): void {
    const p = this.#reserve(1);
    this.#buf[p] = v ? 0xc3 : 0xc2;
    this.#pos = p + 1;
  }

  /** Writes an integer in its shortest form. Throws RangeError unless it is a safe integer. */
  int(n: number): void {
    const p = this.#reserve(9);
    const b = this.#buf;
    if (n >= 0) {
      if (n < 0x80) {
        b[p] = n;
        this.#pos = p + 1;
        if ((n | 0) !== n) this.#notAnInteger(n, p);
        return;
      }
      if (n <= 0xffffffff) {
        if (n >>> 0 !== n) this.#notAnInteger(n, p);
        if (n < 0x100) {
          b[p] = 0xcc;
          b[p + 1] = n;
          this.#pos = p + 2;
        } else if (n < 0x10000) {
          b[p] = 0xcd;
          this.#pos = put16(b, p + 1, n);
        } else {
          b[p] = 0xce;
          this.#pos = put32(b, p + 1, n);
        }
        return;
      }
      if (!Number.isSafeInteger(n)) this.#notAnInteger(n, p);
      b[p] = 0xcf;
    } else {
      if (!Number.isSafeInteger(n)) this.#notAnInteger(n, p);
      if (n >= -0x20) {
        b[p] = n;
        this.#pos = p + 1;
        return;
      }
      if (n >= -0x80) {
        b[p] = 0xd0;
        b[p + 1] = n;
        this.#pos = p + 2;
        return;
      }
      if (n >= -0x8000) {
        b[p] = 0xd1;
        this.#pos = put16(b, p + 1, n);
        return;
      }
      if (n >= -0x80000000) {
        b[p] = 0xd2;
        this.#pos = put32(b, p + 1, n);
        return;
      }
      b[p] = 0xd3;
    }
    const high = Math.floor(n / 0x100000000);
    put32(b, p + 1, high);
    this.#pos = put32(b, p + 5, n - high * 0x100000000);
  }

  /** Writes a number as a float64, whatever it is. */
  float(n: number): void {
    const p = this.#reserve(9);
    const b = this.#buf;
    scratch.setFloat64(0, n);
    b[p] = 0xcb;
    put32(b, p + 1, scratch.getUint32(0));
    this.#pos = put32(b, p + 5, scratch.getUint32(4));
  }

  /** Writes a string as UTF-8. Lone surrogates become U+FFFD. */
  str(s: string): void {
    const n = s.length;
    if (n > INLINE_STRING) {
      this.#longString(s);
      return;
    }
    const start = this.#reserve(n * 3 + 3);
    const b = this.#buf;
    let p = start;
    // An ASCII string has as many bytes as units, so its header can be written first.
    if (n < 32) {
      b[p++] = 0xa0 | n;
    } else {
      b[p++] = 0xd9;
      b[p++] = n;
    }
    for (let i = 0; i < n; i++) {
      const c = s.charCodeAt(i);
      if (c > 0x7f) {
        this.#shortString(s, start);
        return;
      }
      b[p++] = c;
    }
    this.#pos = p;
  }

  /** Writes a byte string. */
  bin(bytes: Uint8Array): void {
    const n = bytes.length;
    const p = this.#reserve(n + 5);
    const at = p + headerSize(n);
    putHeader(this.#buf, p, BIN, n);
    this.#buf.set(bytes, at);
    this.#pos = at + n;
  }

  /** Writes bytes that are already msgpack. */
  raw(bytes: Uint8Array): void {
    const p = this.#reserve(bytes.length);
    this.#buf.set(bytes, p);
    this.#pos = p + bytes.length;
  }

  /** Writes a value by a function, or nil. */
  put(write: Write | null): void {
    if (write === null) this.nil();
    else write(this);
  }

  /** Writes a byte string: bytes, or what a function writes; or nil. */
  data(content: Uint8Array | Write | null): void {
    if (typeof content === 'function') {
      const mark = this.beginBin(64);
      content(this);
      this.endBin(mark);
    } else if (content === null) this.nil();
    else this.bin(content);
  }

  /** Writes a list, each item by a function. */
  list<T>(items: readonly T[], write: (enc: Encoder, item: T) => void): void {
    this.arrayHeader(items.length);
    for (const item of items) write(this, item);
  }

  /** Writes a list of strings. */
  strs(items: readonly string[]): void {
    this.list(items, writeStr);
  }

  /**
   * Begins a byte string whose content is written next, without a second buffer. Such strings may nest.
   *
   * @param expected approximate bytes of the content; a good guess saves a move
   * @returns a mark for {@link endBin}
   */
  beginBin(expected = 0): number {
    const size = headerSize(expected);
    const p = this.#reserve(size);
    // Until the length is known, the header's first byte holds the header's size.
    this.#buf[p] = size;
    this.#pos = p + size;
    return p;
  }

  /** Ends the byte string that {@link beginBin} began with this mark. */
  endBin(mark: number): void {
    const reserved = this.#buf[mark]!;
    const n = this.#pos - mark - reserved;
    const size = headerSize(n);
    if (size !== reserved) {
      this.#reserve(5);
      this.#buf.copyWithin(mark + size, mark + reserved, this.#pos);
      this.#pos += size - reserved;
    }
    putHeader(this.#buf, mark, BIN, n);
  }

  /**
   * Writes a JSON-like value: null, undefined, booleans, numbers, safe bigints, strings, Dates (as ms), Uint8Arrays,
   * arrays, plain objects, and objects with toJSON. In objects undefined is left out, in arrays it is nil.
   *
   * @param field name of the value in error messages; parts of it are named like `args.items[3].id`
   * @param depth bound on its nesting
   * @throws TurncoreError E_INVALID_VALUE naming the field, for anything else
   */
  value(v: unknown, field: string, depth = MAX_VALUE_DEPTH): void {
    switch (typeof v) {
      case 'string':
        if (v.length > LONGEST_SURE) this.#element(v, '', new ValuePath(field, depth));
        else this.str(v);
        return;
      case 'number':
        this.number(v, field);
        return;
      case 'boolean':
        this.bool(v);
        return;
      case 'undefined':
        this.nil();
        return;
      case 'object':
        if (v === null) this.nil();
        else this.#object(v, '', new ValuePath(field, depth));
        return;
      default:
        this.#element(v, '', new ValuePath(field, depth));
    }
  }

  /** Writes a number as the Values rules say: safe integers shortest, others float64, -0 as 0. */
  number(n: number, field: string): void {
    if (Number.isSafeInteger(n)) this.int(n);
    else if (Number.isFinite(n)) this.float(n);
    else throw invalidValue(field, `${n} has no encoding`);
  }

  #element(v: unknown, key: string | number, path: ValuePath): void {
    switch (typeof v) {
      case 'string':
        if (v.length > LONGEST_SURE) requireRoom(utf8Length(v), key, path);
        this.str(v);
        return;
      case 'number':
        if (Number.isSafeInteger(v)) this.int(v);
        else if (Number.isFinite(v)) this.float(v);
        else throw invalidValue(path.at(key), `${v} has no encoding`);
        return;
      case 'boolean':
        this.bool(v);
        return;
      case 'undefined':
        this.nil();
        return;
      case 'bigint':
        if (v > BigInt(Number.MAX_SAFE_INTEGER) || v < BigInt(Number.MIN_SAFE_INTEGER)) {
          throw invalidValue(path.at(key), `integer ${v} is beyond 2^53-1`);
        }
        this.int(Number(v));
        return;
      case 'object':
        if (v === null) this.nil();
        else this.#object(v, key, path);
        return;
      default:
        throw invalidValue(path.at(key), `a ${typeof v} cannot be encoded`);
    }
  }

  #object(v: object, key: string | number, path: ValuePath): void {
    if (v instanceof Uint8Array) {
      requireRoom(v.length, key, path);
      this.bin(v);
      return;
    }
    path.enter(v, key);
    if (Array.isArray(v)) {
      const list = v as readonly unknown[];
      path.checkSize(list.length);
      this.arrayHeader(list.length);
      for (let i = 0; i < list.length; i++) this.#element(list[i], i, path);
    } else {
      const proto: unknown = Object.getPrototypeOf(v);
      if (proto !== Object.prototype && proto !== null && !isForeignPlain(v, proto)) {
        this.#instance(v, key, path);
      } else if (typeof (v as { toJSON?: unknown }).toJSON === 'function') {
        this.#instance(v, key, path);
      } else {
        this.#plain(v as Record<string, unknown>, path);
      }
    }
    path.leave();
  }

  #plain(v: Record<string, unknown>, path: ValuePath): void {
    const keys = Object.keys(v);
    let n = 0;
    for (const k of keys) if (v[k] !== undefined) n++;
    path.checkSize(n);
    this.mapHeader(n);
    const end = this.#pos;
    let written = 0;
    for (const k of keys) {
      const e = v[k];
      if (e === undefined) continue;
      this.str(k);
      this.#element(e, k, path);
      written++;
    }
    // A getter may return something else each time. A wrong count would break the whole frame.
    if (written !== n) {
      this.#pos = end;
      throw invalidValue(path.at(''), 'properties changed meanwhile');
    }
  }

  #instance(v: object, key: string | number, path: ValuePath): void {
    if (isDate(v)) {
      const ms = v.getTime();
      if (Number.isNaN(ms)) throw invalidValue(path.here(), 'the date is invalid');
      this.int(ms);
      return;
    }
    if (Object.prototype.toString.call(v) === '[object Uint8Array]') {
      this.bin(v as Uint8Array);
      return;
    }
    const toJSON: unknown = (v as { toJSON?: unknown }).toJSON;
    if (typeof toJSON === 'function') {
      this.#element((toJSON as (key: string) => unknown).call(v, String(key)), '', path);
      return;
    }
    const name = v.constructor?.name || 'object';
    throw invalidValue(path.here(), `a ${name} cannot be encoded`);
  }

  /** Writes a short string that is not all ASCII, with its header at the start. */
  #shortString(s: string, start: number): void {
    const size = utf8Length(s);
    const b = this.#buf;
    let p = start;
    if (size < 32) {
      b[p++] = 0xa0 | size;
    } else if (size < 0x100) {
      b[p++] = 0xd9;
      b[p++] = size;
    } else {
      b[p++] = 0xda;
      p = put16(b, p, size);
    }
    for (let i = 0; i < s.length; i++) {
      let c = s.charCodeAt(i);
      if (c < 0x80) {
        b[p++] = c;
        continue;
      }
      if (c < 0x800) {
        b[p++] = 0xc0 | (c >> 6);
        b[p++] = 0x80 | (c & 0x3f);
        continue;
      }
      if (c >= 0xd800 && c < 0xe000) {
        const low = c < 0xdc00 && i + 1 < s.length ? s.charCodeAt(i + 1) : 0;
        if (low >= 0xdc00 && low < 0xe000) {
          c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
          b[p++] = 0xf0 | (c >> 18);
          b[p++] = 0x80 | ((c >> 12) & 0x3f);
          b[p++] = 0x80 | ((c >> 6) & 0x3f);
          b[p++] = 0x80 | (c & 0x3f);
          i++;
          continue;
        }
        c = 0xfffd;
      }
      b[p++] = 0xe0 | (c >> 12);
      b[p++] = 0x80 | ((c >> 6) & 0x3f);
      b[p++] = 0x80 | (c & 0x3f);
    }
    this.#pos = p;
  }

  #longString(s: string): void {
    // Most long strings are nearly all ASCII: three bytes per unit would waste much room on very long ones.
    const most = s.length > MEASURED_STRING ? utf8Length(s) : s.length * 3;
    const start = this.#reserve(most + 5);
    const guess = headerSize(s.length);
    const at = start + guess;
    const size = text.encodeInto(s, this.#buf.subarray(at, at + most)).written;
    const header = headerSize(size);
    const b = this.#buf;
    if (header !== guess) b.copyWithin(start + header, at, at + size);
    putHeader(b, start, STR, size);
    this.#pos = start + header + size;
  }

  /** Makes room for n more bytes and returns the position to write them at. */
  #reserve(n: number): number {
    const p = this.#pos;
    if (p + n > this.#buf.length) this.#grow(p + n);
    return p;
  }

  #grow(size: number): void {
    const bigger = new Uint8Array(Math.max(size, this.#buf.length * 2));
    bigger.set(this.#buf.subarray(0, this.#pos));
    this.#buf = bigger;
  }

  #notAnInteger(n: number, p: number): never {
    this.#pos = p;
    throw new RangeError(`${n} is not a safe integer`);
  }
}

/** Requires that a frame holds the bytes of an element. */
function requireRoom(bytes: number, key: string | number, path: ValuePath): void {
  if (bytes <= DEFAULT_LIMITS.frame) return;
  throw invalidValue(path.at(key), `${bytes} bytes are more than a frame holds`);
}

function writeStr(enc: Encoder, s: string): void {
  enc.str(s);
}
