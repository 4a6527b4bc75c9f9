/**
 * Frames as JSON, for people and programs that inspect a journal.
 */
import { hex } from '../bytes.js';
import { GROUPS, PAYLOADS, TUPLES } from './layouts.gen.js';

/**
 * The frames of a batch as a JSON array. Each is an object: `frame` has its name, and the fields have the names of
 * the ABI's tuples, numbers of kinds and collections their names. Byte strings in UTF-8 are strings, others are
 * `{"hex": "…"}`. Malformed bytes come last, as `{"malformed": …}`.
 *
 * The Go host writes the same bytes.
 */
export function framesJSON(batch: Uint8Array): string {
  return `[${framesOf(batch)
    .map((frame) => frameJSON(frame))
    .join(',')}]`;
}

/** The frames of a batch. Malformed bytes are the last one. */
export function framesOf(batch: Uint8Array): Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let rest = batch; rest.length > 0;) {
    const reader = new Writer(rest);
    const size = attempt(() => {
      reader.value('raw', new Map(), 0);
      return rest.length - reader.rest.length;
    });
    frames.push(rest.subarray(0, size));
    rest = size === undefined ? rest.subarray(rest.length) : rest.subarray(size);
  }
  return frames;
}

/** One frame as JSON. */
export function frameJSON(frame: Uint8Array): string {
  const text = attempt(() => {
    const at = new Writer(frame);
    at.head();
    const name = GROUPS['Op']![at.head().n];
    const writer = new Writer(frame);
    const json = name === undefined ? '' : writer.tuple(name, 0);
    return writer.rest.length === 0 && json !== '' ? json : undefined;
  });
  return text ?? `{"malformed":{"hex":"${hex(frame)}"}}`;
}

/** A function's result, undefined if the bytes that it reads are malformed. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Malformed extends Error {}

/** Nesting limit of values, including those encoded in byte strings. */
const MAX_NESTING = 128;

type What = 'nil' | 'bool' | 'int' | 'float' | 'text' | 'bytes' | 'array' | 'map';

/** The heads with a number behind, by their first byte from 0xc4: what they begin, and bytes of the number. */
const LONG: Readonly<Record<number, readonly [What, number]>> = {
  ...{ 0xc4: ['bytes', 1], 0xc5: ['bytes', 2], 0xc6: ['bytes', 4], 0xcb: ['float', 8] },
  ...{ 0xcc: ['int', 1], 0xcd: ['int', 2], 0xce: ['int', 4], 0xcf: ['int', 8] },
  ...{ 0xd0: ['int', 1], 0xd1: ['int', 2], 0xd2: ['int', 4], 0xd3: ['int', 8] },
  ...{ 0xd9: ['text', 1], 0xda: ['text', 2], 0xdb: ['text', 4] },
  ...{ 0xdc: ['array', 2], 0xdd: ['array', 4], 0xde: ['map', 2], 0xdf: ['map', 4] },
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Turns encoded values into JSON. Throws {@link Malformed} for malformed bytes. */
class Writer {
  /** To be read. */
  rest: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.rest = bytes;
  }

  /** Reads the head of a value: its kind, and its number or its length. */
  head(): { what: What; n: number } {
    const [c] = this.take(1) as unknown as [number];
    if (c < 0x80) return { what: 'int', n: c };
    if (c < 0x90) return { what: 'map', n: c & 15 };
    if (c < 0xa0) return { what: 'array', n: c & 15 };
    if (c < 0xc0) return { what: 'text', n: c & 31 };
    if (c >= 0xe0) return { what: 'int', n: c - 0x100 };
    if (c === 0xc0) return { what: 'nil', n: 0 };
    if (c === 0xc2 || c === 0xc3) return { what: 'bool', n: c & 1 };
    const [what, size] = LONG[c] ?? [];
    if (what === undefined) throw new Malformed();
    const b = this.take(size!);
    const view = new DataView(b.buffer, b.byteOffset, size);
    if (what === 'float') return { what, n: view.getFloat64(0) };
    let n = 0n;
    for (const byte of b) n = (n << 8n) | BigInt(byte);
    const number = Number(c >= 0xd0 && c <= 0xd3 ? BigInt.asIntN(8 * size!, n) : n);
    if (!Number.isSafeInteger(number)) throw new Malformed();
    return { what, n: number };
  }

  take(n: number): Uint8Array {
    if (n > this.rest.length) throw new Malformed();
    const taken = this.rest.subarray(0, n);
    this.rest = this.rest.subarray(n);
    return taken;
  }

  /** Writes an array whose elements have names. */
  tuple(name: string, depth: number): string {
    const fields = TUPLES[name]!.split(' ');
    const before = this.rest;
    const { what, n } = this.head();
    if (what !== 'array' || n !== fields.length) {
      this.rest = before;
      return this.value('raw', new Map(), depth);
    }
    const numbers = new Map<string, number>();
    const members = fields.map((field) => {
      const [member, kind] = field.split(':') as [string, string];
      if (member === 'op') {
        this.head();
        return `"frame":"${name}"`;
      }
      return `"${member}":${this.value(kind, numbers, depth + 1)}`;
    });
    return `{${members.join(',')}}`;
  }

  /**
   * Writes a value of a kind.
   *
   * @param numbers of groups that came before it in its tuple: the kind may depend on them
   */
  value(kind: string, numbers: Map<string, number>, depth: number): string {
    if (depth > MAX_NESTING || this.rest.length === 0) throw new Malformed();
    if (kind.startsWith('@')) {
      const group = kind.slice(1);
      kind = PAYLOADS[group]?.[numbers.get(group)!] ?? '';
    }
    kind = kind.replace(/\?$/, '');
    if (Object.hasOwn(TUPLES, kind) && this.rest[0] !== 0xc0) return this.tuple(kind, depth);
    const { what, n } = this.head();
    switch (what) {
      case 'nil':
        return 'null';
      case 'bool':
        return n === 1 ? 'true' : 'false';
      case 'float':
        return JSON.stringify(n);
      case 'int': {
        const name = GROUPS[kind]?.[n];
        if (name !== undefined) numbers.set(kind, n);
        return JSON.stringify(name ?? n);
      }
      case 'text':
      case 'bytes':
        return this.#bytes(this.take(n), kind, numbers, depth);
      case 'array': {
        const element = kind.replace(/\[\]$/, '');
        const parts: string[] = [];
        for (let i = 0; i < n; i++) parts.push(this.value(element, numbers, depth + 1));
        return `[${parts.join(',')}]`;
      }
      case 'map': {
        const parts: string[] = [];
        for (let i = 0; i < n; i++) {
          const key = this.head();
          const name = key.what === 'text' ? textOf(this.take(key.n)) : undefined;
          if (name === undefined) throw new Malformed();
          parts.push(`${JSON.stringify(name)}:${this.value('raw', numbers, depth + 1)}`);
        }
        return `{${parts.join(',')}}`;
      }
    }
  }

  /** Writes a string, or a byte string. */
  #bytes(b: Uint8Array, kind: string, numbers: Map<string, number>, depth: number): string {
    if (kind === 'values') {
      const record = PAYLOADS['Collection']![numbers.get('Collection')!];
      const inner = new Writer(b);
      const values = attempt(() => {
        const list: string[] = [];
        while (inner.rest.length > 0) {
          const [c] = inner.rest as unknown as [number];
          const isRecord = c >= 0x90 && c < 0xa0 && record !== undefined;
          list.push(
            isRecord ? inner.tuple(record, depth + 1) : inner.value('raw', new Map(), depth + 1),
          );
        }
        return list;
      });
      if (values !== undefined) return `[${values.join(',')}]`;
    }
    const text = kind === 'bin' ? undefined : textOf(b);
    return text === undefined ? `{"hex":"${hex(b)}"}` : JSON.stringify(text);
  }
}

function textOf(b: Uint8Array): string | undefined {
  try {
    return utf8.decode(b);
  } catch {
    return undefined;
  }
}
