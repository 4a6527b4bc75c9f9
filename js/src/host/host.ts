/**
 * Where a runner's turns run: a module, its instance, and what the machine gives them.
 */
import { rejected } from '../attempt.js';
import { DEFAULT_QUOTA, type Limits, type Quota } from '../instance/limits.js';
import { loadModule, Module } from '../instance/module.js';
import { type ModuleSource, tagOf } from '../instance/source.js';
import { type Clock, type Entropy, systemClock, systemEntropy } from '../entropy.js';
import type { JournalSink, StepRecorder } from '../journal/writer.js';
import { JournalWriter } from '../journal/writer.js';
import { TurncoreError } from '../errors.js';
import { isObject } from '../validation/field-kinds.js';
import { phrase, violationsIn } from '../validation/rules.js';
import type { Credential } from '../http/credential.js';
import type { HttpSettings } from '../http/exchange.js';
import { checkHost } from './host-options.js';
import { Core } from '../turn/core.js';

/** What the machine gives a runner's turns. Everything has a default. */
export interface HostOptions {
  /** The module: a handle from `loadModule`, or what that accepts. Default: the package's own. */
  readonly module?: Module | ModuleSource | undefined;
  /** Milliseconds since the Unix epoch. Default: Date.now. */
  readonly clock?: Clock | undefined;
  /** Random bytes. Default: crypto.getRandomValues. */
  readonly entropy?: Entropy | undefined;
  /** Bounds, where less than the ABI's own is wanted. */
  readonly limits?: Partial<Limits> | undefined;
  /** Gets the journal of each turn; asked for a place with the turn's id. Default: none is written. */
  readonly journal?: ((turnId: string) => JournalSink | undefined) | undefined;
  /** Secrets that requests of the module may name. */
  readonly credentials?: Readonly<Record<string, Credential>> | undefined;
  /**
   * Origins that the module may request, redirects too. Default: those that the program has named itself, which are that
   * of the chat executor's `baseURL` and what its fetch tools may fetch.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Makes the module's requests. Default: fetch. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Bytes of memory an instance may grow to. Default 1 GiB. One that needs more fails. A module that is given compiled,
   * as a `WebAssembly.Module`, is looked at after each step only.
   */
  readonly maxMemory?: number | undefined;
  /**
   * Bytes of memory beyond which an instance takes no further turns: they go to a fresh one, and it ends with the last
   * of its own. At most two instances end like this at a time; then turns are refused with `E_OVERLOADED`. Default
   * 256 MiB.
   */
  readonly highWater?: number | undefined;
  /**
   * Bytes that the module may hold: records, queued writes, open streams and requests, for one turn and for all of an
   * instance. The turn that would pass a bound fails with `E_TURN_QUOTA_EXCEEDED`. Default: 64 MiB for a turn; for an
   * instance 128 MiB, or half of `highWater` if that is more: its memory is up to twice what it holds.
   */
  readonly quota?: Partial<Quota> | undefined;
  /** Gets each line the module writes to stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
  /** Compares the mirrored collections with the module's after each frame. For tests: it slows everything down. */
  readonly verify?: boolean | undefined;
}

const HIGH_WATER = 256 << 20;
/** Instances that may wait for the last of their turns at a time. */
const MAX_DRAINING = 2;
/** When a turn that was refused with E_OVERLOADED is worth another try, in ms. */
const RETRY_AFTER = 1000;

/** Runs the turns of one runner, or of several that share it: in one instance, and a fresh one when that is done for. */
export class Host {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly #options: HostOptions;
  /** @internal How requests of its turns are made. */
  readonly http: HttpSettings;
  /** The one whose instance it shares, if it has none of its own. */
  #shared: Host | undefined;
  #module: Module | undefined;
  #compiled = false;
  /** What takes turns. */
  #core: Core | undefined;
  /** What has turns to end and takes none. */
  #draining: Core[] = [];
  #hash = '';
  #acquiring: Promise<Core> | undefined;

  /**
   * Loads nothing: this is legal in a Worker's global scope.
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

  /** @internal A host of the same instance, whose turns have secrets of their own. */
  withCredentials(credentials: Readonly<Record<string, Credential>>): Host {
    const host = new Host({ credentials });
    host.#shared = this;
    return host;
  }

  /** @internal The core of a live instance, if there is one that has room. */
  ready(): Core | undefined {
    if (this.#shared !== undefined) return this.#shared.ready();
    const core = this.#core;
    if (core?.alive !== true) return undefined;
    if (!this.#isFull(core)) return core;
    this.#draining = this.#draining.filter((other) => other.alive && other.turns > 0);
    if (core.turns > 0) {
      if (this.#draining.length >= MAX_DRAINING) return undefined;
      this.#draining.push(core);
    }
    // Nobody holds it beside its turns: it is let go when they have ended.
    this.#core = undefined;
    return undefined;
  }

  #quota(): Quota {
    const { quota, highWater = HIGH_WATER } = this.#options;
    const instance = quota?.instance ?? Math.max(DEFAULT_QUOTA.instance, highWater / 2);
    return {
      turn: Math.min(quota?.turn ?? DEFAULT_QUOTA.turn, Number.MAX_SAFE_INTEGER),
      instance: Math.min(Math.trunc(instance), Number.MAX_SAFE_INTEGER),
    };
  }

  #isFull(core: Core): boolean {
    return core.instance.memoryBytes > (this.#options.highWater ?? HIGH_WATER);
  }

  /**
   * @internal The core of a live instance, started if need be.
   *
   * @throws TurncoreError (rejects) E_INVALID_MODULE, E_ABI_VERSION, E_INSTANCE_FAILED, E_OVERLOADED
   */
  acquire(): Promise<Core> {
    if (this.#shared !== undefined) return this.#shared.acquire();
    const core = this.ready();
    if (core !== undefined) return Promise.resolve(core);
    if (this.#core?.alive === true) return Promise.reject(this.#overloaded());
    // A module that is compiled starts at once: in workerd no request may wait for what another one began.
    if (this.#compiled || tagOf(this.#options.module) === 'WebAssembly.Module') {
      try {
        return Promise.resolve(this.#start());
      } catch (error) {
        return rejected(error);
      }
    }
    this.#acquiring ??= this.#load().finally(() => (this.#acquiring = undefined));
    return this.#acquiring;
  }

  /** @internal A writer of a turn's journal, if one is wanted. */
  recorder(id: string, core: Core, turn: number): StepRecorder | undefined {
    const sink = this.#options.journal?.(id);
    if (sink === undefined) return undefined;
    const { abi, features } = core.instance;
    return new JournalWriter(sink, {
      abi,
      features,
      module: this.#hash,
      engine: engineName(),
      turn,
    });
  }

  async #load(): Promise<Core> {
    const module = this.#handle();
    await module.compile(this.#options.maxMemory);
    if (this.#options.journal !== undefined) this.#hash = await module.hash();
    this.#compiled = true;
    return this.ready() ?? this.#start();
  }

  #overloaded(): TurncoreError {
    const mark = this.#options.highWater ?? HIGH_WATER;
    return TurncoreError.of(
      'E_OVERLOADED',
      `${MAX_DRAINING + 1} instances have grown beyond ${mark} bytes and still have turns to end`,
      { details: { retryAfterMs: RETRY_AFTER } },
    );
  }

  #handle(): Module {
    const { module } = this.#options;
    this.#module ??= module instanceof Module ? module : loadModule(module);
    return this.#module;
  }

  #start(): Core {
    const { limits, maxMemory, onStderr, verify } = this.#options;
    const instance = this.#handle().instantiateSync({
      limits,
      maxMemory,
      onStderr,
      quota: this.#quota(),
    });
    const core = new Core(instance, {
      clock: this.clock,
      died: (dead) => {
        if (this.#core === dead) this.#core = undefined;
      },
      verify: verify === true,
    });
    this.#compiled = true;
    this.#core = core;
    return core;
  }
}

/** Lists what is wrong with the fields `host` and `module` of a configuration. */
export function hostViolations(config: Readonly<Record<string, unknown>>): string[] {
  const { host, module } = config;
  const both = module !== undefined && module !== null;
  if (host === undefined || host === null) return [];
  if (host instanceof Host) {
    return both ? ['`module` cannot be given with a Host, which has one'] : [];
  }
  if (!isObject(host)) return ['`host` must be an object or a Host'];
  const twice = both && host['module'] !== undefined && host['module'] !== null;
  return [
    ...violationsIn('host', () => checkHost(host)),
    ...(twice ? [phrase('alias', { alias: 'module', field: 'host.module' })] : []),
  ];
}

/** The host that an option stands for: without one, the one that all share which name none. */
export function hostOf(option: unknown, module: unknown): Host {
  if (option instanceof Host) return option;
  if (option === undefined) return sharedHost(module as HostOptions['module']);
  const options = option as HostOptions;
  return new Host(module === undefined ? options : { ...options, module: module as ModuleSource });
}

/** Hosts of what names no host: they hold an instance and nothing of a turn. */
const shared: { host?: Host; readonly byModule: WeakMap<object, Host> } = {
  byModule: new WeakMap(),
};

/** The host that all share which name none, and no module or the same. */
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

/** Bytes that are drawn from the platform at once: a call costs more than a thousand bytes. */
const POOL = 4096;

/** The platform's randomness, drawn ahead. No byte is given twice. */
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
