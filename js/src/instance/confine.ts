/**
 * Bounds what a module can make its host hold. A module declares the bound of its memory itself, and its tables,
 * globals and objects lie outside of its memory. So the host reads the declarations before the engine does, and
 * replaces the bounds by its own.
 */
import { equal, joined } from '../bytes.js';

/** Bytes of a page of memory. */
const PAGE = 64 << 10;
/** The most pages of a memory. */
const MAX_PAGES = 1 << 16;
/** Go's linker makes one table, with an entry for each function, and eight globals. */
const MAX_TABLE = 1 << 18;
const MAX_GLOBALS = 64;

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0] as const;
const Section = { Type: 1, Import: 2, Function: 3, Table: 4, Memory: 5, Global: 6, Export: 7 };
/** The last section of those that bring nothing but code, data and tables. */
const LAST_SECTION = 12;
const FUNCTION_TYPE = 0x60;
const FUNCTION_REFERENCE = 0x70;
/** Kinds of imports and exports. */
const FUNCTION = 0;

/** What is wrong with a module. */
export class ConfineError extends Error {}

/** A function that a module imports or exports. Its type is like `i32 i32 -> i64`. */
export interface TypedFunction {
  /** Empty for an export. */
  readonly module: string;
  readonly name: string;
  readonly type: string;
}

/** A module that is bounded. */
export interface Confined {
  /** The given bytes, if nothing had to change. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly imports: readonly TypedFunction[];
  readonly exports: readonly TypedFunction[];
}

/** The number of pages in so many bytes. */
export function pagesOf(bytes: number): number {
  return Math.min(MAX_PAGES, Math.floor(bytes / PAGE));
}

/**
 * Lets a module's memory grow to so many pages, and its table not at all. Bytes that are not WebAssembly stay
 * unchanged: the engine reports them.
 *
 * @throws ConfineError for a module with more than Go's linker makes
 */
export function confine(bytes: Uint8Array<ArrayBuffer>, pages: number): Confined {
  if (!HEADER.every((byte, i) => bytes[i] === byte)) return { bytes, imports: [], exports: [] };
  const found = new Declarations();
  const out: Uint8Array[] = [bytes.subarray(0, HEADER.length)];
  let changed = false;
  const rest = new Reader(bytes.subarray(HEADER.length));
  while (rest.left > 0) {
    const from = HEADER.length + rest.at;
    const id = rest.byte();
    const body = rest.bytes(rest.uint());
    const want = sectionOf(id, body, pages, found);
    if (want === undefined || equal(want, body)) {
      out.push(bytes.subarray(from, HEADER.length + rest.at));
      continue;
    }
    changed = true;
    out.push(Uint8Array.from([id, ...leb(want.length), ...want]));
  }
  const { imports, exports } = found;
  return { bytes: changed ? joined(out) : bytes, imports, exports };
}

/** The new body of a section; undefined to keep the old one. */
function sectionOf(
  id: number,
  body: Uint8Array,
  pages: number,
  found: Declarations,
): number[] | undefined {
  if (id > LAST_SECTION) throw new ConfineError(`it has a section of kind ${id}`);
  const r = new Reader(body);
  let want: number[] | undefined;
  switch (id) {
    case Section.Type:
      found.readTypes(r);
      break;
    case Section.Import:
      found.readImports(r);
      return undefined;
    case Section.Function:
      for (let n = r.uint(); n > 0; n--) found.functions.push(r.uint());
      break;
    case Section.Table:
      want = readTable(r);
      break;
    case Section.Memory:
      want = readMemory(r, pages);
      break;
    case Section.Global: {
      const n = r.uint();
      if (n > MAX_GLOBALS) throw new ConfineError(`it has ${n} globals, more than ${MAX_GLOBALS}`);
      return undefined;
    }
    case Section.Export:
      found.readExports(r);
      break;
    default:
      return undefined;
  }
  if (r.left > 0) throw malformed();
  return want;
}

/** A table that cannot grow. */
function readTable(r: Reader): number[] | undefined {
  const n = r.uint();
  if (n === 0) return undefined;
  if (n > 1) throw new ConfineError(`it has ${n} tables, more than one`);
  const kind = r.byte();
  if (kind !== FUNCTION_REFERENCE) {
    throw new ConfineError(`it has a table of type ${hex(kind)}, which holds no functions`);
  }
  const size = readLimits(r, 'table');
  if (size > MAX_TABLE) {
    throw new ConfineError(`it has a table of ${size} entries, more than ${MAX_TABLE}`);
  }
  return [1, kind, 1, ...leb(size), ...leb(size)];
}

/** A memory that can grow to so many pages. */
function readMemory(r: Reader, pages: number): number[] | undefined {
  const n = r.uint();
  if (n === 0) return undefined;
  if (n > 1) throw new ConfineError(`it has ${n} memories, more than one`);
  const size = readLimits(r, 'memory');
  if (size > pages) {
    throw new ConfineError(`its memory begins with ${size} pages, more than ${pages}`);
  }
  return [1, 1, ...leb(size), ...leb(pages)];
}

/** The initial size of a memory or a table. */
function readLimits(r: Reader, of: string): number {
  const flags = r.byte();
  // Other flags mean shared or 64-bit.
  if (flags > 1) throw new ConfineError(`it has a ${of} of kind ${flags}`);
  const size = r.uint();
  if (flags === 1) r.uint();
  return size;
}

/** The functions that a module declares. */
class Declarations {
  readonly imports: TypedFunction[] = [];
  readonly exports: TypedFunction[] = [];
  /** The types of all functions, by their numbers. */
  readonly functions: number[] = [];
  readonly #types: string[] = [];

  /** Functions only: the engine keeps objects of all other types outside of the memory. */
  readTypes(r: Reader): void {
    for (let n = r.uint(); n > 0; n--) {
      const kind = r.byte();
      if (kind !== FUNCTION_TYPE) {
        throw new ConfineError(`it has a type of kind ${hex(kind)}, which is no function`);
      }
      const params = typeNames(r.bytes(r.uint()));
      this.#types.push(`${params} -> ${typeNames(r.bytes(r.uint()))}`);
    }
  }

  /** Functions, up to the first export of another kind, which is refused elsewhere. */
  readImports(r: Reader): void {
    for (let n = r.uint(); n > 0; n--) {
      const module = r.name();
      const name = r.name();
      if (r.byte() !== FUNCTION) return;
      const type = r.uint();
      this.functions.push(type);
      this.imports.push({ module, name, type: this.#types[type] ?? '' });
    }
  }

  readExports(r: Reader): void {
    for (let n = r.uint(); n > 0; n--) {
      const name = r.name();
      const kind = r.byte();
      const index = r.uint();
      if (kind !== FUNCTION) continue;
      const type = this.#types[this.functions[index] ?? -1] ?? '';
      this.exports.push({ module: '', name, type });
    }
  }
}

const names: Readonly<Record<number, string>> = {
  0x7f: 'i32',
  0x7e: 'i64',
  0x7d: 'f32',
  0x7c: 'f64',
};

function typeNames(types: Uint8Array): string {
  return `[${Array.from(types, (type) => names[type] ?? hex(type)).join(' ')}]`;
}

/** Reads bytes in order. Its methods throw a ConfineError if there are too few. */
export class Reader {
  at = 0;
  readonly #data: Uint8Array;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  get left(): number {
    return this.#data.length - this.at;
  }

  byte(): number {
    if (this.left === 0) throw malformed();
    return this.#data[this.at++]!;
  }

  bytes(n: number): Uint8Array {
    if (n > this.left) throw malformed();
    return this.#data.subarray(this.at, (this.at += n));
  }

  /** A number of 32 bits in LEB128. */
  uint(): number {
    let n = 0;
    for (let scale = 1; scale < 2 ** 35; scale *= 128) {
      const byte = this.byte();
      n += (byte & 0x7f) * scale;
      if (byte > 0x7f) continue;
      if (n >= 2 ** 32) throw malformed();
      return n;
    }
    throw malformed();
  }

  name(): string {
    return new TextDecoder().decode(this.bytes(this.uint()));
  }
}

/** A number in LEB128. */
export function leb(n: number): number[] {
  const out: number[] = [];
  for (; n > 0x7f; n = Math.floor(n / 128)) out.push((n % 128) + 128);
  out.push(n);
  return out;
}

function malformed(): ConfineError {
  return new ConfineError('a section is malformed: the file may be cut off');
}

function hex(n: number): string {
  return `0x${n.toString(16)}`;
}
