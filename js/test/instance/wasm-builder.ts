/**
 * Assembles small WebAssembly modules byte by byte, for modules that no compiler would make.
 */

/** A function without locals. Types: i32, i64. */
export interface SmallFunction {
  readonly params?: readonly ('i32' | 'i64')[];
  readonly results?: readonly ('i32' | 'i64')[];
  /** Instructions, without the end. */
  readonly body: readonly number[];
}

/** A module of exported functions and one page of memory. */
export interface SmallModule {
  /** Name under which the memory is exported; none if undefined. */
  readonly memory?: string | undefined;
  readonly imports?: readonly (readonly [module: string, name: string])[];
  readonly exports: Readonly<Record<string, SmallFunction>>;
  /** Types of tables. */
  readonly tables?: readonly (readonly number[])[];
  /** Bytes of the memory's type. Default: one page, no maximum. */
  readonly limits?: readonly number[];
  /** How many globals there are. */
  readonly globals?: number;
  /** Types beside those of the functions. */
  readonly types?: readonly (readonly number[])[];
  /** Bytes at the start of the memory. */
  readonly data?: Uint8Array;
}

const types = { i32: 0x7f, i64: 0x7e } as const;

/** The instruction i32.const. */
export const i32 = (n: number): number[] => [0x41, ...signed(BigInt(n | 0))];
/** The instruction i64.const. */
export const i64 = (n: bigint): number[] => [0x42, ...signed(BigInt.asIntN(64, n))];

/** Assembles it. */
export function assemble(m: SmallModule): Uint8Array<ArrayBuffer> {
  const functions = Object.entries(m.exports);
  const imports = m.imports ?? [];
  const name = (s: string): number[] => [s.length, ...new TextEncoder().encode(s)];
  const list = (items: readonly (readonly number[])[]): number[] => [items.length, ...items.flat()];
  const section = (id: number, items: readonly (readonly number[])[]): number[] => {
    const content = list(items);
    return items.length === 0 ? [] : [id, ...unsigned(content.length), ...content];
  };
  const exports = functions.map(([n], i) => [...name(n), 0, i + imports.length]);
  if (m.memory !== undefined) exports.push([...name(m.memory), 2, 0]);
  const data =
    m.data === undefined ? [] : [[0, ...i32(0), 0x0b, ...unsigned(m.data.length), ...m.data]];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [
      [0x60, 0, 0],
      ...functions.map(([, f]) => [
        0x60,
        ...list((f.params ?? []).map((t) => [types[t]])),
        ...list((f.results ?? []).map((t) => [types[t]])),
      ]),
      ...(m.types ?? []),
    ]),
    ...section(
      2,
      imports.map(([module, n]) => [...name(module), ...name(n), 0, 0]),
    ),
    ...section(
      3,
      functions.map((_, i) => [i + 1]),
    ),
    ...section(4, m.tables ?? []),
    ...section(5, [m.limits ?? [0, 1]]),
    ...section(
      6,
      Array.from({ length: m.globals ?? 0 }, () => [types.i32, 1, ...i32(0), 0x0b]),
    ),
    ...section(7, exports),
    ...section(
      10,
      functions.map(([, f]) => {
        const code = [0, ...f.body, 0x0b];
        return [...unsigned(code.length), ...code];
      }),
    ),
    ...section(11, data),
  ]);
}

function unsigned(n: number): number[] {
  const out: number[] = [];
  for (; n > 0x7f; n >>>= 7) out.push((n & 0x7f) | 0x80);
  out.push(n);
  return out;
}

function signed(n: bigint): number[] {
  const out: number[] = [];
  for (;;) {
    const byte = Number(n & 0x7fn);
    n >>= 7n;
    const last = (n === 0n && (byte & 0x40) === 0) || (n === -1n && (byte & 0x40) !== 0);
    out.push(last ? byte : byte | 0x80);
    if (last) return out;
  }
}
