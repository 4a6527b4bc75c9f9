/**
 * Modules that are not trusted: what their code may do is bounded.
 */
import { TurncoreError } from '../errors.js';
import { LoadedModule } from '../instance/loaded-module.js';
import type { Instance } from '../instance/instance.js';
import { Module } from '../instance/module.js';
import type { InstantiateOptions, ReactorExports } from '../instance/module-options.js';
import {
  bytesOf,
  cannotLoad,
  hashSource,
  type ModuleSource,
  openSource,
} from '../instance/source.js';
import { isCompiled } from '../instance/tag.js';
import { FUEL, START } from './instructions.gen.js';
import { meter, MeteringError } from './rewrite.js';
import { isAbsent } from '../validation/field-kinds.js';
import { phrase, unknownField } from '../validation/rules.js';
import { paid } from './wasi.js';

/**
 * Bounds on what a module's code may do, in units: one pays for up to 32 instructions of a function or of a round of a
 * loop, or for 256 bytes that are copied, filled or added to the memory at once. A fraction counts as the whole number
 * below it.
 */
export interface Fuel {
  /** For the start of an instance. Default: 10⁹. */
  readonly start?: number | undefined;
  /** For each step. Default: 10⁹. The core takes some thousand for most. */
  readonly step?: number | undefined;
}

const DEFAULT_FUEL = 1_000_000_000;

/** The cause of the E_INSTANCE_FAILED of an instance that has used more fuel than it had. */
export class FuelError extends Error {
  override name = 'FuelError';
  /** The limit, as in {@link Fuel}. */
  readonly limit: 'start' | 'step';
  /** Units. */
  readonly units: number;

  constructor(limit: 'start' | 'step', units: number) {
    super(`it used more than ${units} units of fuel, the limit ${limit} of its module`);
    this.limit = limit;
    this.units = units;
  }
}

/**
 * Names a module that is not trusted, as `loadModule` names others. It counts what its code does: an instance that uses
 * more fuel than it has ends with E_INSTANCE_FAILED, whose cause is a {@link FuelError}, and the page or process goes
 * on.
 *
 * @param source as for `loadModule`; a WebAssembly.Module must have been made of what {@link meter} returned
 * @throws TurncoreError E_INVALID_MODULE, when it is first used, for one that cannot be metered
 */
export function meteredModule(source: ModuleSource, fuel: Fuel = {}): Module {
  if (isAbsent(source)) throw cannotLoad('no source is given');
  return new MeteredModule(source, check(fuel));
}

type Bounds = Readonly<Record<'start' | 'step', number>>;

const isFuel = (fuel: unknown): boolean => typeof fuel === 'object' && fuel !== null;

function check(fuel: Fuel): Bounds {
  if (!isFuel(fuel)) {
    throw TurncoreError.of('E_INVALID_TURN_RUNNER_CONFIG', phrase('object', { field: 'fuel' }));
  }
  const { start = DEFAULT_FUEL, step = DEFAULT_FUEL, ...others } = fuel;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const why = unknownField('fuel.', unknown, ['start', 'step']);
    throw TurncoreError.of('E_INVALID_TURN_RUNNER_CONFIG', why);
  }
  for (const [name, units] of Object.entries({ start, step })) {
    if (typeof units !== 'number' || !(units >= 1 && units <= Number.MAX_SAFE_INTEGER)) {
      const why = `fuel.${name} is ${String(units)}, not a number from 1 to ${Number.MAX_SAFE_INTEGER}`;
      throw TurncoreError.of('E_INVALID_TURN_RUNNER_CONFIG', why);
    }
  }
  return { start: Math.floor(start), step: Math.floor(step) };
}

class MeteredModule extends Module {
  readonly #source: ModuleSource;
  readonly #fuel: Bounds;
  #metered: Metered | undefined;

  constructor(source: ModuleSource, fuel: Bounds) {
    super(source);
    this.#source = source;
    this.#fuel = fuel;
  }

  override use(): LoadedModule {
    this.#metered ??= new Metered(this.#source, this.#fuel);
    return this.#metered;
  }

  /** What a server answers is rewritten first. */
  override fetchEarly(): void {
    // It is read when it is compiled.
  }
}

/** A module that is rewritten before it is compiled. */
class Metered extends LoadedModule {
  readonly #given: ModuleSource;
  readonly #fuel: Bounds;

  constructor(source: ModuleSource, fuel: Bounds) {
    super(isCompiled(source) ? source : rewritten(source));
    this.#given = source;
    this.#fuel = fuel;
  }

  override hash(): Promise<string> {
    return hashSource(this.#given);
  }

  override instantiateSync(options?: InstantiateOptions): Instance {
    const given = this.#given;
    const isFuel = ({ name }: WebAssembly.ModuleExportDescriptor): boolean => name === FUEL;
    if (isCompiled(given) && !WebAssembly.Module.exports(given).some(isFuel)) {
      throw cannotLoad('it is compiled already, and was not metered before');
    }
    let bound: MeteredExports | undefined;
    const pay = (units: number): void => {
      const left = bound![FUEL];
      left.value -= BigInt(units);
      if (left.value < 0n) throw new Error('a call of WASI costs more fuel than is left');
    };
    return super.instantiateSync({
      ...options,
      link: (imports) => paid(imports, () => bound?.memory, pay),
      wrap: (exports) => this.#bound((bound = exports as MeteredExports)),
    });
  }

  /** The exports of an instance, with fuel. */
  #bound(exports: MeteredExports): ReactorExports {
    const { [FUEL]: left, [START]: start } = exports;
    const fuel = this.#fuel;
    const bounded = <T>(limit: 'start' | 'step', run: () => T): T => {
      try {
        return run();
      } catch (error) {
        if (left.value < 0n) throw new FuelError(limit, fuel[limit]);
        throw error;
      }
    };
    const step = BigInt(fuel.step);
    return {
      memory: exports.memory,
      _initialize: () => {
        left.value = BigInt(fuel.start);
        bounded('start', () => {
          start?.();
          exports._initialize();
        });
      },
      turncore_abi: () => bounded('start', exports.turncore_abi),
      turncore_inbox: (size) => {
        left.value = step;
        return bounded('step', () => exports.turncore_inbox(size));
      },
      turncore_step: (size) => bounded('step', () => exports.turncore_step(size)),
    };
  }
}

/** What a module with metering exports. */
interface MeteredExports extends ReactorExports {
  [FUEL]: WebAssembly.Global<'i64'>;
  [START]?: () => void;
}

/** The bytes of a source, with metering; read and rewritten each time they are asked for. */
function rewritten(source: ModuleSource): PromiseLike<BufferSource> {
  const read = async (): Promise<BufferSource> => {
    try {
      return meter(await bytesOf(await openSource(source)));
    } catch (cause) {
      if (!(cause instanceof MeteringError)) throw cause;
      throw cannotLoad(`it cannot be metered: ${cause.message}`, cause);
    }
  };
  return { then: (resolve, reject) => read().then(resolve, reject) };
}
