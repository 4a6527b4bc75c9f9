/**
 * A module: its source, which is compiled once, at the first use.
 */
import { core, full } from '#packaged';

import { Feature } from '../abi/frames.gen.js';
import { messageOf, type TurncoreError } from '../errors.js';
import { StderrTail } from '../wasi/stderr.js';
import { Wasi, WASI_MODULE } from '../wasi/wasi.js';
import { pagesOf } from './confine.js';
import { checkModule, checkVersion, type ModuleTarget } from './contract.js';
import { startGoJS, type GoRuntime } from './gojs.js';
import { Instance, instanceFailed, type Guest, type StartedGuest } from './instance.js';
import { systemEntropy } from '../entropy.js';
import {
  DEFAULT_QUOTA,
  encodeHello,
  lowerLimits,
  SEED_SIZE,
  type Limits,
  type Quota,
} from './limits.js';
import { cannotLoad, compileSource, hashSource, tagOf, type ModuleSource } from './source.js';

/** Settings of {@link loadModule}. */
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
   * {@link Module.compile} with another bound, the bound is checked only after each step.
   */
  maxMemory?: number | undefined;
  /** Gets each line of the guest's stderr, after the step that wrote it. */
  onStderr?: ((line: string) => void) | undefined;
  /** Whether to say Hello. A replay does so itself. Default true. */
  handshake?: boolean | undefined;
  /** Milliseconds of a monotonic clock for the guest's runtime. Default: performance.now. */
  monotonic?: (() => number) | undefined;
}

/** Feature bits this host can use. */
const FEATURES =
  Feature.Chat | Feature.History | Feature.Timers | Feature.Digest | Feature.Interrupts;
const MAX_MEMORY = 1 << 30;

/** A module, compiled at the first use. */
export class Module {
  readonly #source: ModuleSource;
  readonly #options: ModuleOptions;
  /** The compiled modules, by the most pages of their memory. */
  readonly #compiled = new Map<number, WebAssembly.Module>();
  readonly #compiling = new Map<number, Promise<WebAssembly.Module>>();
  /** The module for bounds that nothing was compiled for. */
  #any: WebAssembly.Module | undefined;
  #target: ModuleTarget | undefined;
  #hash: Promise<string> | undefined;

  constructor(source: ModuleSource, options: ModuleOptions = {}) {
    this.#source = source;
    this.#options = options;
    if (this.givenCompiled) this.#any = source;
  }

  /**
   * Compiles the module, or returns what was compiled before.
   *
   * @param maxMemory bytes of memory that its instances may grow to. Default 1 GiB
   * @throws TurncoreError E_INVALID_MODULE when it cannot be read or compiled, lacks an export, or has tables and types
   *   that Go's linker does not make
   */
  compile(maxMemory: number = MAX_MEMORY): Promise<WebAssembly.Module> {
    const pages = pagesOf(maxMemory);
    const compiled = this.#compiled.get(pages);
    if (compiled !== undefined) return Promise.resolve(compiled);
    let compiling = this.#compiling.get(pages);
    if (compiling === undefined) {
      // The next caller tries again after a failure.
      compiling = this.#compile(pages).finally(() => this.#compiling.delete(pages));
      this.#compiling.set(pages, compiling);
    }
    return compiling;
  }

  /** @internal Whether it was given compiled: it can start at once, and its memory is bounded after steps only. */
  get givenCompiled(): boolean {
    return tagOf(this.#source) === 'WebAssembly.Module';
  }

  async #compile(pages: number): Promise<WebAssembly.Module> {
    const module = await compileSource(this.#source, pages);
    this.#target = checkModule(module);
    this.#compiled.set(pages, module);
    this.#any ??= module;
    return module;
  }

  /** SHA-256 of the module's bytes in hex; empty if it was given compiled, without its bytes. */
  hash(): Promise<string> {
    this.#hash ??= hashSource(this.#source).catch((error: unknown) => {
      this.#hash = undefined;
      throw error;
    });
    return this.#hash;
  }

  /**
   * @internal Starts an instance with a memory of its own.
   *
   * @throws TurncoreError E_INVALID_MODULE, E_ABI_VERSION, or E_INSTANCE_FAILED if it dies at the start
   */
  async instantiate(options: InstantiateOptions = {}): Promise<Instance> {
    await this.compile(options.maxMemory);
    return this.instantiateSync(options);
  }

  /**
   * @internal Like {@link instantiate} for a compiled module, but without waiting: in workerd a request cannot wait for
   * the work of another one.
   *
   * @throws TurncoreError also when the module is not compiled yet
   */
  instantiateSync(options: InstantiateOptions = {}): Instance {
    const module = this.#compiled.get(pagesOf(options.maxMemory ?? MAX_MEMORY)) ?? this.#any;
    if (module === undefined) {
      throw cannotLoad('the module is not compiled yet: wait for compile() first');
    }
    return this.#start(module, options);
  }

  #start(module: WebAssembly.Module, options: InstantiateOptions): Instance {
    this.#target ??= checkModule(module);
    const limits = lowerLimits(options.limits);
    const { guest, abi } =
      this.#target === 'js' ? this.#startGoJS(module, options) : startReactor(module, options);
    checkVersion(abi);
    return new Instance({
      guest,
      hello:
        options.handshake === false
          ? undefined
          : encodeHello(
              options.features ?? FEATURES,
              limits,
              options.quota ?? DEFAULT_QUOTA,
              systemEntropy(SEED_SIZE),
            ),
      gcPercent: options.gcPercent,
      limits,
      abi,
      maxMemory: options.maxMemory ?? MAX_MEMORY,
      onStderr: options.onStderr,
    });
  }

  #startGoJS(module: WebAssembly.Module, options: InstantiateOptions): StartedGuest {
    const Loader = this.#options.goRuntime;
    if (Loader === undefined) {
      throw cannotLoad(
        'it is built with GOOS=js and needs the class Go of wasm_exec.js as the option goRuntime',
      );
    }
    const stderr = new StderrTail();
    if (options.onStderr !== undefined) stderr.collectLines();
    try {
      return startGoJS(module, Loader, stderr);
    } catch (error) {
      throw startFailed(error, stderr);
    }
  }
}

/**
 * Names a module: a URL or path, a request, a response, bytes, or a WebAssembly.Module (the only way in workerd). It is
 * read when the first turn needs it, so this is allowed in a Worker's global scope.
 *
 * @param source default: the `turncore.wasm` of this package
 */
export function loadModule(source: ModuleSource = core, options?: ModuleOptions): Module {
  return new Module(source, options);
}

/** Names the `turncore-full.wasm` of this package, which has all providers of models. */
export function loadFullModule(options?: ModuleOptions): Module {
  return new Module(full, options);
}

interface ReactorExports {
  memory: WebAssembly.Memory;
  _initialize: () => void;
  turncore_abi: () => number;
  turncore_inbox: (size: number) => number;
  turncore_step: (size: number) => bigint;
}

function startReactor(module: WebAssembly.Module, options: InstantiateOptions): StartedGuest {
  const wasi = new Wasi({ monotonic: options.monotonic });
  if (options.onStderr !== undefined) wasi.stderr.collectLines();
  try {
    const instance = new WebAssembly.Instance(module, { [WASI_MODULE]: wasi.imports });
    const exports = instance.exports as unknown as ReactorExports;
    wasi.bind(exports.memory);
    exports._initialize();
    const guest: Guest = {
      memory: exports.memory,
      inbox: exports.turncore_inbox,
      step: exports.turncore_step,
      stderr: wasi.stderr,
      begin: () => wasi.begin(),
    };
    return { guest, abi: exports.turncore_abi() };
  } catch (error) {
    throw startFailed(error, wasi.stderr);
  }
}

function startFailed(error: unknown, stderr: StderrTail): TurncoreError {
  return instanceFailed(messageOf(error), stderr.text(), error);
}
