/**
 * Runs a module built with GOOS=js through Go's own loader, `wasm_exec.js`. The caller gives the loader's class, which
 * must be of the Go release that built the module.
 */
import { GuestExit } from '../wasi/wasi.js';
import type { StderrTail } from '../wasi/stderr.js';
import type { Guest, StartedGuest } from './instance.js';

/** The part of Go's loader that is used here. */
export interface GoLoader {
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
}

/** The class `Go`, which `wasm_exec.js` defines globally. */
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
 * Starts the module. Captures its stderr, and replaces the loader's exit and timers: an exit must end the step, and a
 * timer would run the guest between steps, even after its death.
 *
 * @param stderr gets the guest's output, even if this throws
 */
export function startGoJS(
  module: WebAssembly.Module,
  Loader: GoRuntime,
  stderr: StderrTail,
): StartedGuest {
  const go = new Loader();
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
    // A number for a timer that never fires. Timers are due in steps.
    view((sp >>> 0) + 16, 4).setInt32(0, 1, true);
  };
  gojs['runtime.clearTimeoutEvent'] = (): void => undefined;

  const instance = new WebAssembly.Instance(module, go.importObject);
  const exports = instance.exports as unknown as GoExports;
  started.exports = exports;
  let failure: unknown;
  // This runs main until it blocks. The promise would settle at the program's end, which never comes.
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
