/**
 * A host runs a runner's turns: a module, its instance, and the machine's services.
 */
import { engine, loadEngine } from '#engine';
import { memory } from '#packaged';

import { rejected } from '../attempt.js';
import type { Limits, Quota } from '../instance/limits.js';
import { loadModule, Module } from '../instance/module.js';
import type { ModuleSource } from '../instance/source.js';
import { type Clock, type Entropy, systemClock, systemEntropy } from '../entropy.js';
import type { LoadedModule } from '../instance/loaded-module.js';
import type { JournalSink, StepRecorder } from '../journal/writer.js';
import { TurncoreError } from '../errors.js';
import { ofOtherCopy } from '../other-copy.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import { phrase, violationsIn } from '../validation/rules.js';
import type { Credential } from '../http/credential.js';
import type { HttpSettings } from '../http/exchange.js';
import { checkHost } from './host-options.js';
import type { Core, CoreHost } from '../turn/core.js';
import type { Definition } from '../turn/definition.js';
import { hasEffectsOf, loadLateEffects } from '../turn/late.js';

/** The services for a runner's turns. Everything has a default. */
export interface HostOptions {
  /** The module: a handle from `loadModule`, or an argument of it. Default: the package's own. */
  readonly module?: Module | ModuleSource | undefined;
  /** Milliseconds since the Unix epoch. Default: Date.now. */
  readonly clock?: Clock | undefined;
  /** Random bytes. Default: crypto.getRandomValues. */
  readonly entropy?: Entropy | undefined;
  /** Limits below the ABI's own. Default for `frame`: an eighth of `maxMemory`, at most the ABI's. */
  readonly limits?: Partial<Limits> | undefined;
  /** Returns the sink for the journal of a turn, by the turn's id. Default: no journals. */
  readonly journal?: ((turnId: string) => JournalSink | undefined) | undefined;
  /** Credentials that the module's requests may name. */
  readonly credentials?: Readonly<Record<string, Credential>> | undefined;
  /**
   * Allowed origins of the module's requests and redirects. Default: the origins in the program's own configuration:
   * the chat executor's `baseURL` and the addresses of its fetch tools.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Makes the module's requests. Default: fetch. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Bound on an instance's memory in bytes. Default 1 GiB; 48 MiB in Workers and edge functions, whose isolates have
   * 128 MB for two instances and the program. An instance that needs more fails, so a turn or an invocation that may
   * have it need more is refused with `E_TURN_QUOTA_EXCEEDED`. For a compiled module (a
   * `WebAssembly.Module`) the bound is checked only after each step.
   */
  readonly maxMemory?: number | undefined;
  /**
   * Bytes of memory beyond which an instance takes no further turns: they go to a fresh instance, and the old one
   * ends with its last turn. At most two instances end like this at a time, in Workers and edge functions one; beyond
   * that, new turns fail with `E_OVERLOADED`. Default 256 MiB; 24 MiB in Workers and edge functions.
   */
  readonly highWater?: number | undefined;
  /**
   * Bounds on the bytes that the module holds: records, queued writes, open streams and requests, for one turn and
   * for all turns of an instance. A turn that would exceed a bound fails with `E_TURN_QUOTA_EXCEEDED`. Default: 64
   * MiB for a turn, 16 MiB in Workers and edge functions; for an instance 128 MiB, or 24 MiB there, or half of
   * `highWater` if that is more, because its memory is up to twice these bytes.
   */
  readonly quota?: Partial<Quota> | undefined;
  /** Gets each line of the module's stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
  /** Compares the mirrored collections with the module's after each frame. For tests; it slows everything down. */
  readonly verify?: boolean | undefined;
}

/** Time until a retry after E_OVERLOADED, in ms. */
const RETRY_AFTER = 1000;

/**
 * Runs the turns of one runner, or of several that share it, in one instance, and in a fresh one when that has failed
 * or is full.
 */
export class Host {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly #options: HostOptions;
  /** @internal How requests of its turns are made. */
  readonly http: HttpSettings;
  /** The host whose instance it shares, if it has none of its own. */
  #shared: Host | undefined;
  #module: Module | undefined;
  #compiled = false;
  /** The core that takes turns. */
  #core: Core | undefined;
  /** The cores that finish their turns and take no new ones. */
  #draining: Core[] = [];
  #hash = '';
  #verify: CoreHost['verify'];
  #acquiring: Promise<Core> | undefined;

  /**
   * Loads nothing, so it may be called in a Worker's global scope.
   *
   * @throws TurncoreError E_INVALID_VALUE listing every violation
   */
  constructor(given: HostOptions = {}) {
    const options = checkHost(given) as HostOptions;
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.entropy = options.entropy ?? pooledEntropy();
    this.http = {
      credentials: options.credentials ?? {},
      allowedOrigins: options.allowedOrigins,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    };
  }

  /** @internal A host of the same instance with separate credentials. */
  withCredentials(credentials: Readonly<Record<string, Credential>>): Host {
    const host = new Host({ credentials });
    host.#shared = this;
    return host;
  }

  /**
   * @internal The core of a live instance with room, if there is one.
   *
   * @param definition what a turn shall run: everything that it needs must be loaded
   */
  ready(definition?: Definition): Core | undefined {
    if (this.#shared !== undefined) return this.#shared.ready(definition);
    if (definition !== undefined && !hasEffectsOf(definition)) return undefined;
    const core = this.#core;
    if (core?.alive !== true) return undefined;
    if (!this.#isFull(core)) return core;
    this.#draining = this.#draining.filter((other) => other.alive && other.turns > 0);
    if (core.turns > 0) {
      if (this.#draining.length >= memory.draining) return undefined;
      this.#draining.push(core);
    }
    // Only its turns hold it: it is released when they have ended.
    this.#core = undefined;
    return undefined;
  }

  #quota(): Quota {
    const { quota, highWater = memory.highWater } = this.#options;
    const instance = quota?.instance ?? Math.max(memory.quota.instance, highWater / 2);
    return {
      turn: Math.min(quota?.turn ?? memory.quota.turn, Number.MAX_SAFE_INTEGER),
      instance: Math.min(Math.trunc(instance), Number.MAX_SAFE_INTEGER),
    };
  }

  #isFull(core: Core): boolean {
    return core.instance.memoryBytes > (this.#options.highWater ?? memory.highWater);
  }

  /**
   * @internal The core of a live instance; starts one if needed.
   *
   * @param definition what a turn shall run: everything that it needs is loaded too
   * @throws TurncoreError (rejects) E_INVALID_MODULE, E_ABI_VERSION, E_INSTANCE_FAILED, E_OVERLOADED
   */
  acquire(definition?: Definition): Promise<Core> {
    if (this.#shared !== undefined) return this.#shared.acquire(definition);
    if (engine() === undefined) return this.#acquireLate(definition);
    if (definition !== undefined && !hasEffectsOf(definition)) {
      return Promise.all([this.acquire(), loadLateEffects()]).then(([core]) => core);
    }
    const core = this.ready();
    if (core !== undefined) return Promise.resolve(core);
    if (this.#core?.alive === true) return Promise.reject(this.#overloaded());
    // A compiled module starts synchronously: in workerd a request must not wait for work that another request began.
    if (this.#options.verify !== true && (this.#compiled || this.#handle().givenCompiled)) {
      try {
        return Promise.resolve(this.#start());
      } catch (error) {
        return rejected(error);
      }
    }
    this.#acquiring ??= this.#load().finally(() => (this.#acquiring = undefined));
    return this.#acquiring;
  }

  /** Acquires a core in a page: the module and the code that runs it arrive at the same time. */
  async #acquireLate(definition: Definition | undefined): Promise<Core> {
    this.#handle().fetchEarly();
    await loadEngine();
    return await this.acquire(definition);
  }

  /** @internal The writer of a turn's journal, if there is a sink. */
  recorder(id: string, core: Core, turn: number): StepRecorder | undefined {
    const sink = this.#options.journal?.(id);
    if (sink === undefined) return undefined;
    const { abi, features } = core.instance;
    const { JournalWriter } = engine()!;
    return new JournalWriter(sink, {
      abi,
      features,
      module: this.#hash,
      engine: engineName(),
      turn,
    });
  }

  async #load(): Promise<Core> {
    const module = this.#loaded();
    await module.compile(this.#options.maxMemory ?? memory.maxMemory);
    if (this.#options.journal !== undefined) this.#hash = await module.hash();
    if (this.#options.verify) this.#verify = await engine()!.verifier();
    this.#compiled = true;
    return this.ready() ?? this.#start();
  }

  #overloaded(): TurncoreError {
    const mark = this.#options.highWater ?? memory.highWater;
    return TurncoreError.of(
      'E_OVERLOADED',
      `${memory.draining + 1} instances have grown beyond ${mark} bytes and still have turns to end`,
      { details: { retryAfterMs: RETRY_AFTER } },
    );
  }

  #handle(): Module {
    const { module } = this.#options;
    this.#module ??= module instanceof Module ? module : loadModule(module);
    return this.#module;
  }

  /** The module, once the engine is there. */
  #loaded(): LoadedModule {
    return this.#handle().use(engine()!.LoadedModule);
  }

  #start(): Core {
    const { limits, maxMemory = memory.maxMemory, onStderr } = this.#options;
    const { Core, facadeOf } = engine()!;
    const instance = this.#loaded().instantiateSync({
      // The module copies a frame several times.
      limits: { frame: Math.max(Math.trunc(Math.min(maxMemory / 8, 2 ** 24)), 1), ...limits },
      maxMemory,
      onStderr,
      quota: this.#quota(),
    });
    const core = new Core(instance, {
      clock: this.clock,
      died: (dead) => {
        if (this.#core === dead) this.#core = undefined;
      },
      facade: facadeOf,
      verify: this.#verify,
    });
    this.#compiled = true;
    this.#core = core;
    return core;
  }
}

/** Lists the violations of the fields `host` and `module` of a configuration. */
export function hostViolations(config: Readonly<Record<string, unknown>>): string[] {
  const { host, module } = config;
  const both = !isAbsent(module);
  if (isAbsent(host)) return [];
  if (host instanceof Host) {
    return both ? ['`module` cannot be given with a Host, which has one'] : [];
  }
  if (!isObject(host)) return ['`host` must be an object or a Host'];
  const twice = both && !isAbsent(host['module']);
  const found = violationsIn('host', () => checkHost(host));
  const other = ofOtherCopy(host);
  if (found.length > 0 && other !== '') return [`\`host\` must be an object or a Host${other}`];
  return [...found, ...(twice ? [phrase('alias', { alias: 'module', field: 'host.module' })] : [])];
}

/** The host for an option. Without the option, the host shared by all runners that name none. */
export function hostOf(option: unknown, module: unknown): Host {
  if (option instanceof Host) return option;
  if (option === undefined) return sharedHost(module as HostOptions['module']);
  const options = option as HostOptions;
  return new Host(module === undefined ? options : { ...options, module: module as ModuleSource });
}

/** Hosts of runners that name none: they hold an instance and no turn's data. */
const shared: { host?: Host; readonly byModule: WeakMap<object, Host> } = {
  byModule: new WeakMap(),
};

/** The host shared by all runners that name no host and the same module, or none. */
export function sharedHost(module?: HostOptions['module']): Host {
  if (module === undefined) return (shared.host ??= new Host());
  if (typeof module !== 'object') return new Host({ module });
  let host = shared.byModule.get(module);
  if (host === undefined) {
    host = new Host({ module });
    shared.byModule.set(module, host);
  }
  return host;
}

function engineName(): string {
  const g = globalThis as Record<string, unknown>;
  if ('Deno' in g) return 'deno';
  if ('Bun' in g) return 'bun';
  const agent = (g['navigator'] as { userAgent?: string } | undefined)?.userAgent ?? '';
  if (agent === 'Cloudflare-Workers') return 'workerd';
  return 'document' in g || 'importScripts' in g ? 'browser' : 'node';
}

/** Bytes drawn from the platform per call: a call costs more than a thousand bytes. */
const POOL = 4096;

/** The platform's randomness, drawn in advance. No byte is used twice. */
function pooledEntropy(): Entropy {
  let pool = new Uint8Array(0);
  let used = 0;
  return (size) => {
    if (size > POOL) return systemEntropy(size);
    if (used + size > pool.length) {
      pool = Uint8Array.from(systemEntropy(POOL));
      used = 0;
    }
    used += size;
    return pool.slice(used - size, used);
  };
}
