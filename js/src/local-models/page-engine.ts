/**
 * The common part of all adapters: an engine that is loaded once, at its first use, with progress reports.
 */
import type { ModelCapabilities } from '../chat/options.gen.js';
import type { ModelEngine, ModelPart, ModelRequest } from '../chat/model-engine.js';
import { checkDevice, type DeviceNeeds } from './device.js';

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
  /** Frees its resources, and cancels a load at once. A later use loads it again. */
  dispose(): Promise<void>;
}

/** An adapter's operations on its loaded library. */
export interface Adapter<T> {
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  /** What every model of the library needs. */
  readonly needs?: DeviceNeeds | undefined;
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
}

/** Makes an engine from an adapter. */
export function pageEngine<T>(settings: EngineSettings, adapter: Adapter<T>): PageEngine {
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
    return adapter.load((progress) => {
      if (!signal.aborted) tell(progress);
    }, signal);
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
      const thing = await load.arrived.catch(() => undefined);
      if (thing !== undefined) await adapter.unload(thing);
      if (current === undefined) tell({ phase: 'disposed' });
    },
    async *generate(request) {
      const thing = await loaded();
      request.signal.throwIfAborted();
      yield* adapter.generate(thing, request);
    },
  };
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
