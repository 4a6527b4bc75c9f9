/**
 * A tree of agents with the plugins around it, as the module is told of it.
 */
import { AgentKind, Hook } from '../abi/frames.gen.js';
import { ChatExecutor } from '../chat/chat-executor.js';
import { providerKey } from '../chat/providers.js';
import type { Encoder, Write } from '../codec/encoder.js';
import { readErrorValue, type Shown, writeOpenAgents } from '../codec/tuples.gen.js';
import { type ChatModel, executorOf, originOf } from '../front/create-runner.js';
import type { Credential } from '../http/credential.js';
import { Tokenizers } from '../primitives/tokenizers.js';
import { invocationError } from '../session-errors.js';
import type { Core } from '../turn/core.js';
import { asError } from '../turn/error-table.js';
import type { Turn } from '../turn/turn.js';
import { type Callbacks as TurnCallbacks, type Definition, toolParts } from '../turn/definition.js';
import type { AnyTool, ToolDescription } from '../tools/tool.js';
import {
  AgentTool,
  type BaseAgent,
  configOf,
  kindOf,
  type LlmAgentConfig,
  type LoopAgentConfig,
} from './agents.js';
import { checkTeam } from './checks.js';
import { type Compaction, compactionHooks } from './compaction.js';
import { contentOf, textOf } from './content.js';
import type { CallbackContext } from './contexts.js';
import { type EventData, eventValue, revive } from './event.js';
import { executorFor, AgentRequest, responseOf } from './model.js';
import type { AgentInfo, OpenInvocation } from './contract.js';
import { hasNames } from './names.js';
import type { Plugin } from './plugin.js';
import { type LlmAgentTool, type SessionTool, toolOf } from './tools.js';

/** A call of host code at a hook. */
export interface HookCall {
  readonly turn: Turn;
  readonly invocation: OpenInvocation;
  /** The number of the model call that it is about; 0 for none. */
  readonly context: number;
  /** What the hook gets. */
  readonly value: unknown;
}

/** Host code at a hook: calls a function, and gives its answer as the module takes it. */
type Callback = (ctx: CallbackContext, call: HookCall) => unknown;

/** An agent of a team. */
export interface Member {
  readonly number: number;
  readonly agent: BaseAgent;
  readonly children: readonly number[];
  /** Of an agent with a model. */
  readonly definition: Definition | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** Callbacks by hook. */
  readonly hooks: readonly (readonly Callback[])[];
  /** What its model is told of its tools, once the module has been asked. */
  tools?: readonly ToolDescription[] | undefined;
}

/** The names of hooks, in a plugin and in an agent, by number. The ones of plugins alone have no second name. */
const NAMES: readonly (readonly [plugin: string, agent?: string])[] = [
  ['onUserMessage'],
  ['beforeRun'],
  ['afterRun'],
  ['onEvent'],
  ['beforeAgent', 'beforeAgentCallback'],
  ['afterAgent', 'afterAgentCallback'],
  ['beforeModel', 'beforeModelCallback'],
  ['afterModel', 'afterModelCallback'],
  ['onModelError', 'onModelErrorCallback'],
  ['beforeTool', 'beforeToolCallback'],
  ['afterTool', 'afterToolCallback'],
  ['onToolError', 'onToolErrorCallback'],
];

/** The names of the other hooks. */
const OTHER_NAMES: Readonly<Record<number, string>> = {
  [Hook.Instruction]: 'instruction',
  [Hook.GlobalInstruction]: 'globalInstruction',
  [Hook.Confirm]: 'confirm',
  [Hook.Summary]: 'summarize',
  [Hook.SummaryError]: 'onError',
};

/** The name of a hook, in errors. */
export function hookName(hook: number): string {
  return OTHER_NAMES[hook] ?? NAMES[hook]![0];
}

/** How a function at a hook is called, and what is made of its answer. */
const CALLS: Readonly<
  Record<number, readonly [input: (call: HookCall) => unknown, answer: (given: never) => unknown]>
> = {
  [Hook.UserMessage]: [({ value }) => value, contentOf],
  [Hook.BeforeRun]: [nothing, modelContent],
  [Hook.AfterRun]: [nothing, nothing],
  [Hook.Event]: [({ value }) => revive(value as EventData), eventValue],
  [Hook.BeforeAgent]: [nothing, modelContent],
  [Hook.AfterAgent]: [nothing, modelContent],
  [Hook.BeforeModel]: [requestOf, responseOf],
  [Hook.AfterModel]: [({ value }) => value, responseOf],
  [Hook.ModelError]: [errorOf, responseOf],
  [Hook.BeforeTool]: [({ value }) => value, same],
  [Hook.AfterTool]: [({ value }) => value, same],
  [Hook.ToolError]: [({ value }) => value, same],
  [Hook.Summary]: [({ value }) => value, summaryOf],
  [Hook.SummaryError]: [errorOf, nothing],
};

type AnyFunction = (...args: unknown[]) => unknown;

/** Host code that calls a function at a hook. @param plugin the name of the plugin whose function it is */
function callbackOf(hook: number, run: AnyFunction, plugin = ''): Callback {
  const [input, answer] = CALLS[hook]!;
  return async (ctx, call) => {
    const given = await run(ctx, input(call));
    if (given === undefined || given === null) return undefined;
    const wanted = answer === eventValue ? 'an event' : 'a text or an object';
    const isAny = answer === same || answer === nothing;
    if (!isAny && !hasNames(given) && (typeof given !== 'string' || answer === eventValue)) {
      throw wrongAnswer(hookName(hook), `must be ${wanted}`, ctx.agentName, plugin);
    }
    return answer(given as never);
  };
}

/** E_INVALID_EVENT of what a hook has answered, as the module has it. @param plugin "" for a hook of the agent */
function wrongAnswer(field: string, why: string, agent: string, plugin: string): Error {
  const whose = plugin === '' ? `agent "${agent}"` : `plugin "${plugin}"`;
  return invocationError('E_INVALID_EVENT', `${field}: ${why} (${whose})`, { details: { field } });
}

/** A tool of an agent. @throws TurncoreError E_INVALID_AGENT for a wrong definition */
function toolWith(agent: BaseAgent, tool: LlmAgentTool): AnyTool {
  try {
    return toolOf(tool);
  } catch (cause) {
    const whose = `agent "${agent.name}", tool ${JSON.stringify(tool.name)}`;
    const why = `${whose}: ${(cause as Error).message}`;
    throw invocationError('E_INVALID_AGENT', why, { cause, details: [why] });
  }
}

/** What agents do not use of a definition. */
const NO_WRITE = [unused, unused, unused] as const;
const CALLBACKS: TurnCallbacks = {
  writes: Array.from({ length: 6 }, () => NO_WRITE),
  replaceToolCallGroup: undefined,
  commit: undefined,
  own: undefined,
  discard: undefined,
  storeMediaBytes: unused,
  storeRetrievableBytes: unused,
  fetches: Array.from({ length: 7 }, () => unused),
};

function definitionOf(
  executor: Definition['executor'],
  tools: readonly AnyTool[],
  all: readonly AnyTool[],
): Definition {
  return {
    executor,
    ...toolParts(tools),
    toolNumbers: new Map(all.map((tool, i) => [tool, i + 1])),
    pipelines: [[], [], [], []],
    callbacks: CALLBACKS,
    tokenizers: new Tokenizers({}, 'E_INVALID_VALUE'),
    wrappers: { wrapTool: [], wrapModel: [] },
  };
}

/** A tree of agents with the plugins around it. */
export class Team {
  readonly appName: string;
  readonly members: readonly Member[];
  readonly plugins: readonly Plugin[];
  /** Of the invocations themselves: it has the tools of all agents. */
  readonly definition: Definition;
  /** Keys of models, by the names of their credentials. */
  readonly credentials: Readonly<Record<string, Credential>>;
  /** Whether an instruction may have values of the state. */
  readonly instructsFromState: boolean;
  readonly #hooks: readonly ReadonlyMap<number, Callback>[];
  readonly #numbers = new Map<AgentInfo, number>();
  /** Its numbers in instances. */
  readonly #opened = new WeakMap<Core, number>();

  /** @throws TurncoreError E_INVALID_AGENT */
  constructor(
    appName: string,
    root: BaseAgent,
    plugins: readonly Plugin[],
    compaction: Compaction | undefined,
  ) {
    checkTeam(
      appName,
      root,
      plugins,
      NAMES.map(([name]) => name),
    );
    this.appName = appName;
    this.plugins = plugins;
    const agents: BaseAgent[] = [];
    const add = (agent: BaseAgent): void => {
      if (this.#numbers.has(agent)) {
        throw invocationError('E_INVALID_AGENT', `agent ${agent.name} has two places in the tree`);
      }
      this.#numbers.set(agent, agents.push(agent));
      agent.subAgents.forEach(add);
    };
    add(root);
    for (const agent of agents) {
      // Agents that are tools follow, and theirs.
      for (const { agent: tool } of agentTools(agent)) if (!this.#numbers.has(tool)) add(tool);
    }
    const models = agents.filter((agent) => agent[kindOf] === AgentKind.LLM);
    const toolsOf = new Map(
      models.map((agent) => [
        agent,
        handled(agent[configOf] as LlmAgentConfig).map((tool) => toolWith(agent, tool)),
      ]),
    );
    const all = [...toolsOf.values()].flat();
    const credentials: Record<string, Credential> = {};
    this.members = agents.map((agent, i) => {
      const tools = toolsOf.get(agent);
      const executor =
        tools && modelOf(agent[configOf] as LlmAgentConfig, `apiKey${i + 1}`, credentials);
      return {
        number: i + 1,
        agent,
        children: agent.subAgents.map((child) => this.#numbers.get(child)!),
        definition: executor && definitionOf(executor, tools, all),
        options: optionsOf(agent, this.#numbers),
        hooks: hooksOf(agent),
      };
    });
    for (const [hook, run] of compaction === undefined ? [] : compactionHooks(compaction)) {
      (this.members[0]!.hooks as Callback[][])[hook] =
        run === undefined ? [] : [callbackOf(hook, run as AnyFunction)];
    }
    this.definition = definitionOf(unused, all, all);
    this.credentials = credentials;
    this.instructsFromState = this.members.some(({ options: { instruction, globalInstruction } }) =>
      `${instruction as string} ${globalInstruction as string}`.includes('{'),
    );
    this.#hooks = plugins.map(
      (plugin) =>
        new Map(
          NAMES.flatMap(([name], hook) => {
            const run = (plugin as unknown as Record<string, AnyFunction | undefined>)[name];
            if (run === undefined) return [];
            return [[hook, callbackOf(hook, run.bind(plugin), plugin.name)] as const];
          }),
        ),
    );
  }

  /** The agent of a number. */
  member(number: number): Member | undefined {
    return this.members[number - 1];
  }

  /** The number of an agent. @throws TurncoreError E_INVALID_AGENT */
  numberOf(agent: AgentInfo): number {
    const number = this.#numbers.get(agent);
    if (number !== undefined) return number;
    throw invocationError('E_INVALID_AGENT', `agent ${agent.name} is not in the tree of agents`);
  }

  /** Host code at a hook of a plugin (from 1), or of an agent. */
  callback(hook: number, plugin: number, agent: number, index: number): Callback | undefined {
    if (plugin > 0) return this.#hooks[plugin - 1]?.get(hook);
    return this.member(agent)?.hooks[hook]?.[index];
  }

  /**
   * What is kept of what the models of agents were shown, as the module is told of it.
   *
   * @param kept of an agent's name
   */
  shown(kept: (agent: string) => Pick<Shown, 'have' | 'mark'>): Shown[] {
    const shown: Shown[] = [];
    for (const { number, agent, definition, tools } of this.members) {
      if (definition === undefined) continue;
      const { have, mark } = kept(agent.name);
      if (have === 0 && tools === undefined) continue;
      shown.push({ agent: number, have, mark, tools: tools !== undefined });
    }
    return shown;
  }

  /** The number of the team in an instance, which is told of it if necessary. @throws the refusal */
  open(core: Core): number {
    const open = this.#opened.get(core);
    if (open !== undefined) return open;
    const runners = this.members.map(({ definition }) =>
      definition === undefined ? 0 : core.keepRunner(definition),
    );
    const runner = core.keepRunner<Team>(this, this.#opening(runners));
    this.#opened.set(core, runner);
    return runner;
  }

  /** Begins the journal of an invocation with what opens the team. */
  record(core: Core, invocation: Turn): void {
    let first = true;
    const runners = this.members.map(({ definition }) => {
      if (definition === undefined) return 0;
      core.recordRunner(invocation, definition, first);
      first = false;
      return core.keepRunner(definition);
    });
    core.recordRunner(invocation, this, first, this.#opening(runners));
  }

  #opening(runners: readonly number[]) {
    return (enc: Encoder, runner: number, call: number): void => {
      writeOpenAgents(enc, {
        runner,
        call,
        app: this.appName,
        root: 1,
        agents: this.members.map(({ number, agent, children, options, hooks }, i) => ({
          number,
          kind: agent[kindOf],
          name: agent.name,
          description: agent.description,
          runner: runners[i]!,
          children,
          options: valueOf(options, `agent ${agent.name}`),
          hooks: hooks.map(({ length }) => length),
        })),
        plugins: this.plugins.map(({ name }, i) => ({
          name,
          hooks: [...this.#hooks[i]!.keys()].reduce((bits, hook) => bits | (1 << hook), 0),
        })),
      });
    };
  }
}

function valueOf(value: object, field: string): Write | null {
  return Object.keys(value).length === 0 ? null : (enc: Encoder) => enc.value(value, field);
}

/** The executor of an agent's model. Its key goes under the name of a credential. */
function modelOf(
  { model }: LlmAgentConfig,
  name: string,
  credentials: Record<string, Credential>,
): Definition['executor'] {
  if (typeof model === 'function') return executorFor(model);
  if (model instanceof ChatExecutor) return model;
  const { apiKey, ...options } = model as ChatModel;
  if (apiKey === undefined) return executorOf({ model });
  const { provider = 'openai' } = options;
  credentials[name] = providerKey(provider, apiKey, [originOf(model as ChatModel)]);
  return executorOf({ model: { ...options, credential: name } });
}

/** The tools of an agent that have handlers. */
function handled({ tools }: LlmAgentConfig): LlmAgentTool[] {
  return (tools ?? []).filter((tool) => !(tool instanceof AgentTool)) as LlmAgentTool[];
}

/** Those that are agents. */
function agentTools(agent: BaseAgent): AgentTool[] {
  const { tools } = agent[configOf] as LlmAgentConfig;
  return (tools ?? []).filter((tool) => tool instanceof AgentTool);
}

/** The options of an agent as the module takes them. */
function optionsOf(
  agent: BaseAgent,
  numbers: ReadonlyMap<AgentInfo, number>,
): Record<string, unknown> {
  const config = agent[configOf] as LlmAgentConfig & LoopAgentConfig;
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' ? value : undefined;
  const named = (
    names: readonly string[] | undefined,
    chosen: (tool: SessionTool) => boolean,
  ): string[] | undefined => {
    const tools = handled(config) as readonly SessionTool[];
    const list = [...(names ?? []), ...tools.filter(chosen).map(({ name }) => name)];
    return list.length === 0 ? undefined : list;
  };
  const others = agentTools(agent).map(({ agent: tool, inputSchema, skipSummarization }) => ({
    agent: numbers.get(tool),
    ...(inputSchema !== undefined && { inputSchema }),
    skipSummarization,
  }));
  const all: Record<string, unknown> = {
    agentTools: others.length === 0 ? undefined : others,
    instruction: text(config.instruction),
    globalInstruction: text(config.globalInstruction),
    outputKey: config.outputKey,
    includeContents: config.includeContents,
    disallowTransferToParent: config.disallowTransferToParent,
    disallowTransferToPeers: config.disallowTransferToPeers,
    longRunning: named(config.longRunningTools, (tool) => tool.isLongRunning === true),
    confirm: named(config.confirmTools, (tool) => tool.requireConfirmation === true),
    confirmHook: named(undefined, (tool) => typeof tool.requireConfirmation === 'function'),
    maxIterations: config.maxIterations,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** Host code at the hooks of an agent. */
function hooksOf(agent: BaseAgent): Callback[][] {
  const config = agent[configOf] as unknown as Record<string, unknown>;
  const hooks = NAMES.map(([, name], hook) => {
    const given = name === undefined ? undefined : config[name];
    const list = Array.isArray(given)
      ? given
      : given === undefined || given === null
        ? []
        : [given];
    return (list as AnyFunction[]).map((run) => callbackOf(hook, run));
  });
  const { instruction, globalInstruction } = config as unknown as LlmAgentConfig;
  const tools = handled(config as unknown as LlmAgentConfig);
  hooks[Hook.Instruction] = instructionHook(instruction);
  hooks[Hook.GlobalInstruction] = instructionHook(globalInstruction);
  const confirms = tools.some(
    (tool) => typeof (tool as SessionTool).requireConfirmation === 'function',
  );
  hooks[Hook.Confirm] = confirms ? [(ctx, { value }) => confirm(tools as never, ctx, value)] : [];
  return hooks;
}

function instructionHook(given: LlmAgentConfig['instruction']): Callback[] {
  return typeof given === 'function' ? [(ctx) => given(ctx)] : [];
}

/** Asks the predicate of a tool whether a person is asked before it runs. */
function confirm(tools: readonly SessionTool[], ctx: CallbackContext, value: unknown): unknown {
  const { tool: name, args } = value as { readonly tool: string; readonly args: unknown };
  const ask = tools.find((tool) => tool.name === name)?.requireConfirmation;
  return typeof ask === 'function' ? ask(args as never, ctx) : ask;
}

/** The error that a hook is told of: the one that host code threw, or one with the code of the module's. */
function errorOf({ turn, value }: HookCall): Error {
  return asError(turn.errors.decode(turn.core.read(value as Uint8Array, readErrorValue)));
}

function requestOf({ invocation, context }: HookCall): AgentRequest {
  return new AgentRequest(invocation, context, invocation.root);
}

function modelContent(given: Parameters<typeof contentOf>[0]): object {
  return contentOf(given, 'model');
}

/** A summary, if it says anything: one without a text stands for no events. */
function summaryOf(given: Parameters<typeof contentOf>[0]): object | undefined {
  const content = contentOf(given, 'model');
  return textOf(content) === '' ? undefined : content;
}

function same(value: unknown): unknown {
  return value;
}

function nothing(): undefined {
  return undefined;
}

function unused(): never {
  throw new Error('an agent stores nothing by itself');
}
