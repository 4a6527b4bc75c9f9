/**
 * The sections of a module beside its code. What a file says of its own size is compared with the bytes that it has.
 */
import { Reader } from '../instance/confine.js';

/** What is wrong with a module. */
export class MeteringError extends Error {
  override name = 'MeteringError';
}

export function malformed(): MeteringError {
  return new MeteringError('the module is malformed');
}

export const Section = {
  Custom: 0,
  Type: 1,
  Import: 2,
  Function: 3,
  Table: 4,
  Memory: 5,
  Global: 6,
  Export: 7,
  Start: 8,
  Element: 9,
  Code: 10,
  Data: 11,
  DataCount: 12,
} as const;

/** Kinds of imports and exports. */
export const Kind = { Function: 0, Table: 1, Memory: 2, Global: 3 } as const;

export const TYPE_FUNCTION = 0x60;

/** How much there is that a file names by an index. */
export class Scope {
  functions = 0;
  globals = 0;
  /** How many parameters and results each type has. */
  readonly types: { readonly params: number; readonly results: number }[] = [];

  /** Reads a section that has no code and is none of exports, to its end. */
  read(id: number, r: FileReader): void {
    switch (id) {
      case Section.Type:
        this.#types(r);
        break;
      case Section.Import:
        this.#imports(r);
        break;
      case Section.Function:
        for (let n = r.count(); n > 0; n--) {
          r.index(this.types.length);
          this.functions++;
        }
        break;
      case Section.Table:
      case Section.Memory:
        for (let n = r.count(); n > 0; n--) {
          if (id === Section.Table) r.byte();
          r.limits();
        }
        break;
      case Section.Global:
        for (let n = r.count(); n > 0; n--) {
          r.bytes(2);
          this.#expression(r);
          this.globals++;
        }
        break;
      case Section.Element:
        this.#elements(r);
        break;
      case Section.Data:
        this.#data(r);
        break;
      default: // the number of segments of data
        r.uint();
    }
    r.end();
  }

  #types(r: FileReader): void {
    for (let n = r.count(); n > 0; n--) {
      const kind = r.byte();
      if (kind !== TYPE_FUNCTION) {
        throw new MeteringError(
          `it has a type of kind 0x${kind.toString(16)}, which is no function`,
        );
      }
      const params = r.uint();
      r.bytes(params);
      const results = r.uint();
      r.bytes(results);
      this.types.push({ params, results });
    }
  }

  #imports(r: FileReader): void {
    for (let n = r.count(); n > 0; n--) {
      const module = r.name();
      const name = r.name();
      const kind = r.byte();
      switch (kind) {
        case Kind.Function:
          r.uint();
          this.functions++;
          break;
        case Kind.Table:
          r.byte();
          r.limits();
          break;
        case Kind.Memory:
          r.limits();
          break;
        case Kind.Global:
          r.bytes(2);
          this.globals++;
          break;
        default:
          throw new MeteringError(
            `the module imports ${name} of ${module}, which is of kind ${kind}`,
          );
      }
    }
  }

  /**
   * The lowest bits of a segment's flags say that it is not for a table at once, that it names a table or what it is
   * for, and that it has expressions.
   */
  #elements(r: FileReader): void {
    for (let n = r.count(); n > 0; n--) {
      const flags = r.uint();
      if (flags > 7) throw new MeteringError(`it has elements of kind ${flags}`);
      if ((flags & 1) === 0) {
        if ((flags & 2) !== 0) r.uint();
        this.#expression(r);
      }
      if ((flags & 3) !== 0) r.byte();
      for (let entries = r.count(); entries > 0; entries--) {
        if ((flags & 4) !== 0) this.#expression(r);
        else r.index(this.functions);
      }
    }
  }

  #data(r: FileReader): void {
    for (let n = r.count(); n > 0; n--) {
      const flags = r.uint();
      if (flags === 2) r.uint();
      if (flags !== 1) this.#expression(r);
      r.bytes(r.uint());
    }
  }

  /** A constant expression: all instructions of the standard but those of types that are collected. */
  #expression(r: FileReader): void {
    for (;;) {
      const op = r.byte();
      switch (op) {
        case 0x0b: // end
          return;
        case 0x23: // global.get
          r.index(this.globals);
          break;
        case 0x41: // i32.const, i64.const
        case 0x42:
          r.int();
          break;
        case 0x43: // f32.const
          r.bytes(4);
          break;
        case 0x44: // f64.const
          r.bytes(8);
          break;
        case 0xd0: // ref.null
          r.byte();
          break;
        case 0xd2: // ref.func
          r.index(this.functions);
          break;
        case 0xfd: // v128.const
          if (r.uint() !== 12) throw malformed();
          r.bytes(16);
          break;
        default: // sums, differences and products
          if (![0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e].includes(op)) throw malformed();
      }
    }
  }
}

/** Reads files. Its methods throw if there are too few bytes. */
export class FileReader extends Reader {
  /** Throws if something is left. */
  end(): void {
    if (this.left > 0) throw malformed();
  }

  /** How many entries follow, of a byte each at least. */
  count(): number {
    const n = this.uint();
    if (n > this.left) throw malformed();
    return n;
  }

  /** The index of one of so many. */
  index(count: number): void {
    if (this.uint() >= count) throw malformed();
  }

  /** A signed number, as far as it is none of an index: whatever is negative is -1. */
  int(): number {
    let v = 0;
    for (let scale = 1, n = 0; n < 10; n++, scale *= 128) {
      const byte = this.byte();
      v += (byte & 0x7f) * scale;
      if (byte < 0x80) return (byte & 0x40) !== 0 ? -1 : v;
    }
    throw malformed();
  }

  /** Steps over the size of a memory or table. */
  limits(): void {
    const flags = this.byte();
    this.uint();
    if ((flags & 1) !== 0) this.uint();
  }

  /** How many locals a function has besides its parameters, and in how many groups of one type. */
  locals(): { locals: number; groups: number } {
    const groups = this.count();
    let locals = 0;
    for (let n = groups; n > 0; n--) {
      locals += this.uint();
      this.byte();
    }
    return { locals, groups };
  }
}
