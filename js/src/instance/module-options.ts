/**
 * Settings of modules and of their instances.
 */
import type { GoRuntime } from './gojs.js';
import type { Limits, Quota } from './limits.js';

/** What a host calls of an instance of WebAssembly. */
export interface ReactorExports {
  memory: WebAssembly.Memory;
  _initialize: () => void;
  turncore_abi: () => number;
  turncore_inbox: (size: number) => number;
  turncore_step: (size: number) => bigint;
}

/** Settings of `loadModule`. */
export interface ModuleOptions {
  /**
   * For a module built with GOOS=js: the class `Go` of the `wasm_exec.js` of the Go release that built it. Other
   * modules need none.
   */
  goRuntime?: GoRuntime | undefined;
}

/** Settings of an instance. */
export interface InstantiateOptions {
  /** Bounds below the defaults. */
  limits?: Partial<Limits> | undefined;
  /** Bytes that the module may hold. */
  quota?: Readonly<Quota> | undefined;
  /** Feature bits that the host can use. Default: all that it knows. */
  features?: number | undefined;
  /**
   * How much the guest's heap may grow before garbage is collected, in percent of the live heap; GOGC in Go. Lower
   * values take less memory and more time. Default 100.
   */
  gcPercent?: number | undefined;
  /**
   * Bytes of memory that the guest may grow to. Default 1 GiB. For a module that was given compiled, or compiled by
   * `Module.compile` with another bound, the bound is checked only after each step.
   */
  maxMemory?: number | undefined;
  /** Gets each line of the guest's stderr, after the step that wrote it. */
  onStderr?: ((line: string) => void) | undefined;
  /** Whether to say Hello. A replay does so itself. Default true. */
  handshake?: boolean | undefined;
  /** @internal Stands between the module and what it imports. */
  link?: ((imports: WebAssembly.ModuleImports) => WebAssembly.ModuleImports) | undefined;
  /** @internal Stands between the host and what the module exports. */
  wrap?: ((exports: ReactorExports) => ReactorExports) | undefined;
  /** Milliseconds of a monotonic clock for the guest's runtime. Default: performance.now. */
  monotonic?: (() => number) | undefined;
}
