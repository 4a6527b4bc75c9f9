/**
 * Runs a module built with GOOS=js through the loader that Go ships, `wasm_exec.js`. The caller gives the loader's
 * class, since it must be of the Go release that built the module.
 */
import { GuestExit } from '../wasi/wasi.js';
import type { StderrTail } from '../wasi/stderr.js';
import type { Guest, StartedGuest } from './instance.js';

/** An object of Go's loader, as far as it is used here. */
export interface GoLoader {
  importObject: WebAssembly.Imports;
  env: Record<string, string>;
  run(instance: WebAssembly.Instance): Promise<void>;
}

/** The class `Go` that `wasm_exec.js` puts into the global object. */
export type GoRuntime = new () => GoLoader;

/** Bytes the guest may write to stderr in one step. */
const WRITE_BUDGET = 1 << 20;

interface GoExports {
  mem: WebAssembly.Memory;
  turncore_abi: () => number;
  turncore_inbox: (size: number) => number;
  turncore_step: (size: number) => bigint;
}

/**
 * Starts the module. Its stderr is captured, its exit and its timers are taken from the loader: an exit must end the
 * step, and a timer would run the guest between steps, also after its death.
 *
 * @param stderr gets what the guest writes, also when this throws
 */
export function startGoJS(
  module: WebAssembly.Module,
  Loader: GoRuntime,
  env: Readonly<Record<string, string>> | undefined,
  stderr: StderrTail,
): StartedGuest {
  const go = new Loader();
  go.env = { ...env };
  const started: { exports?: GoExports } = {};
  let written = 0;
  const view = (at: number, size: number): DataView =>
    new DataView(started.exports!.mem.buffer, at, size);
  const low = (at: number): number => view(at, 4).getUint32(0, true);

  const { gojs } = go.importObject as { gojs: Record<string, WebAssembly.ImportValue> };
  gojs['runtime.wasmExit'] = (sp: number): never => {
    throw new GuestExit(low((sp >>> 0) + 8) | 0);
  };
  gojs['runtime.wasmWrite'] = (sp: number): void => {
    const base = sp >>> 0;
    const size = low(base + 24);
    written += size;
    if (written > WRITE_BUDGET) {
      throw new Error(`the module wrote more than ${WRITE_BUDGET} bytes to stderr in one step`);
    }
    stderr.write(new Uint8Array(started.exports!.mem.buffer, low(base + 16), size));
  };
  gojs['runtime.scheduleTimeoutEvent'] = (sp: number): void => {
    // A number for a timer that never fires: timers are due when a step runs.
    view((sp >>> 0) + 16, 4).setInt32(0, 1, true);
  };
  gojs['runtime.clearTimeoutEvent'] = (): void => undefined;

  const instance = new WebAssembly.Instance(module, go.importObject);
  const exports = instance.exports as unknown as GoExports;
  started.exports = exports;
  let failure: unknown;
  // It runs main until that blocks, before it returns; the promise settles when the program ends, which it never does.
  go.run(instance).catch((error: unknown) => {
    failure = error;
  });
  const abi = exports.turncore_abi();
  const guest: Guest = {
    memory: exports.mem,
    inbox: exports.turncore_inbox,
    step: exports.turncore_step,
    stderr,
    begin: () => {
      if (failure !== undefined) throw failure as Error;
      written = 0;
    },
  };
  return { guest, abi };
}
