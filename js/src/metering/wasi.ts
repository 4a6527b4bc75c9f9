/**
 * What calls of WASI cost in fuel, as Go's package `host/engine` has it: what they are asked to do counts.
 */

/** Units of each call: as much as one takes longer than a round of a loop does. */
const CALL = 64;
/** Bytes that a unit writes. */
const BYTES = 256;
/** Units of each vector of fd_write, and of each subscription of poll_oneoff. */
const ENTRY = 16;

/**
 * Functions of WASI that are paid for.
 *
 * @param pay takes units, and throws if there are fewer
 */
export function paid(
  imports: WebAssembly.ModuleImports,
  memory: () => WebAssembly.Memory | undefined,
  pay: (units: number) => void,
): WebAssembly.ModuleImports {
  const extra: Readonly<Record<string, (...args: number[]) => number>> = {
    random_get: (_at, size) => size >>> 0,
    poll_oneoff: (_in, _out, n) => (n >>> 0) * ENTRY,
    fd_write: (_fd, list, n) => (n >>> 0) * ENTRY + written(memory(), list >>> 0, n >>> 0),
  };
  const out: WebAssembly.ModuleImports = {};
  for (const [name, call] of Object.entries(imports)) {
    const more = extra[name];
    out[name] = (...args: number[]): unknown => {
      pay(CALL + (more?.(...args) ?? 0));
      return (call as (...args: number[]) => unknown)(...args);
    };
  }
  return out;
}

/** The units for the bytes that vectors name. */
function written(memory: WebAssembly.Memory | undefined, list: number, n: number): number {
  const buffer = memory?.buffer;
  if (buffer === undefined || list + n * 8 > buffer.byteLength) return 0; // it fails
  const vectors = new DataView(buffer, list, n * 8);
  let bytes = 0;
  // No call takes more: the guest is told so, and pays for the rest with its next one.
  for (let i = 0; i < n && bytes < 64 << 10; i++) bytes += vectors.getUint32(i * 8 + 4, true);
  return Math.floor(Math.min(bytes, 64 << 10) / BYTES);
}
