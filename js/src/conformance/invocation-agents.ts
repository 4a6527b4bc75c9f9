/**
 * Agents, models, tools and callbacks of a scenario of invocations.
 */
import {
  type ActionsData,
  type AgentRequest,
  type AgentResponse,
  AgentTool,
  BaseAgent,
  type CallbackContext,
  type Compaction,
  type Content,
  type Event,
  type EventData,
  type InvocationContext,
  LlmAgent,
  type LlmAgentConfig,
  LoopAgent,
  type ModelFunction,
  ParallelAgent,
  type Part,
  type Plugin,
  SequentialAgent,
  type SessionTool,
  type State,
  type ToolContext,
} from '../entries/sessions.js';
import { type Lines, plain, plainEvent } from './invocation-lines.js';
import type {
  Act,
  AgentSpec,
  AnswerSpec,
  Hooks,
  InvocationScenario,
  Operation,
} from './invocation-scenario.js';
import { odd, oddEvent } from './invocation-odd.js';
import { Malformed } from './scenario.js';

/** What agents of a scenario need of its play. */
export interface InvocationStage {
  readonly scenario: InvocationScenario;
  readonly lines: Lines;
  /** Loads the session and writes what it has. */
  load(by: string): Promise<void>;
  /** Aborts the run. */
  abort(): void;
}

/** What the agents of a scenario have used and done, in whichever process. */
export class Counts {
  /** Uses of models, tools, hooks and scripts. */
  readonly used = new Map<string, number>();
  /** Of calls. */
  ids = 0;
  toolsEnded = 0;
}

/** The agents of a scenario, in a process. */
export class Cast {
  readonly #stage: InvocationStage;
  readonly #counts: Counts;
  readonly #made = new Map<string, BaseAgent>();
  readonly #waiting = new Set<() => void>();

  constructor(stage: InvocationStage, counts: Counts) {
    this.#stage = stage;
    this.#counts = counts;
  }

  /** Makes an agent, once: a tool of several agents is one. */
  agent(name: string): BaseAgent {
    const made = this.#made.get(name) ?? this.#agent(this.#spec(name));
    this.#made.set(name, made);
    return made;
  }

  plugins(): Plugin[] {
    return (this.#stage.scenario.plugins ?? []).map(({ name, hooks }) => {
      const plugin: Record<string, unknown> = { name };
      for (const hook of Object.keys(hooks)) {
        plugin[hook] = (ctx: CallbackContext, given?: object) =>
          this.#called(name, hooks, hook, hook === 'onEvent' ? plainEvent(given!) : given, ctx);
      }
      return plugin as unknown as Plugin;
    });
  }

  /** What the scenario says of summaries. */
  compaction(): Compaction | undefined {
    const { compaction } = this.#stage.scenario;
    if (compaction === undefined) return undefined;
    const { summaries, ...bounds } = compaction;
    const { lines } = this.#stage;
    const summarize = (_: CallbackContext, { parts = [] }: Content): Content => {
      lines.write('summaries', { told: parts.map(({ text = '' }) => text) });
      const n = this.#next('summaries');
      const act = summaries![n];
      if (act === undefined) throw new Error(`there is no summary ${n + 1}`);
      if (act.fail !== undefined) throw new Error(act.fail);
      return act.value as Content;
    };
    return {
      ...bounds,
      ...(summaries !== undefined && { summarize }),
      onError: (_, { message }) => lines.write('summaries', { unsummed: message }),
    };
  }

  #spec(name: string): AgentSpec {
    const spec = this.#stage.scenario.agents.find((agent) => agent.name === name);
    if (spec === undefined) throw new Malformed(`there is no agent ${name}`);
    return spec;
  }

  #agent(spec: AgentSpec): BaseAgent {
    const { name, kind, description, hooks = {} } = spec;
    const around = (hook: string): object =>
      hooks[hook] === undefined
        ? {}
        : {
            [`${hook}Callback`]: (ctx: CallbackContext) =>
              this.#called(name, hooks, hook, undefined, ctx),
          };
    const config = {
      name,
      description,
      subAgents: (spec.agents ?? []).map((child) => this.agent(child)),
      ...around('beforeAgent'),
      ...around('afterAgent'),
    };
    switch (kind) {
      case 'llm':
        return new LlmAgent({ ...config, ...this.#model(spec) });
      case 'sequential':
        return new SequentialAgent(config);
      case 'parallel':
        return new ParallelAgent(config);
      case 'loop':
        return new LoopAgent({ ...config, maxIterations: spec.maxIterations });
      case 'script':
        return new ScriptAgent(config, (ctx) => this.#script(spec, ctx));
      default:
        throw new Malformed(`there is no kind ${kind}`);
    }
  }

  #model(spec: AgentSpec): Omit<LlmAgentConfig, 'name'> {
    const { name, hooks = {} } = spec;
    const callbacks: Record<string, unknown> = {};
    for (const hook of Object.keys(hooks)) {
      const shown = SHOWN[hook];
      if (shown === undefined) continue;
      callbacks[`${hook}Callback`] = (ctx: CallbackContext, given: unknown) =>
        this.#called(name, hooks, hook, shown(given), ctx);
    }
    const names = Object.keys(spec.tools ?? {}).sort();
    return {
      instruction:
        hooks['instruction'] === undefined
          ? spec.instruction
          : (ctx) => this.#called(name, hooks, 'instruction', undefined, ctx),
      globalInstruction: spec.globalInstruction,
      outputKey: spec.outputKey,
      includeContents: spec.includeContents,
      longRunningTools: spec.longRunning,
      confirmTools: spec.confirm,
      disallowTransferToParent: spec.disallowTransferToParent,
      disallowTransferToPeers: spec.disallowTransferToPeers,
      model: this.#answers(spec),
      tools: [
        ...names.map((tool) => this.#tool(spec, tool)),
        ...(spec.agentTools ?? []).map(
          ({ agent, ...more }) => new AgentTool({ agent: this.agent(agent), ...more }),
        ),
      ],
      ...callbacks,
    };
  }

  /** A model that gives the answers of a list. */
  #answers({ name, model = [] }: AgentSpec): ModelFunction {
    return async function* (this: Cast, request: AgentRequest) {
      const n = this.#next(`${name} model`);
      const given = model[n];
      if (given === undefined) throw new Error(`the model of ${name} has no answer ${n + 1}`);
      for (const answer of listOf(given)) {
        if (typeof answer === 'object' && answer.hold === true) await hold(request.signal);
        const response = this.#answer(name, answer, request);
        if (response !== undefined) yield response;
      }
    }.bind(this);
  }

  #answer(agent: string, spec: AnswerSpec, request: AgentRequest): AgentResponse | undefined {
    const of = typeof spec === 'string' ? { text: spec } : spec;
    const says = (...parts: Part[]): AgentResponse => ({ content: { role: 'model', parts } });
    if (of.part !== undefined) return { ...says({ text: of.part }), partial: true };
    if (of.thought !== undefined) {
      return { ...says({ text: of.thought, thought: true }), partial: true };
    }
    if (of.fail !== undefined) throw new Error(of.fail);
    if (of.response !== undefined) return oddEvent(of.response);
    if (of.see !== undefined) {
      const { instructions, contents } = request;
      const asked = of.see === 'instructions' ? { instructions } : { contents };
      this.#stage.lines.write(agent, { request: agent, ...asked });
      return undefined;
    }
    const parts: Part[] = [];
    if (of.text !== undefined || of.calls === undefined) parts.push({ text: of.text ?? '' });
    for (const call of of.calls ?? []) {
      const { name, id, args = {} } = typeof call === 'string' ? { name: call } : call;
      parts.push({ functionCall: { id: id ?? `c${++this.#counts.ids}`, name, args } });
    }
    return says(...parts);
  }

  #tool(spec: AgentSpec, name: string): SessionTool {
    const list = spec.tools![name]!;
    const { hooks = {}, confirmHook = [] } = spec;
    const confirm = (args: unknown, ctx: object): unknown =>
      this.#called(spec.name, hooks, 'confirm', args, ctx as CallbackContext);
    const tool = {
      name,
      description: 'a tool',
      runAsync: async (args: unknown, ctx: ToolContext) => {
        const act = list[Math.min(this.#next(`${spec.name} tool ${name}`), list.length - 1)]!;
        const { functionCallId: id } = ctx;
        const by = id === '' ? name : `${name} ${id}`;
        this.#stage.lines.write(by, { tool: name, args });
        if (this.#stage.scenario.fault === undefined) await this.#await(act.wait ?? 0);
        try {
          await this.#act(by, act, ctx);
          return odd(act.result);
        } finally {
          this.#counts.toolsEnded++;
          for (const tell of this.#waiting) tell();
        }
      },
      ...(confirmHook.includes(name) && { requireConfirmation: confirm }),
    };
    return tool as unknown as SessionTool;
  }

  /** Waits until so many tools have ended. */
  async #await(n: number): Promise<void> {
    while (this.#counts.toolsEnded < n) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Writes that a callback is called, and does what it does. @returns what it answers; undefined for nothing */
  async #called(
    by: string,
    hooks: Hooks,
    hook: string,
    given: unknown,
    ctx: CallbackContext,
  ): Promise<never> {
    this.#stage.lines.write(by, { hook, of: by, ...(given !== undefined && { with: given }) });
    const act = hooks[hook]![this.#next(`${by} ${hook}`)];
    if (act === undefined || act === null) return undefined as never;
    await this.#act(by, act, ctx);
    return odd(act.value) as never;
  }

  /** Does what an act says, but for what it answers. */
  async #act(by: string, act: Act, ctx: CallbackContext | ToolContext): Promise<void> {
    set(ctx.state, act.state ?? {});
    this.#see(by, ctx.state, act.see ?? []);
    for (const [name, words] of sorted(act.save ?? {})) {
      const data = new TextEncoder().encode(words as string);
      const version = await ctx.saveArtifact(name, {
        inlineData: { mimeType: 'text/plain', data },
      });
      this.#stage.lines.write(by, { saved: name, version });
    }
    const { stateDelta, ...flags } = odd(act.actions ?? {}) as ActionsData;
    Object.assign(ctx.actions, flags);
    Object.assign(ctx.actions.stateDelta, stateDelta);
    if (act.abort === true) this.#stage.abort();
    if (act.fail !== undefined) throw new Error(act.fail);
  }

  /** Writes a line with values of the state. */
  #see(by: string, state: State, names: readonly string[]): void {
    if (names.length === 0) return;
    const values = Object.fromEntries(names.map((name) => [name, state[name] ?? null]));
    const [who] = by.split(' '); // without the id of a call
    this.#stage.lines.write(by, { saw: who, values });
  }

  async *#script(
    { name, script = [] }: AgentSpec,
    ctx: InvocationContext,
  ): AsyncGenerator<EventData, void, Event> {
    const run = this.#next(`${name} script`);
    const operations = script[run];
    if (operations === undefined) throw new Error(`the script of ${name} has no run ${run + 1}`);
    const says: string[] = [];
    try {
      for (const operation of operations) {
        if (operation.finally !== undefined) says.unshift(operation.finally);
        else yield* this.#operate(name, operation, ctx);
      }
    } finally {
      for (const words of says) this.#stage.lines.write(name, { says: words });
    }
  }

  async *#operate(
    name: string,
    operation: Operation,
    ctx: InvocationContext,
  ): AsyncGenerator<EventData, void, Event> {
    const { lines } = this.#stage;
    const { state } = ctx.session;
    if (operation.yield !== undefined) yield oddEvent(operation.yield);
    else if (operation.set !== undefined) set(state, operation.set);
    else if (operation.see !== undefined) this.#see(name, state, operation.see);
    else if (operation.load === true) await this.#stage.load(name);
    else if (operation.message === true) lines.write(name, { message: plain(ctx.userContent) });
    else if (operation.fail !== undefined) throw new Error(operation.fail);
    else if (operation.hold === true) await hold(ctx.abortSignal);
    else if (operation.run !== undefined) {
      for await (const event of this.agent(operation.run).runAsync(ctx)) yield event;
    }
  }

  /** Counts the uses of a list, from 0. */
  #next(what: string): number {
    const n = this.#counts.used.get(what) ?? 0;
    this.#counts.used.set(what, n + 1);
    return n;
  }
}

/** Waits until nobody wants what comes next. */
async function hold(signal: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  throw signal.reason;
}

/** A custom agent that is a generator. */
class ScriptAgent extends BaseAgent {
  readonly #run: (ctx: InvocationContext) => AsyncGenerator<EventData, void, Event>;

  constructor(
    config: ConstructorParameters<typeof BaseAgent>[0],
    run: (ctx: InvocationContext) => AsyncGenerator<EventData, void, Event>,
  ) {
    super(config);
    this.#run = run;
  }

  override runAsyncImpl(ctx: InvocationContext): AsyncGenerator<EventData, void, Event> {
    return this.#run(ctx);
  }
}

/** What lines show of what callbacks get. */
const SHOWN: Readonly<Record<string, (given: unknown) => unknown>> = {
  beforeModel: () => undefined,
  afterModel: (response) => plainEvent(response as object),
  onModelError: (error) => (error as Error).message,
  beforeTool: (call) => call,
  afterTool: (call) => call,
  onToolError: (call) => call,
};

function listOf(given: AnswerSpec | readonly AnswerSpec[]): readonly AnswerSpec[] {
  return Array.isArray(given) ? (given as readonly AnswerSpec[]) : [given as AnswerSpec];
}

function sorted(members: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
}

function set(state: State, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of sorted(values)) state[name] = odd(value);
}
