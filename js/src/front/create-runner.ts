/**
 * The front door: a runner with defaults for everything.
 */
import type { Awaitable } from '../awaitable.js';
import type {
  DispatchExecutorFn,
  DispatchPipelineMiddlewareFn,
  TurnPipelineMiddlewareFn,
} from '../context/functions.js';
import { loadFullModule, type Module } from '../instance/module.js';
import { TurncoreError } from '../errors.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { Tokenizer } from '../primitives/tokenizers.js';
import type { ChatOptions } from '../chat/options.gen.js';
import type { ModelEngine } from '../chat/model-engine.js';
import { ChatExecutor, type EngineOptions } from '../chat/chat-executor.js';
import { Host, type HostOptions, sharedHost } from '../host/host.js';
import { loadConversation } from '../store/load-conversation.js';
import { memoryStore } from '../store/memory-store.js';
import type { Store } from '../store/store.js';
import { type Keeper, keeperOf, outers } from '../store/keeper.js';
import { sessionNamed } from '../store/session-id.js';
import { storeCallbacks } from '../store/store-callbacks.js';
import type { AnyTool } from '../tools/tool.js';
import { type TurnInput, TurnRunner } from '../runners/turn-runner.js';
import type { ModelWrapper, ToolWrapper } from '../runners/wrappers.js';
import type { OutputSchema } from '../output/output.js';
import type { TurnStream } from '../runners/turn-stream.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import { checkConfig, requireInput } from './agent-config.js';
import { maxIterations } from '../middleware/max-iterations.js';
import {
  baseURLOf,
  needsFullModule,
  providerKey,
  providerNames,
  resolved,
} from '../chat/providers.js';

/** A model behind an API. Without a provider the API speaks OpenAI's chat completions. */
export type ChatModel = ChatOptions & {
  /**
   * A key for the API. It stays on the host, which sends it to the API's origin only, in the provider's header. In a
   * page every visitor can read it: use a proxy there.
   */
  readonly apiKey?: string | undefined;
};

/** The configuration of a runner: exactly one of model and executor. */
export type AgentConfig<Output = unknown> = ModelConfig<Output> | ExecutorConfig<Output>;

/** The configuration of a runner with a model. */
export interface ModelConfig<Output = unknown> extends AgentSettings {
  /** The model, behind an API or run by the host itself; the executor inside the module calls it. */
  readonly model: ChatModel | EngineOptions | ModelEngine;
  /**
   * The schema of the model's answers: a JSON Schema 2020-12, or a Standard Schema such as Zod's, which types the
   * `object` of results.
   */
  readonly schema?: OutputSchema<Output> | undefined;
  readonly executor?: undefined;
}

/** The configuration of a runner with an executor. */
export interface ExecutorConfig<Output = unknown> extends AgentSettings {
  /** Your own model call. */
  readonly executor: DispatchExecutorFn | ChatExecutor<Output>;
  readonly model?: undefined;
  readonly schema?: undefined;
}

/** The common configuration of runners. */
export interface AgentSettings {
  /** Keeps conversations between turns. Default: in memory. */
  readonly store?: Store | undefined;
  /**
   * What becomes of a turn while another one of its session runs in the process. `queue`, the default, has the turns of
   * a session run one after the other, in the order in which they were started, by whichever runners with the store.
   * `refuse` fails it with E_SESSION_BUSY, before any event. In Workers and edge functions turns end with their
   * requests and do not know of each other: neither has an effect there, except with the store of a Durable Object.
   *
   * A turn that the session's own turn starts, in a tool for example, and waits for would wait for itself. Give it a
   * session of its own. If it gets `ctx.abortSignal` as its `signal`, it fails with E_SESSION_BUSY instead.
   */
  readonly whenBusy?: 'queue' | 'refuse' | undefined;
  /** System prompt of turns without one. Default: "You are a helpful assistant." */
  readonly system?: string | Tokenizable | undefined;
  /** Tools available in every turn. */
  readonly tools?: readonly AnyTool[] | undefined;
  /** Bounds of a dispatch's loop. */
  readonly bounds?:
    | {
        /** Largest number of iterations of a dispatch. Default 16; false for no bound. */
        readonly maxIterations?: number | false | undefined;
      }
    | undefined;
  /** Runs after the conversation was loaded. */
  readonly turnInputPipeline?: readonly TurnPipelineMiddlewareFn[] | undefined;
  readonly turnOutputPipeline?: readonly TurnPipelineMiddlewareFn[] | undefined;
  readonly dispatchInputPipeline?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  readonly dispatchOutputPipeline?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  /** Run around each call of a tool's handler, the first one outermost. */
  readonly wrapTool?: readonly ToolWrapper[] | undefined;
  /** Run around each call of a model, the first one outermost. */
  readonly wrapModel?: readonly ModelWrapper[] | undefined;
  /** Tokenizers by the names of their encodings, as for a TurnRunner. */
  readonly tokenizers?: Readonly<Record<string, Tokenizer>> | undefined;
  /** Options of the turns' host; or a Host, to share one instance among runners. */
  readonly host?: HostOptions | Host | undefined;
}

/** The input of a turn of an {@link AgentRunner}. Everything has a default. */
export interface AgentInput extends Omit<TurnInput, 'systemPrompt'> {
  /** Default: the runner's. */
  readonly systemPrompt?: string | Tokenizable | undefined;
  /** Its conversation. Default: "default". */
  readonly sessionId?: string | undefined;
  /** Aborts the turn. */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_SYSTEM = 'You are a helpful assistant.';
const DEFAULT_ITERATIONS = 16;
/** The given key's name in the module. */
const API_KEY = 'apiKey';

/** An ordinary runner whose turns need only a message. */
export class AgentRunner<Output = unknown> extends TurnRunner<Output> {
  readonly #system: string | Tokenizable;
  readonly #keeper: Keeper;
  readonly #refuse: boolean;

  /** @throws TurncoreError E_INVALID_TURN_RUNNER_CONFIG listing every violation */
  constructor(given: AgentConfig<Output>) {
    const config = checkConfig(given) as unknown as AgentConfig<Output>;
    const {
      model: _m,
      executor: _e,
      schema: _s,
      bounds,
      whenBusy,
      store = memoryStore(),
      system,
      ...rest
    } = config;
    const most = bounds?.maxIterations ?? DEFAULT_ITERATIONS;
    const bound = most === false ? [] : [maxIterations(most)];
    // Pipelines that were not given are empty.
    super({
      ...rest,
      ...storeCallbacks(store),
      executorCallback: executorOf(config),
      turnInputPipeline: [loadConversation(store), ...config.turnInputPipeline!],
      dispatchInputPipeline: [...bound, ...config.dispatchInputPipeline!],
      host: hostFor(config),
    });
    this.#system = system ?? DEFAULT_SYSTEM;
    this.#keeper = keeperOf(store);
    this.#refuse = whenBusy === 'refuse';
  }

  override async run(input: AgentInput): Promise<void> {
    const { turn, settle } = this.#turn(input);
    try {
      await super.run(turn);
    } finally {
      settle();
    }
  }

  override stream(input: AgentInput): TurnStream<Output> {
    const { turn, settle } = this.#turn(input);
    try {
      const stream = super.stream(turn);
      void stream.result.then(settle);
      return stream;
    } catch (error) {
      settle();
      throw error;
    }
  }

  /** @internal Waits for the session's other turns. */
  protected override enter(
    stash: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Awaitable<() => void> {
    return this.#keeper.enter(sessionNamed(stash['sessionId']), this.#refuse, signal);
  }

  /** @internal As the session has it: a conversation is ordered by time. */
  protected override messageTime(
    now: number,
    stash: Readonly<Record<string, unknown>>,
    given: string | undefined,
  ): Awaitable<number> {
    return this.#keeper.loader.timeOf(given, now, sessionNamed(stash['sessionId']));
  }

  /** The input of an ordinary turn, and a function that releases the caller's signal. */
  #turn(input: AgentInput): { turn: TurnInput; settle: () => void } {
    requireInput(input);
    const { sessionId, signal, systemPrompt, ...rest } = input;
    const begin: unknown = rest.stash ?? {};
    const stash =
      (sessionId ?? '') !== '' && isObject(begin) ? { ...begin, sessionId } : rest.stash;
    const turn = { ...rest, systemPrompt: systemPrompt ?? this.#system, stash };
    if (!signal) return { turn, settle: () => undefined };
    const controller = rest.turnAbortController ?? new AbortController();
    const abort = (): void => controller.abort(signal.reason);
    outers.set(controller.signal, signal);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    return {
      turn: { ...turn, turnAbortController: controller },
      settle: () => signal.removeEventListener('abort', abort),
    };
  }
}

/**
 * Makes a runner with all callbacks from a store, the conversation loaded at the start of each turn, and a bound on
 * the loop unless it is turned off.
 *
 * @example
 * const runner = createRunner({ model: { model: 'gpt-4o-mini', apiKey } });
 * for await (const event of runner.stream({ message: 'Hello' })) {
 *   if (event.event === 'message') process.stdout.write(event.aDelta);
 * }
 *
 * @throws TurncoreError E_INVALID_TURN_RUNNER_CONFIG listing every violation
 */
export function createRunner<Output = unknown>(config: AgentConfig<Output>): AgentRunner<Output> {
  return new AgentRunner(config);
}

/** @internal The executor of a model. */
export function executorOf<Output>(
  config: AgentConfig<Output>,
): DispatchExecutorFn | ChatExecutor<Output> {
  const { model, schema } = config;
  if (model === undefined) return config.executor;
  const own = (model as { schema?: OutputSchema<Output> }).schema;
  const output = { schema: schema ?? own };
  if (isEngine(model)) return new ChatExecutor<Output>({ engine: model, ...output });
  const { apiKey, schema: _, ...options } = model as ChatModel & { schema?: OutputSchema<Output> };
  const credential = isAbsent(apiKey) ? {} : { credential: API_KEY };
  return new ChatExecutor<Output>({ ...options, ...credential, ...output });
}

/** @internal Whether a model is an engine of the host. */
export function isEngine(model: ChatModel | EngineOptions | ModelEngine): model is ModelEngine {
  return typeof (model as Partial<ModelEngine>).generate === 'function';
}

/** The host's settings, with the module that supports the model, and the model's key for the API's origin. */
function hostFor(config: AgentConfig): HostOptions | Host | undefined {
  const { host, model } = config;
  if (model === undefined || host instanceof Host) return host ?? undefined;
  const engine = isEngine(model) || (model as Partial<EngineOptions>).engine !== undefined;
  const { provider = 'openai', apiKey } = model as Partial<ChatModel>;
  const full = engine || needsFullModule(model as Partial<ChatModel>);
  const key = isAbsent(apiKey)
    ? undefined
    : providerKey(provider, apiKey, [originOf(model as ChatModel)]);
  const own = key && { [API_KEY]: key };
  if (host === undefined) {
    const shared = sharedHost(full ? fullModule() : undefined);
    return own ? shared.withCredentials(own) : shared;
  }
  const settings = { ...host, module: host.module ?? (full ? fullModule() : undefined) };
  return own ? { ...settings, credentials: { ...host.credentials, ...own } } : settings;
}

const modules: { full?: Module } = {};

/** @internal The package's full module, one handle for all runners. */
export function fullModule(): Module {
  return (modules.full ??= loadFullModule());
}

/** @internal The origin of a model's API. */
export function originOf({
  provider = 'openai',
  baseURL = baseURLOf(provider),
}: ChatModel): string {
  try {
    return new URL(resolved(baseURL)!).origin;
  } catch {
    const wrong =
      baseURL === undefined
        ? `provider\` must be one of ${providerNames.join(', ')}`
        : 'baseURL` must be a URL';
    throw TurncoreError.of('E_INVALID_TURN_RUNNER_CONFIG', `\`model.${wrong}`);
  }
}
