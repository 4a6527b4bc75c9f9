/**
 * Agents.
 */
/* eslint-disable @typescript-eslint/no-invalid-void-type -- a function that answers nothing returns void */
import { AgentKind } from '../abi/frames.gen.js';
import type { Awaitable } from '../awaitable.js';
import type { AnyTool, ObjectSchema } from '../tools/tool.js';
import type { GivenContent } from './content.js';
import { type CallbackContext, type InvocationContext, invocationOf } from './contexts.js';
import type { Event, EventData } from './event.js';
import type { AgentModel, AgentRequest, AgentResponse, GivenResponse } from './model.js';
import { invalidMember, isData, requireKnown } from './names.js';
import type { LlmAgentTool, SessionTool } from './tools.js';
import type { ToolParams, ToolSchema } from './tool-params.js';

/** One callback, or several: they are called in order until one answers. */
export type Callbacks<F> = F | readonly F[];

/** A callback around an agent. A content that it gives is the agent's answer, or comes behind it. */
export type AgentCallback = (ctx: CallbackContext) => Awaitable<GivenContent | undefined | void>;

/** A call of a tool, as callbacks see it. */
export interface ToolCallInfo {
  /** The tool's name. */
  readonly tool: string;
  /** The id of the function call. */
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A callback before a model call. An answer that it gives stands for the model's. */
export type BeforeModelCallback = (
  ctx: CallbackContext,
  request: AgentRequest,
) => Awaitable<GivenResponse | undefined | void>;

/** A callback for each answer of a model, and each part of a stream of one. It may give another in its place. */
export type AfterModelCallback = (
  ctx: CallbackContext,
  response: AgentResponse,
) => Awaitable<GivenResponse | undefined | void>;

/**
 * A callback for the failure of a model call: it gets the error that the executor threw, or a `TurncoreError` with a
 * code. An answer that it gives stands for the model's.
 */
export type ModelErrorCallback = (
  ctx: CallbackContext,
  error: Error,
) => Awaitable<GivenResponse | undefined | void>;

/** A callback before a tool runs. A result that it gives stands for the tool's. */
export type BeforeToolCallback = (ctx: CallbackContext, call: ToolCallInfo) => unknown;

/** A callback behind a tool. A result that it gives stands for the tool's. */
export type AfterToolCallback = (
  ctx: CallbackContext,
  call: ToolCallInfo & { readonly result: unknown },
) => unknown;

/** A callback for the failure of a tool. A result that it gives stands for the error. */
export type ToolErrorCallback = (
  ctx: CallbackContext,
  call: ToolCallInfo & { readonly error: string },
) => unknown;

/** What all agents are configured with. */
export interface BaseAgentConfig {
  /** Unique in the tree of agents; neither `user` nor `system`. */
  readonly name: string;
  /** What it can do, for the models of other agents. */
  readonly description?: string | undefined;
  /** The agents below it. An agent has one place in a tree. */
  readonly subAgents?: readonly BaseAgent[] | undefined;
  readonly beforeAgentCallback?: Callbacks<AgentCallback> | undefined;
  readonly afterAgentCallback?: Callbacks<AgentCallback> | undefined;
}

/** @internal Name of the property with an agent's kind. */
export const kindOf = Symbol('kind');

/** @internal Name of the property with an agent's configuration. */
export const configOf = Symbol('config');

/**
 * An agent: it answers in events. A custom one is a class with the generator `runAsyncImpl`, which stands still at each
 * event until that was stored and delivered, and the caller has asked for the next one.
 */
export abstract class BaseAgent {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly BaseAgent[];
  /** @internal */
  readonly [configOf]: BaseAgentConfig;

  /** @throws TurncoreError E_INVALID_AGENT unless it is an object; a runner checks its members */
  constructor(config: BaseAgentConfig) {
    if (!isData(config)) throw invalidMember('config', 'must be an object', 'E_INVALID_AGENT');
    if (!Array.isArray(config.subAgents ?? [])) {
      throw invalidMember('subAgents', 'must be a list', 'E_INVALID_AGENT');
    }
    this.name = config.name;
    this.description = config.description ?? '';
    this.subAgents = [...(config.subAgents ?? [])];
    this[configOf] = config;
  }

  /** @internal */
  get [kindOf](): number {
    return AgentKind.Host;
  }

  /**
   * The events of a custom agent. `yield` gives the event as it was stored; it throws if the event could not be stored.
   * What the generator throws, the caller of the invocation gets.
   */
  // eslint-disable-next-line require-yield -- a subclass yields
  async *runAsyncImpl(_ctx: InvocationContext): AsyncGenerator<EventData, void, Event> {
    throw new TypeError(`the class of agent ${this.name} has no runAsyncImpl`);
  }

  /**
   * Runs the agent for the generator of another one of its tree, and gives its events. They are stored only if the
   * generator yields them. The agent goes on when the next event is asked for.
   */
  runAsync(ctx: InvocationContext): AsyncGenerator<Event, void, undefined> {
    return ctx[invocationOf].runAgent(ctx.run, this);
  }
}

/** The tools of an agent. Each schema types the arguments of the tool that has it. */
export type LlmAgentTools<Schemas> = {
  readonly [At in keyof Schemas]:
    SessionTool<ToolParams<Schemas[At]>, Schemas[At]> | AnyTool | AgentTool;
};

/** What an {@link LlmAgent} is configured with. */
export interface LlmAgentConfig extends BaseAgentConfig {
  /** Its model: options of one behind an API, an engine of the host, or a function that answers. */
  readonly model: AgentModel;
  /**
   * Tells the model what to do. In a text `{name}` stands for a value of the state, which must be there, `{name?}` for
   * one that may be missing.
   */
  readonly instruction?: string | ((ctx: CallbackContext) => Awaitable<string>) | undefined;
  /** An instruction for all models of the tree. Only the root's counts. */
  readonly globalInstruction?: string | ((ctx: CallbackContext) => Awaitable<string>) | undefined;
  readonly tools?: readonly (LlmAgentTool | AgentTool)[] | undefined;
  /** Names of tools whose answers may come later, from outside. */
  readonly longRunningTools?: readonly string[] | undefined;
  /** Names of tools before which a person is asked. */
  readonly confirmTools?: readonly string[] | undefined;
  /** Name in the state for the text of its final answers. */
  readonly outputKey?: string | undefined;
  /** `none`: its model sees the current invocation only. Default: `default`, the whole conversation. */
  readonly includeContents?: 'default' | 'none' | undefined;
  /** Its model cannot hand over to the agent above. Default false. */
  readonly disallowTransferToParent?: boolean | undefined;
  /** Its model cannot hand over to the other agents below the one above. Default false. */
  readonly disallowTransferToPeers?: boolean | undefined;
  readonly beforeModelCallback?: Callbacks<BeforeModelCallback> | undefined;
  readonly afterModelCallback?: Callbacks<AfterModelCallback> | undefined;
  readonly onModelErrorCallback?: Callbacks<ModelErrorCallback> | undefined;
  readonly beforeToolCallback?: Callbacks<BeforeToolCallback> | undefined;
  readonly afterToolCallback?: Callbacks<AfterToolCallback> | undefined;
  readonly onToolErrorCallback?: Callbacks<ToolErrorCallback> | undefined;
}

/**
 * An agent with a model and tools.
 *
 * @typeParam Schemas the schemas of its tools, from which those that are written in place have their arguments' types
 */
export class LlmAgent<
  const Schemas extends readonly unknown[] = readonly ToolSchema[],
> extends BaseAgent {
  declare readonly [configOf]: LlmAgentConfig;

  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- narrows its parameter
  constructor(
    config: Omit<LlmAgentConfig, 'tools'> & { readonly tools?: LlmAgentTools<Schemas> | undefined },
  ) {
    super(config);
  }

  /** @internal */
  override get [kindOf](): number {
    return AgentKind.LLM;
  }
}

/** An agent that runs the agents below it one after another. */
export class SequentialAgent extends BaseAgent {
  /** @internal */
  override get [kindOf](): number {
    return AgentKind.Sequential;
  }
}

/**
 * An agent that runs the agents below it at once. None sees what another does. Each waits until its event was handled,
 * and events come in an order that does not depend on timing. One that fails stops the others, as a caller does who
 * leaves: the signals of their code fire.
 */
export class ParallelAgent extends BaseAgent {
  /** @internal */
  override get [kindOf](): number {
    return AgentKind.Parallel;
  }
}

/** What a {@link LoopAgent} is configured with. */
export interface LoopAgentConfig extends BaseAgentConfig {
  /** The most rounds. Default: no bound. */
  readonly maxIterations?: number | undefined;
}

/** Runs the agents below it again and again, until an event escalates or the bound is reached. Loops around it go on. */
export class LoopAgent extends BaseAgent {
  declare readonly [configOf]: LoopAgentConfig;

  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- narrows its parameter
  constructor(config: LoopAgentConfig) {
    super(config);
  }

  /** @internal */
  override get [kindOf](): number {
    return AgentKind.Loop;
  }
}

/** What an {@link AgentTool} is configured with. */
export interface AgentToolConfig {
  /** The agent, at the root of a tree of its own. */
  readonly agent: BaseAgent;
  /** A JSON Schema of the arguments, which the agent gets as JSON. Default: a text named `request`. */
  readonly inputSchema?: ObjectSchema | undefined;
  /** The result ends the agent whose model has called: no model sees it. Default false. */
  readonly skipSummarization?: boolean | undefined;
}

/** The members of an agent tool's configuration. */
const AGENT_TOOL = ['agent', 'inputSchema', 'skipSummarization'];

/**
 * An agent that a model may call as a tool, by the agent's name and description. It sees the arguments as what the user
 * says, and nothing of the conversation. Its events are neither stored nor delivered: what they change in the state is
 * stored with the result, which is the text of its last answer. It cannot wait for an answer from outside. The option
 * `toolTimeoutMs` of the agent that calls does not bound it: its own model and tools have the bounds of its model's
 * options.
 */
export class AgentTool {
  readonly agent: BaseAgent;
  readonly inputSchema: ObjectSchema | undefined;
  readonly skipSummarization: boolean;

  /** @throws TurncoreError E_INVALID_AGENT, which names the member */
  constructor(config: AgentToolConfig) {
    if (config instanceof BaseAgent) {
      throw invalidMember(
        'config',
        'must have the agent as a member: { agent }',
        'E_INVALID_AGENT',
      );
    }
    requireKnown(config, 'config', AGENT_TOOL, { code: 'E_INVALID_AGENT' });
    const { agent, inputSchema, skipSummarization = false } = config;
    if (!(agent instanceof BaseAgent)) {
      throw invalidMember('agent', 'must be an agent', 'E_INVALID_AGENT');
    }
    this.agent = agent;
    this.inputSchema = inputSchema;
    this.skipSummarization = skipSummarization;
  }

  /** The name of the agent. */
  get name(): string {
    return this.agent.name;
  }

  /** The description of the agent, for the model. */
  get description(): string {
    return this.agent.description;
  }
}
