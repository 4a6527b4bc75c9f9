/**
 * Loads agents that other people wrote, and grants each exactly what it needs.
 */
import type { ChatOptions } from '../chat/options.gen.js';
import type { ModelEngine } from '../chat/model-engine.js';
import { providerKey } from '../chat/providers.js';
import { ChatExecutor, type EngineOptions } from '../chat/chat-executor.js';
import { UUID_ENTROPY, uuidv6 } from '../entropy.js';
import { invalidValue, isTurncoreError, messageOf, TurncoreError } from '../errors.js';
import { errorJSON } from '../events/error-json.js';
import { checkConfig } from '../front/agent-config.js';
import {
  type AgentConfig,
  type AgentInput,
  AgentRunner,
  type AgentSettings,
  type ChatModel,
} from '../front/create-runner.js';
import { Host, type HostOptions } from '../host/host.js';
import type { Credential } from '../http/credential.js';
import type { LoadedModule } from '../instance/loaded-module.js';
import { Module } from '../instance/module.js';
import type { ModuleSource } from '../instance/source.js';
import { type Fuel, meteredModule } from '../metering/module.js';
import type { StepRecorder } from '../journal/writer.js';
import type { TurnResult, TurnStream } from '../runners/turn-stream.js';
import type { Store } from '../store/store.js';
import type { Core } from '../turn/core.js';
import type { AnyTool } from '../tools/tool.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import { agentError } from '../agent-errors.js';
import { agentExecutor, type ModelAt } from './executor.js';
import { type Grant, type GrantCredential, quotaOf, requireGranted } from './grant.js';
import { Guard } from './guard.js';
import { type Manifest, requireSame } from './manifest.js';
import { openAgent, type OpenedAgent } from './opened-agent.js';
import { requireOptions } from './options.js';
import { describe, opened, toolsOf } from './opening.js';
import { memberPath } from './schema.js';
import { type Endpoint, endpointOf, routed } from './route.js';
import { type WorkerAgent, type WorkerAgentOptions, workerAgentOf } from './worker-agent.js';

/** A model that a grant names: one behind an API, or one that the host runs itself, with its options or without. */
export type GrantedModel = ChatModel | ModelEngine | EngineOptions;

/** What an agent is granted, and what the grant only names. Without options nothing is granted. */
export interface AgentOptions {
  /** What the agent may do. Without one, an agent that asks for something is refused. */
  readonly grant?: Grant | undefined;
  /** The program's tools. The agent gets those that the grant names, and no others. */
  readonly tools?: readonly AnyTool[] | undefined;
  /** The program's stores, by the names in the grant. */
  readonly stores?: Readonly<Record<string, Store>> | undefined;
  /** The granted store that keeps the agent's conversations: needed where the grant names more than one. */
  readonly store?: string | undefined;
  /** Makes a model that the grant names, with the key for it. */
  readonly model?: ((provider: string, name: string) => GrantedModel | undefined) | undefined;
  /** Returns the secret of a credential. Default: from the environment or a file, as the grant says. */
  readonly secret?: ((credential: GrantCredential) => string | undefined) | undefined;
  /** Options of the agent's own host, such as its clock; what the grant decides is not among them. */
  readonly host?: Omit<HostOptions, 'module' | 'credentials' | 'allowedOrigins'> | undefined;
  /** The agent's own options, which fit the schema in its manifest. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Bounds on what the module's code may do. */
  readonly fuel?: Fuel | undefined;
  /** Bytes of the largest file. Default {@link MAX_AGENT_BYTES}. */
  readonly maxBytes?: number | undefined;
  /** See {@link WorkerAgentOptions}. */
  readonly worker?: undefined;
}

/** What the names of credentials with keys of models begin with: no grant can name one with a space. */
const MODEL_KEY = 'model ';

/**
 * Loads an agent, metered, with what its grant gives it. Nothing of it runs before the grant was found to have what it
 * asks for.
 *
 * With `worker` it runs in workers that load it, and the page goes on whatever it does; without, in this thread.
 *
 * @param file a URL or path, a response or bytes; a WebAssembly.Module must have been made of what `meterAgent`
 * returned
 * @throws TurncoreError (rejects) E_INVALID_VALUE for options that are unknown or wrong; E_AGENT_TOO_LARGE;
 *   E_INVALID_MODULE for anything but a Turncore module; E_ABI_VERSION for another major version; E_AGENT_MANIFEST;
 *   E_AGENT_GRANT for a grant that breaks a rule, is for another agent or names what the program lacks;
 *   E_AGENT_NOT_GRANTED listing everything that the agent asks for and the grant lacks
 */
export async function loadAgent(
  file: ModuleSource,
  options: WorkerAgentOptions,
): Promise<WorkerAgent>;
export async function loadAgent(file: ModuleSource, options?: AgentOptions): Promise<Agent>;
export async function loadAgent(
  file: ModuleSource,
  options: AgentOptions | WorkerAgentOptions = {},
): Promise<Agent | WorkerAgent> {
  requireOptions(options);
  const opened = await openAgent(file, options);
  return options.worker === undefined ? agentOf(opened, options) : workerAgentOf(opened, options);
}

/** Makes an agent of a file that was opened, in this thread. */
async function agentOf({ source, manifest }: OpenedAgent, options: AgentOptions): Promise<Agent> {
  const { grant, fuel } = options;
  if (manifest.options === null && !isAbsent(options.options)) {
    throw invalidValue('options', `the agent ${manifest.name} has none`);
  }
  const granted = grantedOf(manifest, grant ?? { agent: manifest.name }, options);
  const guard = new Guard(quotaOf(grant), grant?.log?.bytesPerTurn ?? 0);
  const host = new GuardedHost(guard, {
    ...options.host,
    module: new GuardedModule(source, meteredModule(source, fuel), guard),
    credentials: granted.credentials,
    allowedOrigins: granted.origins,
    fetch: granted.fetch,
  });
  const said = describe((await host.acquire()).instance);
  requireHonest(manifest, said);
  if (said !== undefined) {
    const opening = { options: options.options ?? null, models: granted.models };
    guard.complete = (batch) => opened(batch, manifest, opening);
  }
  return new Agent(manifest, grant ?? { agent: manifest.name }, host, guard, granted);
}

/** @throws TurncoreError E_AGENT_MANIFEST for a manifest that says something else than the module */
function requireHonest(manifest: Manifest, said: string | undefined): void {
  if (said !== undefined) requireSame(manifest, said);
  else if (
    manifest.executor ||
    manifest.options !== null ||
    manifest.tools.length + manifest.middleware.length > 0
  ) {
    throw agentError(
      'E_AGENT_MANIFEST',
      'the module is no agent: it brings none of what the manifest lists',
    );
  }
}

/** An agent with its grant. */
export class Agent {
  readonly manifest: Manifest;
  readonly grant: Grant;
  /** Runs the agent's turns, and enforces its grant. */
  readonly host: Host;
  readonly #guard: Guard;
  readonly #granted: Granted;

  /** @internal */
  constructor(manifest: Manifest, grant: Grant, host: Host, guard: Guard, granted: Granted) {
    this.manifest = manifest;
    this.grant = grant;
    this.host = host;
    this.#guard = guard;
    this.#granted = granted;
  }

  /**
   * Makes a runner of the agent. It has what the agent was granted of the program's tools, models and stores; what the
   * program adds to it here, it gives to the agent. A module without an agent inside, such as the core with a manifest,
   * calls the first model that it asks for, and needs an executor if the grant names none.
   *
   * @throws TurncoreError E_INVALID_TURN_RUNNER_CONFIG listing every violation
   */
  createRunner(
    config: Omit<AgentSettings, 'host'> & Pick<Partial<AgentConfig>, 'executor'> = {},
  ): AgentRunner {
    if (!isObject(config)) checkConfig(config); // which refuses it
    const { tools, store, model, engines, others } = this.#granted;
    const { executor: given, ...settings } = config;
    const executor = given ?? undefined;
    if (!isAbsent((settings as { host?: unknown }).host)) {
      const why = '`host` cannot be given: the agent has its own';
      throw TurncoreError.of('E_INVALID_TURN_RUNNER_CONFIG', why);
    }
    if (executor !== undefined && this.#guard.complete !== undefined) {
      const why = '`executor` cannot be given: the agent decides what happens in a turn';
      throw TurncoreError.of('E_INVALID_TURN_RUNNER_CONFIG', why);
    }
    const added = settings.tools ?? [];
    const listed: boolean = Array.isArray(added);
    const common = {
      ...settings,
      tools: listed ? [...tools, ...added, ...toolsOf(this.manifest)] : added,
      store: settings.store ?? store,
      host: this.host,
    };
    if (executor === undefined && model === undefined && this.#guard.complete === undefined) {
      const why =
        '`executor` must be given: the module has no agent inside, and its grant names no model';
      throw TurncoreError.of('E_INVALID_TURN_RUNNER_CONFIG', why);
    }
    const chat = model && agentExecutor(model, engines, others);
    // The module's own executor takes the place of what stands here.
    const full = { ...common, executor: executor ?? chat ?? replaced };
    return new GuardedRunner(full, this.#guard, this.host);
  }
}

/** Stands for the executor of an agent, which is in the module. */
const replaced = (): never => {
  throw TurncoreError.of('E_CHAT_INVALID_OPTIONS', 'the executor is in the module');
};

/** A runner whose turns are aborted when they exceed their quota. */
class GuardedRunner extends AgentRunner {
  readonly #guard: Guard;
  readonly #own: Host;

  constructor(config: AgentConfig, guard: Guard, host: Host) {
    super(config);
    this.#guard = guard;
    this.#own = host;
  }

  override async run(input: AgentInput): Promise<void> {
    if (!isObject(input)) return super.run(input); // which refuses it
    const { held, leave } = this.#held(input);
    try {
      await super.run(held);
    } finally {
      leave();
    }
  }

  override stream(input: AgentInput): TurnStream {
    if (!isObject(input)) return super.stream(input);
    const { held, leave } = this.#held(input);
    try {
      const stream = super.stream(held);
      void stream.result.then(leave);
      const { signal } = held.turnAbortController!;
      const { log } = stream;
      const close = log.close.bind(log);
      log.close = (end) => close(withLimit(end, signal.reason));
      const result = stream.result.then((ended) => withLimit(ended, signal.reason));
      return Object.defineProperty(stream, 'result', { value: result });
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** The input with an id and a controller, by which the guard finds its turn. */
  #held(input: AgentInput): { held: AgentInput; leave: () => void } {
    const { clock, entropy } = this.#own;
    const turnId = input.turnId ?? uuidv6(clock(), entropy(UUID_ENTROPY));
    const controller = input.turnAbortController ?? new AbortController();
    return {
      held: { ...input, turnId, turnAbortController: controller },
      leave: this.#guard.enter(turnId, controller),
    };
  }
}

/** A turn's result, with the limit for which it was aborted as its error. */
function withLimit<T extends TurnResult>(result: T, reason: unknown): T {
  if (result.status !== 'aborted' || !isTurncoreError(reason) || reason.code !== 'E_AGENT_LIMIT') {
    return result;
  }
  const toJSON = (): Record<string, unknown> => ({ ...result.toJSON(), error: errorJSON(reason) });
  return Object.defineProperty({ ...result, error: reason }, 'toJSON', { value: toJSON });
}

/** A host whose journals have what goes into the module and comes out. */
class GuardedHost extends Host {
  readonly #guard: Guard;

  constructor(guard: Guard, options: HostOptions) {
    super(options);
    this.#guard = guard;
  }

  override recorder(id: string, core: Core, turn: number): StepRecorder | undefined {
    const recorder = super.recorder(id, core, turn);
    return recorder && this.#guard.recorder(core.instance, recorder);
  }
}

/** A module whose instances are watched. Agents of one file share what it is compiled to. */
class GuardedModule extends Module {
  readonly #module: Module;
  readonly #guard: Guard;

  constructor(source: ModuleSource, module: Module, guard: Guard) {
    super(source);
    this.#module = module;
    this.#guard = guard;
  }

  override use(Class: typeof LoadedModule): LoadedModule {
    const loaded = this.#module.use(Class);
    const watched: Pick<LoadedModule, 'compile' | 'hash' | 'instantiateSync'> = {
      compile: (most) => loaded.compile(most),
      hash: () => loaded.hash(),
      instantiateSync: (options) => this.#guard.watch(loaded.instantiateSync(options)),
    };
    return watched as LoadedModule;
  }

  override fetchEarly(): void {
    // It is read already.
  }
}

/** What an agent gets. */
interface Granted {
  readonly tools: readonly AnyTool[];
  readonly store: Store | undefined;
  /** That of a runner whose executor is the module's chat executor. */
  readonly model: ChatOptions | EngineOptions | undefined;
  /** The models that the host runs itself, by the names by which the module is told of them. */
  readonly engines: ReadonlyMap<string, ModelEngine>;
  /** The models behind an API. */
  readonly others: readonly ModelAt[];
  /** Options of the chat executor, by the agent's names for its models. */
  readonly models: Readonly<Record<string, unknown>>;
  readonly credentials: Readonly<Record<string, Credential>>;
  readonly origins: readonly string[];
  readonly fetch: typeof fetch;
}

/** Looks up what a grant names. @throws TurncoreError E_AGENT_GRANT listing what the program lacks */
function grantedOf({ asks, tools: own }: Manifest, grant: Grant, options: AgentOptions): Granted {
  const list: string[] = [];
  const lacks = (field: string, why: string): void => void list.push(`\`${field}\`: ${why}`);
  const tools: AnyTool[] = [];
  (grant.tools ?? []).forEach((name, i) => {
    const field = `tools[${i}]`;
    const [tool, another] =
      options.tools?.filter((other: AnyTool | undefined) => other?.name === name) ?? [];
    if (own.some((other) => other.name === name)) {
      lacks(field, `the agent brings a tool ${name} itself`);
    } else if (tool === undefined) lacks(field, `the program has no tool ${name}`);
    else if (another !== undefined) lacks(field, `the program has more than one tool ${name}`);
    else tools.push(tool);
  });
  const stores = options.stores ?? {};
  (grant.stores ?? []).forEach((name, i) => {
    if (!Object.hasOwn(stores, name)) lacks(`stores[${i}]`, `the program has no store ${name}`);
  });
  const kept = options.store ?? grant.stores?.[0];
  if (options.store !== undefined && grant.stores?.includes(options.store) !== true) {
    lacks('stores', `the option store says ${options.store}, which is not among them`);
  } else if (options.store === undefined && (grant.stores ?? []).length > 1) {
    const names = grant.stores!.join(', ');
    lacks('stores', `the option store must say which of ${names} keeps the conversations`);
  }
  const credentials: Record<string, Credential> = {};
  const others: ModelAt[] = [];
  const models: Record<string, unknown> = {};
  const engines = new Map<string, ModelEngine>();
  const first = asks.models?.[0]?.name;
  let main: Granted['model'];
  for (const asked of Object.keys(grant.models ?? {}).sort()) {
    const field = memberPath('models', asked);
    const named = grant.models![asked]!;
    const given = modelOf(named, options.model);
    if ('lacks' in given) {
      lacks(field, given.lacks);
      continue;
    }
    let model: ChatOptions | EngineOptions;
    let at: Endpoint | undefined;
    if ('generate' in given || 'engine' in given) {
      model = 'generate' in given ? { engine: given } : given;
    } else {
      const { apiKey, ...chat } = given;
      const { provider = 'openai' } = chat;
      const { origin } = endpointOf(chat, undefined).base;
      const key = apiKey === undefined ? undefined : providerKey(provider, apiKey, [origin]);
      const credential = MODEL_KEY + asked;
      if (key !== undefined) credentials[credential] = key;
      at = endpointOf(chat, key);
      model = key === undefined ? chat : { ...chat, credential };
    }
    const { options: told, engine } = new ChatExecutor(model);
    const { model: name } = told;
    if (engine !== undefined && (engines.get(name) ?? engine) !== engine) {
      lacks(field, `another of its models has the name ${name}: give this one a name of its own`);
    }
    if (engine !== undefined) engines.set(name, engine);
    if (at !== undefined) others.push([told, at]);
    models[asked] = told;
    if (asked === first) main = model;
  }
  (grant.credentials ?? []).forEach((credential, i) => {
    if (credential.name === MODEL_KEY.trim()) {
      lacks(`credentials[${i}].name`, "it is the name of a model's own key");
      return;
    }
    const value = secretOf(credential, options.secret);
    const why = typeof value === 'string' ? unusable(value) : value.lacks;
    if (why === undefined) credentials[credential.name] = credentialOf(credential, value as string);
    else lacks(`credentials[${i}].from`, why);
  });
  requireGranted(list);
  const origins = grant.http?.origins ?? [];
  const endpoints = others.map(([, at]) => at);
  return {
    tools,
    store: kept === undefined ? undefined : stores[kept],
    model: main,
    engines,
    others,
    models,
    credentials,
    origins: [...origins, ...endpoints.map(({ base }) => base.origin)].filter((o) => o !== 'null'),
    fetch: routed(options.host?.fetch ?? ((input, init) => fetch(input, init)), origins, endpoints),
  };
}

/** Why there is no such thing. */
interface Lacking {
  readonly lacks: string;
}

/** A model that a grant names, or why there is none. */
function modelOf(named: string, make: AgentOptions['model']): GrantedModel | Lacking {
  const slash = named.indexOf('/');
  let made: unknown;
  try {
    made = make?.(named.slice(0, slash), named.slice(slash + 1));
  } catch (error) {
    return { lacks: messageOf(error) };
  }
  if (isAbsent(made)) return { lacks: `the program has no model ${named}` };
  if (!isObject(made)) return { lacks: 'the option model must return an object' };
  if (typeof made['then'] === 'function') {
    return { lacks: 'the option model must return a model, not a promise' };
  }
  return made as unknown as GrantedModel;
}

/** A secret, or why there is none. */
function secretOf(credential: GrantCredential, find: AgentOptions['secret']): string | Lacking {
  if (find !== undefined) {
    try {
      const value: unknown = find(credential);
      if (typeof value === 'string') return value;
      if (!isAbsent(value)) return { lacks: 'the option secret must return a text' };
    } catch (error) {
      return { lacks: messageOf(error) };
    }
    return { lacks: 'the program has no such secret' };
  }
  const { env, file } = credential.from;
  if (env !== undefined) {
    const value = globalThis.process?.env[env] ?? '';
    return value === '' ? { lacks: `the variable ${env} is not set` } : value;
  }
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  if (fs === undefined) return { lacks: 'there are no files here' };
  try {
    const value = fs.readFileSync(file!, 'utf8').trim();
    return value === '' ? { lacks: `the file ${file} is empty` } : value;
  } catch (error) {
    return { lacks: messageOf(error) };
  }
}

/** Size of the shortest secret, in bytes: a shorter one cannot be told from ordinary text. */
const MIN_SECRET = 8;

/** Why a secret cannot be sent, or not be kept from the agent; undefined for nothing. */
function unusable(secret: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- it looks for them
  if (/[\0-\x08\x0a-\x1f\x7f\u0100-\uffff]/.test(secret)) {
    return 'the secret has a character that no header may have, such as the end of a line';
  }
  return new TextEncoder().encode(secret.trim()).length < MIN_SECRET
    ? `the secret has less than ${MIN_SECRET} bytes, too few to be taken out of what comes back`
    : undefined;
}

function credentialOf(credential: GrantCredential, secret: string): Credential {
  const { header = 'authorization', origins } = credential;
  const { scheme = header.toLowerCase() === 'authorization' ? 'Bearer' : '' } = credential;
  return { header, value: scheme === '' ? secret : `${scheme} ${secret}`, origins };
}
