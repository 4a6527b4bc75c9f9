/**
 * A module: its source, which is read and compiled at the first use.
 */
import { core, full } from '#packaged';

import type { Instance } from './instance.js';
import type { LoadedModule } from './loaded-module.js';
import type { InstantiateOptions, ModuleOptions } from './module-options.js';
import type { ModuleSource } from './source.js';
import { isCompiled, tagOf } from './tag.js';

/** A module, compiled at the first use. */
export class Module {
  readonly #source: ModuleSource;
  readonly #options: ModuleOptions;
  #loaded: LoadedModule | undefined;
  /** The answer of a server, which is asked while the code that compiles it loads. */
  #early: Promise<Response | undefined> | undefined;

  constructor(source: ModuleSource, options: ModuleOptions = {}) {
    this.#source = source;
    this.#options = options;
  }

  /**
   * Compiles the module, or returns what was compiled before.
   *
   * @param maxMemory bytes of memory that its instances may grow to. Default 1 GiB
   * @throws TurncoreError E_INVALID_MODULE when it cannot be read or compiled, lacks an export, or has tables and types
   *   that Go's linker does not make
   */
  async compile(maxMemory?: number): Promise<WebAssembly.Module> {
    return (await this.#load()).compile(maxMemory);
  }

  /** SHA-256 of the module's bytes in hex; empty if it was given compiled, without its bytes. */
  async hash(): Promise<string> {
    return (await this.#load()).hash();
  }

  /**
   * @internal Starts an instance with a memory of its own.
   *
   * @throws TurncoreError E_INVALID_MODULE, E_ABI_VERSION, or E_INSTANCE_FAILED if it dies at the start
   */
  async instantiate(options: InstantiateOptions = {}): Promise<Instance> {
    const loaded = await this.#load();
    await loaded.compile(options.maxMemory);
    return loaded.instantiateSync(options);
  }

  /** @internal Whether it was given compiled: it can start at once, and its memory is bounded after steps only. */
  get givenCompiled(): boolean {
    return isCompiled(this.#source);
  }

  /** @internal Asks a server for the module before there is anything to compile it with. */
  fetchEarly(): void {
    const source = this.#source;
    const address = typeof source === 'string' || tagOf(source) === 'URL';
    if (address && this.#loaded === undefined) {
      this.#early ??= fetch(source as string | URL).catch(() => undefined);
    }
  }

  /** @internal The module for those who have the code that compiles and starts it. */
  use(Class: typeof LoadedModule): LoadedModule {
    this.#loaded ??= new Class(this.#source, this.#options, this.#early);
    return this.#loaded;
  }

  async #load(): Promise<LoadedModule> {
    if (this.#loaded !== undefined) return this.#loaded;
    const { LoadedModule } = await import('./loaded-module.js');
    return this.use(LoadedModule);
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
