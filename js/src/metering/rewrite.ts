/**
 * Makes a module count what it does, as Go's package `internal/metering` describes it: the bytes are the same.
 */
import { joined } from '../bytes.js';
import { ConfineError, leb, Reader } from '../instance/confine.js';
import {
  Deed,
  FUEL,
  INSTRUCTIONS_OF_UNIT,
  MAX_LOCALS,
  ROWS,
  SHORT_FUNCTION,
  START,
} from './instructions.gen.js';

/** What is wrong with a module. */
export class MeteringError extends Error {
  override name = 'MeteringError';
}

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0] as const;
const Section = {
  Custom: 0,
  Type: 1,
  Import: 2,
  Function: 3,
  Global: 6,
  Export: 7,
  Start: 8,
  Code: 10,
};
/** The order of sections in a file. */
const ORDER = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11];
const Kind = { Function: 0, Table: 1, Memory: 2, Global: 3 };
const TYPE_FUNCTION = 0x60;
const I32 = 0x7f;
const I64 = 0x7e;

/** Instructions that are written. */
const Op = {
  unreachable: 0x00,
  if: 0x04,
  end: 0x0b,
  localGet: 0x20,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  i64Const: 0x42,
  i64LtS: 0x53,
  i64Sub: 0x7d,
  i64Shl: 0x86,
  i64ShrU: 0x88,
  i64ExtendI32U: 0xad,
};
const NO_RESULT = 0x40;

/** Bytes that instructions with two numbers begin with. */
const PREFIXES: readonly number[] = [0xfc, 0xfd];

interface Instruction {
  readonly operands: string;
  readonly does: number;
  readonly shift: number;
  /** The next instruction may not be reached, or only later. */
  readonly jumps: boolean;
}

/** The instructions by code, with a prefix in the second byte. */
const INSTRUCTIONS: readonly Instruction[] = instructions();

function instructions(): Instruction[] {
  const all: Instruction[] = [];
  for (const [from, to, operands, does, shift, jumps] of ROWS) {
    for (let code = from; code <= to; code++) all[code] = { operands, does, shift, jumps };
  }
  return all;
}

/**
 * The module with metering. It exports its fuel, an i64 that the host sets before each call, and its start function.
 *
 * @throws MeteringError for what is no module, has instructions that cannot be metered, or is metered already
 */
export function meter(file: Uint8Array): Uint8Array<ArrayBuffer> {
  if (!HEADER.every((byte, i) => file[i] === byte)) throw malformed();
  const sections = file.subarray(HEADER.length);
  try {
    const m = new Meter(findStart(sections));
    for (const r = new CodeReader(sections); r.left > 0;) m.section(r.byte(), r.bytes(r.uint()));
    m.reach(ORDER.length);
    return joined([Uint8Array.from(HEADER), ...m.out]);
  } catch (cause) {
    throw cause instanceof ConfineError ? malformed() : cause;
  }
}

/** The start function, undefined for none. */
function findStart(sections: Uint8Array): number | undefined {
  let start: number | undefined;
  for (const r = new CodeReader(sections); r.left > 0;) {
    const id = r.byte();
    const body = new CodeReader(r.bytes(r.uint()));
    if (id !== Section.Start) continue;
    start = body.uint();
    body.end();
  }
  return start;
}

/** A module on its way. */
class Meter {
  readonly out: Uint8Array[] = [];
  readonly #start: number | undefined;
  /** The place in the order of the first section that may come. */
  #next = 0;
  /** How many parameters functions of each type have. */
  readonly #params: number[] = [];
  /** The types of functions that the module defines. */
  readonly #functions: number[] = [];
  #importedGlobals = 0;
  /** The index of the fuel. */
  #fuel = 0;

  constructor(start: number | undefined) {
    this.#start = start;
  }

  section(id: number, body: Uint8Array): void {
    if (id === Section.Custom) return;
    const place = ORDER.indexOf(id);
    if (place < 0) throw new MeteringError(`the module has a section of kind ${id}`);
    if (place < this.#next) throw malformed();
    this.reach(place);
    this.#next = place + 1;
    const r = new CodeReader(body);
    switch (id) {
      case Section.Type:
        this.#readTypes(r);
        break;
      case Section.Import:
        this.#readImports(r);
        break;
      case Section.Function:
        for (let n = r.count(); n > 0; n--) this.#functions.push(r.uint());
        r.end();
        break;
      case Section.Global:
        this.#globals(r.count(), body.subarray(r.at));
        return;
      case Section.Export:
        this.#exports(r, body);
        return;
      case Section.Start:
        return;
      case Section.Code:
        this.#code(r);
        return;
    }
    this.#write(id, [body]);
  }

  /** Adds the sections before a place in the order that are needed and not there. */
  reach(place: number): void {
    const missing = (id: number): boolean => {
      const at = ORDER.indexOf(id);
      return this.#next <= at && at < place;
    };
    if (missing(Section.Global)) this.#globals(0, new Uint8Array());
    if (missing(Section.Export)) this.#export(0, new Uint8Array());
  }

  #write(id: number, body: readonly Uint8Array[]): void {
    const size = body.reduce((sum, part) => sum + part.length, 0);
    this.out.push(Uint8Array.from([id, ...leb(size)]), ...body);
  }

  #readTypes(r: CodeReader): void {
    for (let n = r.count(); n > 0; n--) {
      const kind = r.byte();
      if (kind !== TYPE_FUNCTION) {
        throw new MeteringError(
          `the module has a type of kind 0x${kind.toString(16)}, which is no function`,
        );
      }
      const params = r.uint();
      r.bytes(params);
      r.bytes(r.uint());
      this.#params.push(params);
    }
    r.end();
  }

  #readImports(r: CodeReader): void {
    for (let n = r.count(); n > 0; n--) {
      const module = r.name();
      const name = r.name();
      const kind = r.byte();
      switch (kind) {
        case Kind.Function:
          r.uint();
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
          this.#importedGlobals++;
          break;
        default:
          throw new MeteringError(
            `the module imports ${name} of ${module}, which is of kind ${kind}`,
          );
      }
    }
    r.end();
  }

  #globals(n: number, rest: Uint8Array): void {
    this.#fuel = this.#importedGlobals + n;
    const fuel = [I64, 1, Op.i64Const, 0, Op.end]; // 1: mutable
    this.#write(Section.Global, [Uint8Array.from(leb(n + 1)), rest, Uint8Array.from(fuel)]);
  }

  #exports(r: CodeReader, body: Uint8Array): void {
    const n = r.count();
    const rest = body.subarray(r.at);
    for (let k = 0; k < n; k++) {
      const name = r.name();
      const kind = r.byte();
      const index = r.uint();
      if (name === FUEL || name === START) {
        throw new MeteringError(`the module exports ${name}: it is metered already`);
      }
      if (kind === Kind.Global && index >= this.#fuel) throw malformed();
    }
    r.end();
    this.#export(n, rest);
  }

  #export(n: number, rest: Uint8Array): void {
    const more = [...named(FUEL), Kind.Global, ...leb(this.#fuel)];
    if (this.#start !== undefined) more.push(...named(START), Kind.Function, ...leb(this.#start));
    const count = n + (this.#start === undefined ? 1 : 2);
    this.#write(Section.Export, [Uint8Array.from(leb(count)), rest, Uint8Array.from(more)]);
  }

  #code(r: CodeReader): void {
    const n = r.count();
    if (n !== this.#functions.length) throw malformed();
    const body: Uint8Array[] = [Uint8Array.from(leb(n))];
    for (let k = 0; k < n; k++) {
      const code = r.bytes(r.uint());
      const params = this.#params[this.#functions[k]!];
      if (params === undefined) throw malformed();
      try {
        const parts = meterFunction(code, params, this.#fuel);
        const size = parts.reduce((sum, part) => sum + part.length, 0);
        body.push(Uint8Array.from(leb(size)), ...parts);
      } catch (cause) {
        if (!(cause instanceof MeteringError)) throw cause;
        throw new MeteringError(`function ${k} of those that the module defines: ${cause.message}`);
      }
    }
    r.end();
    this.#write(Section.Code, body);
  }
}

/** Where something is paid: for a loop that begins there, or for many bytes, as many as the operand shifted. */
interface Place {
  readonly at: number;
  /** 0 for an instruction that works on many bytes. */
  readonly region: number;
  readonly shift: number;
}

/** A function with what it pays, in parts. */
function meterFunction(file: Uint8Array, params: number, fuel: number): Uint8Array[] {
  const r = new CodeReader(file);
  const groups = r.count();
  const declared = r.at;
  let locals = params;
  for (let n = groups; n > 0; n--) {
    locals += r.uint();
    r.byte();
  }
  if (locals > MAX_LOCALS) {
    throw new MeteringError(`it has ${locals} locals, more than ${MAX_LOCALS}`);
  }
  const begin = r.at;
  const places: Place[] = [];
  const costs = [0]; // of regions: the function without its loops, and each loop without the loops in it
  const open = [0]; // the regions of the blocks around an instruction
  let first = true; // the loop that comes next is reached whenever the function is entered
  let pays = false;
  let calls = false;
  let bulk = false;
  while (r.left > 0 && open.length > 0) {
    const from = r.at;
    const i = r.instruction();
    let region = open.at(-1)!;
    costs[region]!++;
    switch (i.does) {
      case Deed.opensBlock:
        open.push(region);
        break;
      case Deed.opensLoop:
        region = costs.push(0) - 1;
        open.push(region);
        places.push({ at: r.at, region, shift: 0 });
        first = false;
        break;
      case Deed.closes:
        open.pop();
        break;
      case Deed.usesGlobal:
        if (r.index >= fuel) throw malformed();
        break;
      case Deed.callsFunction:
        costs[region]! += SHORT_FUNCTION;
        calls = true;
        break;
      case Deed.worksInBulk:
        bulk = true;
        places.push({ at: from, region: 0, shift: i.shift });
        break;
    }
    if (first && i.jumps) {
      pays = true;
      first = false;
    }
  }
  if (r.left > 0 || open.length > 0) throw malformed();
  if (costs.length === 1) pays = calls || bulk || costs[0]! > SHORT_FUNCTION;
  else if (!pays) costs[1]! += costs[0]!; // the loop at the beginning pays for the function too

  const parts = bulk
    ? [Uint8Array.from(leb(groups + 1)), file.subarray(declared, begin), Uint8Array.of(1, I32)]
    : [file.subarray(0, begin)];
  if (pays) parts.push(pay(costs[0]!, fuel));
  let at = begin;
  for (const { at: next, region, shift } of places) {
    parts.push(file.subarray(at, next));
    at = next;
    parts.push(region > 0 ? pay(costs[region]!, fuel) : payForBulk(shift, locals, fuel));
  }
  parts.push(file.subarray(at));
  return parts;
}

/** The instructions that pay for a number of instructions. */
function pay(count: number, fuel: number): Uint8Array {
  const units = 1 + Math.floor(count / INSTRUCTIONS_OF_UNIT);
  return Uint8Array.from([
    Op.globalGet,
    ...leb(fuel),
    Op.i64Const,
    ...signed(units),
    ...settle(fuel),
  ]);
}

/** The instructions that pay for as many bytes as the operand on top of the stack says, and leave it there. */
function payForBulk(shift: number, local: number, fuel: number): Uint8Array {
  return Uint8Array.from([
    Op.localTee,
    ...leb(local),
    Op.globalGet,
    ...leb(fuel),
    Op.localGet,
    ...leb(local),
    Op.i64ExtendI32U,
    Op.i64Const,
    ...signed(Math.abs(shift)),
    shift >= 0 ? Op.i64ShrU : Op.i64Shl,
    ...settle(fuel),
  ]);
}

/** The instructions that take the amount on top of the stack from the fuel below it, and trap if there was less. */
function settle(fuel: number): number[] {
  const sets = [Op.i64Sub, Op.globalSet, ...leb(fuel), Op.globalGet, ...leb(fuel)];
  return [...sets, Op.i64Const, 0, Op.i64LtS, Op.if, NO_RESULT, Op.unreachable, Op.end];
}

/** Reads what has to be metered. Its methods throw if there are too few bytes. */
class CodeReader extends Reader {
  /** The first operand of the instruction that was read last, if it is an unsigned number. */
  index = 0;

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

  /** Steps over a signed number. */
  int(): void {
    for (let n = 0; n < 10; n++) if (this.byte() < 0x80) return;
    throw malformed();
  }

  /** Steps over the size of a memory or table. */
  limits(): void {
    const flags = this.byte();
    this.uint();
    if ((flags & 1) !== 0) this.uint();
  }

  instruction(): Instruction {
    const first = this.byte();
    const prefixed = PREFIXES.includes(first);
    const op = prefixed ? this.uint() : first;
    const i = op > 0xff ? undefined : INSTRUCTIONS[prefixed ? (first << 8) | op : op];
    if (i === undefined) {
      const code = `0x${first.toString(16)}${prefixed ? ` ${op}` : ''}`;
      throw new MeteringError(`it has the instruction ${code}, which cannot be metered`);
    }
    for (let k = 0; k < i.operands.length; k++) this.#operand(i.operands[k]!, k);
    return i;
  }

  #operand(operand: string, place: number): void {
    switch (operand) {
      case 'u': {
        const n = this.uint();
        if (place === 0) this.index = n;
        return;
      }
      case 'i':
        this.int();
        return;
      case 'v':
        this.bytes(16);
        return;
      case 's':
        this.bytes(this.uint());
        return;
      case 't':
        for (let n = this.uint(); n >= 0; n--) this.uint(); // the default comes last
        return;
      default:
        this.bytes(Number(operand));
    }
  }
}

/** A name as a file has it. */
function named(name: string): number[] {
  const bytes = new TextEncoder().encode(name);
  return [...leb(bytes.length), ...bytes];
}

/** A positive number as a signed one. */
function signed(n: number): number[] {
  const out: number[] = [];
  for (; n > 0x3f; n = Math.floor(n / 128)) out.push((n % 128) + 128);
  out.push(n);
  return out;
}

function malformed(): MeteringError {
  return new MeteringError('the module is malformed');
}
