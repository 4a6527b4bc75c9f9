/**
 * Makes a module count what it does, as Go's package `internal/metering` describes it: the bytes are the same.
 */
import { joined } from '../bytes.js';
import { ConfineError, leb } from '../instance/confine.js';
import {
  Deed,
  FUEL,
  INSTRUCTIONS_OF_UNIT,
  MAX_ALL_LOCALS,
  MAX_BLOCKS,
  MAX_BODY,
  MAX_FILE,
  MAX_FUNCTIONS,
  MAX_LABELS,
  MAX_LOCALS,
  MAX_NESTING,
  MAX_PARAMS,
  MAX_RESULTS,
  REFUEL,
  ROWS,
  SHORT_FUNCTION,
  START,
} from './instructions.gen.js';
import {
  FileReader,
  Kind,
  malformed,
  MeteringError,
  Scope,
  Section,
  TYPE_FUNCTION,
} from './structure.js';

export { MeteringError } from './structure.js';

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0] as const;
/** The order of sections in a file. */
const ORDER: readonly number[] = [
  Section.Type,
  Section.Import,
  Section.Function,
  Section.Table,
  Section.Memory,
  Section.Global,
  Section.Export,
  Section.Start,
  Section.Element,
  Section.DataCount,
  Section.Code,
  Section.Data,
];
const I32 = 0x7f;
const I64 = 0x7e;

/** Instructions that are written. */
const Op = {
  unreachable: 0x00,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  call: 0x10,
  localGet: 0x20,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  i64Const: 0x42,
  i64LtS: 0x53,
  i64GeS: 0x59,
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
  /** Instructions that it counts as besides: it takes long. */
  readonly more: number;
}

/** The instructions by code, with a prefix in the second byte. */
const INSTRUCTIONS: readonly Instruction[] = instructions();

function instructions(): Instruction[] {
  const all: Instruction[] = [];
  for (const [from, to, operands, does, shift, jumps, more] of ROWS) {
    for (let code = from; code <= to; code++) all[code] = { operands, does, shift, jumps, more };
  }
  return all;
}

/**
 * The module with metering. It exports its fuel, an i64 that the host sets before each call, its start function, and
 * what it calls when its fuel is used up.
 *
 * @throws MeteringError if the file is not a module, has instructions that cannot be metered, is larger than an engine
 *   compiles in good time, or is metered already
 */
export function meter(file: Uint8Array): Uint8Array<ArrayBuffer> {
  if (!HEADER.every((byte, i) => file[i] === byte)) throw malformed();
  if (file.length > MAX_FILE) {
    throw new MeteringError(`the module has ${file.length} bytes, more than ${MAX_FILE}`);
  }
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
  /** What there has been so far, imports included. */
  readonly #has = new Scope();
  /** The types of functions that the module defines. */
  readonly #functions: number[] = [];

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
      case Section.Start: // findStart has read it
        if (this.#start! >= this.#has.functions) throw malformed();
        return;
      case Section.Export:
        this.#exports(r, body);
        return;
      case Section.Code:
        this.#code(r);
        return;
    }
    this.#has.read(id, new CodeReader(body));
    switch (id) {
      case Section.Type:
        this.#boundTypes();
        break;
      case Section.Function:
        for (let n = r.uint(); n > 0; n--) this.#functions.push(r.uint());
        break;
      case Section.Global:
        break;
      default:
        this.#write(id, [body]);
        return;
    }
    const entries = new CodeReader(body);
    const n = entries.uint();
    this.#extend(id, n, [body.subarray(entries.at)]);
  }

  /** Adds the sections before a place in the order that are needed and not there. */
  reach(place: number): void {
    for (; this.#next < place; this.#next++) {
      const id = ORDER[this.#next]!;
      if (id === Section.Export) this.#export(0, new Uint8Array());
      else if (EXTENDED.includes(id)) this.#extend(id, 0, []);
    }
  }

  #write(id: number, body: readonly Uint8Array[]): void {
    const size = body.reduce((sum, part) => sum + part.length, 0);
    this.out.push(Uint8Array.from([id, ...leb(size)]));
    for (const part of body) this.out.push(part);
  }

  /** Writes a section of n entries, and one more behind them, which is metering's. */
  #extend(id: number, n: number, entries: readonly Uint8Array[]): void {
    const more = Uint8Array.from(this.#more(id));
    this.#write(id, [Uint8Array.from(leb(n + 1)), ...entries, more]);
  }

  #more(id: number): number[] {
    switch (id) {
      case Section.Type: // of the function below
        return [TYPE_FUNCTION, 0, 0];
      case Section.Function:
        return leb(this.#has.types.length);
      case Section.Global:
        return [I64, 1, Op.i64Const, 0, Op.end]; // 1: mutable
      default: {
        const get = [0, Op.globalGet, ...leb(this.#has.globals)]; // 0: locals
        const trap = [Op.i64Const, 0, Op.i64LtS, Op.if, NO_RESULT, Op.unreachable, Op.end, Op.end];
        return [...leb(get.length + trap.length), ...get, ...trap];
      }
    }
  }

  #boundTypes(): void {
    const wrong = this.#has.types.find(
      ({ params, results }) => params > MAX_PARAMS || results > MAX_RESULTS,
    );
    if (wrong === undefined) return;
    throw new MeteringError(
      `the module has a type of ${wrong.params} parameters and ${wrong.results} results, more than ${MAX_PARAMS} and ${MAX_RESULTS}`,
    );
  }

  #exports(r: CodeReader, body: Uint8Array): void {
    const n = r.count();
    const rest = body.subarray(r.at);
    for (let k = 0; k < n; k++) {
      const name = r.name();
      const kind = r.byte();
      const index = r.uint();
      if (name === FUEL || name === START || name === REFUEL) {
        throw new MeteringError(`the module exports ${name}: it is metered already`);
      }
      if (kind === Kind.Function && index >= this.#has.functions) throw malformed();
      if (kind === Kind.Global && index >= this.#has.globals) throw malformed();
    }
    r.end();
    this.#export(n, rest);
  }

  #export(n: number, rest: Uint8Array): void {
    const more = [
      ...[...named(FUEL), Kind.Global, ...leb(this.#has.globals)],
      ...[...named(REFUEL), Kind.Function, ...leb(this.#has.functions)],
    ];
    if (this.#start !== undefined) more.push(...named(START), Kind.Function, ...leb(this.#start));
    const count = n + (this.#start === undefined ? 2 : 3);
    this.#write(Section.Export, [Uint8Array.from(leb(count)), rest, Uint8Array.from(more)]);
  }

  #code(r: CodeReader): void {
    const n = r.count();
    if (n !== this.#functions.length) throw malformed();
    if (n > MAX_FUNCTIONS) {
      throw new MeteringError(`the module has ${n} functions, more than ${MAX_FUNCTIONS}`);
    }
    const body: Uint8Array[] = [];
    let locals = 0;
    let nesting = 0;
    for (let k = 0; k < n; k++) {
      const code = r.bytes(r.uint());
      const f = this.#function(k, code);
      locals += f.locals;
      nesting += f.blocks ** 2 + f.labels ** 2;
      if (locals > MAX_ALL_LOCALS) {
        throw new MeteringError(`the module has ${locals} locals, more than ${MAX_ALL_LOCALS}`);
      }
      if (nesting > MAX_NESTING) {
        throw new MeteringError(
          `the squares of the blocks and of the labels of each function come to more than ${MAX_NESTING}`,
        );
      }
      const size = f.parts.reduce((sum, part) => sum + part.length, 0);
      body.push(Uint8Array.from(leb(size)));
      for (const part of f.parts) body.push(part);
    }
    r.end();
    this.#extend(Section.Code, n, body);
  }

  #function(k: number, code: Uint8Array): MeteredFunction {
    const { params } = this.#has.types[this.#functions[k]!]!;
    try {
      return meterFunction(code, params, this.#has);
    } catch (cause) {
      if (!(cause instanceof MeteringError || cause instanceof ConfineError)) throw cause;
      const { message } = cause instanceof ConfineError ? malformed() : cause;
      throw new MeteringError(`function ${k} of those that the module defines: ${message}`);
    }
  }
}

/** Sections that get an entry. */
const EXTENDED: readonly number[] = [Section.Type, Section.Function, Section.Global, Section.Code];

/** A function with what it pays. */
interface MeteredFunction {
  readonly parts: Uint8Array[];
  /** With its parameters. */
  readonly locals: number;
  /** That it opens. */
  readonly blocks: number;
  /** Of its branch tables. */
  readonly labels: number;
}

/** Where something is paid: for a loop that begins there, or for many bytes, as many as the operand shifted. */
interface Place {
  readonly at: number;
  /** 0 for an instruction that works on many bytes. */
  readonly region: number;
  readonly shift: number;
}

function meterFunction(file: Uint8Array, params: number, has: Scope): MeteredFunction {
  if (file.length > MAX_BODY) {
    throw new MeteringError(`it has ${file.length} bytes, more than ${MAX_BODY}`);
  }
  const r = new CodeReader(file, has);
  const { locals: declares, groups } = r.locals();
  const locals = params + declares;
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
  let blocks = 0;
  while (r.left > 0 && open.length > 0) {
    const from = r.at;
    const i = r.instruction();
    let region = open.at(-1)!;
    costs[region]! += 1 + i.more;
    switch (i.does) {
      case Deed.opensBlock:
        blocks++;
        open.push(region);
        break;
      case Deed.opensLoop:
        blocks++;
        region = costs.push(0) - 1;
        open.push(region);
        places.push({ at: r.at, region, shift: 0 });
        first = false;
        break;
      case Deed.closes:
        open.pop();
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
  const { labels } = r;
  if (blocks > MAX_BLOCKS) {
    throw new MeteringError(`it has ${blocks} blocks, more than ${MAX_BLOCKS}`);
  }
  if (labels > MAX_LABELS) {
    throw new MeteringError(`its branch tables have ${labels} labels, more than ${MAX_LABELS}`);
  }
  if (costs.length === 1) pays = calls || bulk || costs[0]! > SHORT_FUNCTION;
  else if (!pays) costs[1]! += costs[0]!; // the loop at the beginning pays for the function too

  const parts = bulk
    ? [
        Uint8Array.from(leb(groups + 1)),
        file.subarray(sizeOfNumber(file), begin),
        Uint8Array.of(1, I32),
      ]
    : [file.subarray(0, begin)];
  if (pays) parts.push(pay(costs[0]!, has));
  let at = begin;
  for (const { at: next, region, shift } of places) {
    parts.push(file.subarray(at, next));
    at = next;
    parts.push(region > 0 ? pay(costs[region]!, has) : payForBulk(shift, locals, has));
  }
  parts.push(file.subarray(at));
  return { parts, locals, blocks, labels };
}

/** The instructions that pay for a number of instructions. */
function pay(count: number, has: Scope): Uint8Array {
  const units = 1 + Math.floor(count / INSTRUCTIONS_OF_UNIT);
  return Uint8Array.from([
    Op.globalGet,
    ...leb(has.globals),
    Op.i64Const,
    ...signed(units),
    ...settle(has),
  ]);
}

/** The instructions that pay for as many bytes as the operand on top of the stack says, and leave it there. */
function payForBulk(shift: number, local: number, has: Scope): Uint8Array {
  return Uint8Array.from([
    Op.localTee,
    ...leb(local),
    Op.globalGet,
    ...leb(has.globals),
    Op.localGet,
    ...leb(local),
    Op.i64ExtendI32U,
    Op.i64Const,
    ...signed(Math.abs(shift)),
    shift >= 0 ? Op.i64ShrU : Op.i64Shl,
    ...settle(has),
  ]);
}

/** The instructions that take the amount on top of the stack from the fuel below it, and ask for more if there was less. */
function settle(has: Scope): number[] {
  const fuel = leb(has.globals);
  const sets = [Op.i64Sub, Op.globalSet, ...fuel, Op.globalGet, ...fuel];
  const asks = [Op.if, NO_RESULT, Op.else, Op.call, ...leb(has.functions), Op.end];
  return [...sets, Op.i64Const, 0, Op.i64GeS, ...asks];
}

/** Reads what has to be metered. Its methods throw if there are too few bytes, or if something is named that is not there. */
class CodeReader extends FileReader {
  /** Of the branch tables so far. */
  labels = 0;
  readonly #has: Scope;

  constructor(data: Uint8Array, has = new Scope()) {
    super(data);
    this.#has = has;
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
    for (const operand of i.operands) this.#operand(operand);
    return i;
  }

  #operand(operand: string): void {
    const has = this.#has;
    switch (operand) {
      case 'u':
        this.uint();
        return;
      case 'f':
        this.index(has.functions);
        return;
      case 'g':
        this.index(has.globals);
        return;
      case 'y':
        this.index(has.types.length);
        return;
      case 'b':
        if (this.int() >= has.types.length) throw malformed(); // a negative number is a type of its own
        return;
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
        for (let n = this.uint(); n >= 0; n--, this.labels++) this.uint(); // the default comes last
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

/** How many bytes the number has that some begin with. */
function sizeOfNumber(bytes: Uint8Array): number {
  return bytes.findIndex((byte) => byte < 0x80) + 1;
}
