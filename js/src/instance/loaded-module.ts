/**
 * A module once it is used: how it is compiled, and how its instances start.
 */
import { Feature } from '../abi/frames.gen.js';
import { messageOf, type TurncoreError } from '../errors.js';
import { StderrTail } from '../wasi/stderr.js';
import { Wasi, WASI_MODULE } from '../wasi/wasi.js';
import { pagesOf } from './confine.js';
import { checkModule, checkVersion, type ModuleTarget } from './contract.js';
import { startGoJS } from './gojs.js';
import { Instance, instanceFailed, type Guest, type StartedGuest } from './instance.js';
import { systemEntropy } from '../entropy.js';
import { encodeHello, SEED_SIZE } from './hello.js';
import { DEFAULT_QUOTA, lowerLimits } from './limits.js';
import type { InstantiateOptions, ModuleOptions, ReactorExports } from './module-options.js';
import {
  ALLOW,
  isForbidden,
  cannotLoad,
  compileSource,
  hashSource,
  type ModuleSource,
} from './source.js';
import { isCompiled } from './tag.js';

/** Feature bits this host can use. */
const FEATURES =
  Feature.Chat |
  Feature.History |
  Feature.Timers |
  Feature.Digest |
  Feature.Interrupts |
  Feature.Sessions;
const MAX_MEMORY = 1 << 30;

/** What is known of a module, and used of it. */
export class LoadedModule {
  readonly #source: ModuleSource;
  readonly #options: ModuleOptions;
  /** The compiled modules, by the most pages of their memory. */
  readonly #compiled = new Map<number, WebAssembly.Module>();
  readonly #compiling = new Map<number, Promise<WebAssembly.Module>>();
  /** The module for bounds that nothing was compiled for. */
  #any: WebAssembly.Module | undefined;
  #target: ModuleTarget | undefined;
  #hash: Promise<string> | undefined;
  /** Random bytes for the next instance: Node takes milliseconds for the first ones of a process. */
  #seed: Uint8Array | undefined;
  /** The answer of a server, if it was asked before. */
  #early: Promise<Response | undefined> | undefined;

  /** @param early what a server answers that was asked for the source already; undefined if it could not be asked */
  constructor(
    source: ModuleSource,
    options: ModuleOptions = {},
    early?: Promise<Response | undefined>,
  ) {
    this.#source = source;
    this.#options = options;
    this.#early = early;
    if (isCompiled(source)) this.#any = source;
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

  async #compile(pages: number): Promise<WebAssembly.Module> {
    const early = await this.#early;
    this.#early = undefined;
    const module = await compileSource(early?.ok === true ? early : this.#source, pages, () => {
      this.#seed ??= systemEntropy(SEED_SIZE);
    });
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
   * Starts an instance with a memory of its own, of a module that is compiled. It does not wait: in workerd a request
   * cannot wait for the work of another one.
   *
   * @throws TurncoreError E_INVALID_MODULE, also when the module is not compiled yet, E_ABI_VERSION, or
   *   E_INSTANCE_FAILED if it dies at the start
   */
  instantiateSync(options: InstantiateOptions = {}): Instance {
    const module = this.#compiled.get(pagesOf(options.maxMemory ?? MAX_MEMORY)) ?? this.#any;
    if (module === undefined) {
      throw cannotLoad('it is not compiled yet: wait for compile()');
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
              this.#takeSeed(),
            ),
      gcPercent: options.gcPercent,
      limits,
      abi,
      maxMemory: options.maxMemory ?? MAX_MEMORY,
      onStderr: options.onStderr,
    });
  }

  #takeSeed(): Uint8Array {
    const seed = this.#seed ?? systemEntropy(SEED_SIZE);
    this.#seed = undefined;
    return seed;
  }

  #startGoJS(module: WebAssembly.Module, options: InstantiateOptions): StartedGuest {
    const Loader = this.#options.goRuntime;
    if (Loader === undefined) {
      throw cannotLoad(
        'it is built with GOOS=js: `host: { module: loadModule(source, { goRuntime: Go }) }` loads it, with the class Go of ' +
          "Go's wasm_exec.js",
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

function startReactor(module: WebAssembly.Module, options: InstantiateOptions): StartedGuest {
  const wasi = new Wasi({ monotonic: options.monotonic });
  if (options.onStderr !== undefined) wasi.stderr.collectLines();
  try {
    const imports = options.link?.(wasi.imports) ?? wasi.imports;
    const instance = new WebAssembly.Instance(module, { [WASI_MODULE]: imports });
    const found = instance.exports as unknown as ReactorExports;
    const exports = options.wrap?.(found) ?? found;
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
  const why = messageOf(error);
  if (isForbidden(error)) return cannotLoad(why, error, ALLOW);
  return instanceFailed(why, stderr.text(), error);
}
