/**
 * The common part of all adapters: an engine that is loaded once, at its first use, with progress reports.
 */
import type { FieldRules, TypeRules } from '../abi/rules.gen.js';
import { capabilityRules } from '../chat/capabilities.gen.js';
import type { ModelCapabilities } from '../chat/options.gen.js';
import type { ModelEngine, ModelPart, ModelRequest } from '../chat/model-engine.js';
import { invalidValue } from '../errors.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import { check, type Checked, violationError, violationsIn } from '../validation/rules.js';
import { checkDevice, type DeviceNeeds, needsViolations } from './device.js';

/** The loading progress of an engine. */
export interface EngineProgress {
  /**
   * "loading": the model is fetched. "compiling": it is prepared to run, which may take longer. "ready", "failed" and
   * "disposed" end it.
   */
  readonly phase: 'loading' | 'compiling' | 'ready' | 'failed' | 'disposed';
  /** From 0 to 1, if it is known. */
  readonly progress?: number | undefined;
  /** The library's own words. */
  readonly detail?: string | undefined;
  /** The reason of the failure. */
  readonly error?: unknown;
}

/** Reports the progress of loading. */
export type TellProgress = (progress: EngineProgress) => void;

/** The settings of every adapter. */
export interface EngineSettings {
  /** Name in statistics and errors. Default: the adapter's. */
  readonly name?: string | undefined;
  /** The model's capabilities, if they differ from the adapter's defaults. */
  readonly capabilities?: ModelCapabilities | undefined;
  /** Gets the loading progress. Its errors are ignored. */
  readonly onProgress?: TellProgress | undefined;
  /**
   * What the model needs of the device beside what its library always needs, or a function that says so. It is checked
   * before the model is loaded: what is missing fails the load with E_MODEL_UNSUPPORTED.
   */
  readonly needs?: DeviceNeeds | (() => DeviceNeeds | Promise<DeviceNeeds>) | undefined;
}

/** An engine that runs in the page. */
export interface PageEngine extends ModelEngine {
  /** Loads it before its first use. All calls share one load; a failed load is repeated. */
  load(): Promise<void>;
  /**
   * Frees its resources, and cancels a load at once. It does not wait for a library that loads on: what arrives later
   * is freed then. A later use loads it again.
   */
  dispose(): Promise<void>;
}

/** The rules of the settings that every adapter has. */
export const settingRules = {
  name: { kind: 'string', nonEmpty: true },
  capabilities: { kind: 'object' },
  onProgress: { kind: 'function' },
  needs: { kind: 'any' },
} as const satisfies Readonly<Record<keyof EngineSettings, FieldRules>>;

/** What an adapter's settings must be. */
export interface SettingsCheck {
  /** They include {@link settingRules}. */
  readonly rules: TypeRules;
  /** Lists further violations. */
  readonly also?: (raw: Checked) => readonly string[];
}

/** An adapter's operations on its loaded library. */
export interface Adapter<T> {
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  /** What every model of the library needs. */
  readonly needs?: DeviceNeeds | undefined;
  /** The names of a request's options that the library does not take. Default: it takes all. */
  refuses?(options: Readonly<Record<string, unknown>>): readonly string[];
  /** @param signal fires when nobody wants the model any more; what arrives later is unloaded */
  load(tell: TellProgress, signal: AbortSignal): Promise<T>;
  unload(loaded: T): unknown;
  generate(loaded: T, request: ModelRequest): AsyncIterable<ModelPart>;
}

/** A load under way, or its result. */
interface Load<T> {
  /** What the library gives, whether it is wanted or not. */
  readonly arrived: Promise<T>;
  /** The same, unless it is cancelled first. */
  readonly wanted: Promise<T>;
  readonly cancel: AbortController;
  /** What has arrived. */
  result?: { readonly thing: T };
}

/**
 * Makes an engine.
 *
 * @param adapterOf makes its adapter from settings that are right
 * @throws TurncoreError E_INVALID_VALUE listing every setting that is unknown or wrong
 */
export function pageEngine<T, S extends EngineSettings>(
  { rules, also }: SettingsCheck,
  from: S,
  adapterOf: (settings: S) => Adapter<T>,
): PageEngine {
  const settings = check(rules, from, {
    also: (raw) => [
      ...capabilityViolations(raw['capabilities']),
      ...needsViolations(raw['needs']),
      ...(also?.(raw) ?? []),
    ],
  }) as S;
  const adapter = adapterOf(settings);
  let current: Load<T> | undefined;
  const tell: TellProgress = (progress) => {
    try {
      settings.onProgress?.(progress);
    } catch {
      // A listener does not decide whether a model loads.
    }
  };

  async function loadNow(signal: AbortSignal): Promise<T> {
    const { needs } = settings;
    await checkDevice({
      ...adapter.needs,
      ...(typeof needs === 'function' ? await needs() : needs),
    });
    signal.throwIfAborted();
    const thing = await adapter.load((progress) => {
      if (!signal.aborted) tell(progress);
    }, signal);
    if (isAbsent(thing)) throw invalidValue('load', 'must give what it has loaded');
    return thing;
  }

  /** The current load, or a new one. */
  function loaded(): Promise<T> {
    if (current !== undefined) return current.wanted;
    const cancel = new AbortController();
    const { signal } = cancel;
    tell({ phase: 'loading' });
    const arrived = loadNow(signal);
    const cancelled = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () =>
        reject(new Error('the engine was disposed of while it was loading')),
      );
    });
    const wanted = Promise.race([arrived, cancelled]).then(
      (thing) => {
        tell({ phase: 'ready' });
        return thing;
      },
      (error: unknown) => {
        if (current === load) current = undefined;
        if (!signal.aborted) tell({ phase: 'failed', error });
        throw error;
      },
    );
    const load: Load<T> = { arrived, wanted, cancel };
    current = load;
    arrived.then(
      (thing) => (load.result = { thing }),
      () => undefined,
    );
    return wanted;
  }

  return {
    name: settings.name ?? adapter.name,
    capabilities: { ...adapter.capabilities, ...settings.capabilities },
    load: () => loaded().then(() => undefined),
    async dispose() {
      const load = current;
      current = undefined;
      if (load === undefined) return;
      load.cancel.abort();
      if (load.result !== undefined) await adapter.unload(load.result.thing);
      else load.arrived.then((thing) => adapter.unload(thing)).catch(() => undefined);
      if (current === undefined) tell({ phase: 'disposed' });
    },
    async *generate(request) {
      requireTaken(adapter, request.options ?? {});
      const thing = await loaded();
      request.signal.throwIfAborted();
      yield* adapter.generate(thing, request);
    },
  };
}

function capabilityViolations(capabilities: unknown): string[] {
  if (!isObject(capabilities)) return [];
  return violationsIn('capabilities', () => check(capabilityRules, capabilities));
}

/** @throws TurncoreError E_CHAT_INVALID_OPTIONS listing every option that the library does not take */
function requireTaken(
  { name, refuses }: Pick<Adapter<unknown>, 'name' | 'refuses'>,
  options: Readonly<Record<string, unknown>>,
): void {
  const refused = refuses?.(options) ?? [];
  if (refused.length === 0) return;
  throw violationError(
    'E_CHAT_INVALID_OPTIONS',
    refused.map((option) => `\`${option}\` is not for engine ${name}`),
  );
}

/** Those of some options that a request has. */
export function given(
  options: Readonly<Record<string, unknown>>,
  names: readonly string[],
): readonly string[] {
  return names.filter((name) => !isAbsent(options[name]));
}

/**
 * The chunks of a stream that must be read to its end: until then its library holds a lock, or it fails unnoticed.
 *
 * @param stop asks the library to end soon; may be called repeatedly
 */
export async function* readThrough<C>(
  stream: AsyncIterable<C>,
  signal: AbortSignal,
  stop: () => void,
): AsyncGenerator<C> {
  const chunks = stream[Symbol.asyncIterator]();
  let ended = false;
  const next = async (): Promise<IteratorResult<C, unknown>> => {
    try {
      const step = await chunks.next();
      ended = step.done === true;
      return step;
    } catch (error) {
      ended = true;
      throw error;
    }
  };
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      const step = await next();
      if (step.done === true || signal.aborted) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    // Called again before each chunk: a library may start late and forget earlier calls.
    while (!ended) {
      stop();
      await next().catch(() => undefined);
    }
  }
}
