/**
 * Runs dispatches without a turn, or from a context.
 */
import { dispatchInputRules, rawContextRules } from '../abi/rules.gen.js';
import { Method } from '../abi/frames.gen.js';
import { toDispatchResult } from '../codec/tuples.gen.js';
import { BaseContext } from '../context/base-context.js';
import { stateOf } from '../context/state-of.js';
import type { DispatchContext } from '../context/dispatch-context.js';
import type { DispatchExecutorFn, DispatchPipelineMiddlewareFn } from '../context/functions.js';
import type { TurnContext } from '../context/turn-context.js';
import type { RawTurnGate } from '../context/wait-for.js';
import { uuidv6, UUID_ENTROPY } from '../entropy.js';
import { TurncoreError } from '../errors.js';
import { Bus } from '../events/bus.js';
import type { DispatchStatus, TurnEvents } from '../events/events.js';
import { dispatchStatusOf } from '../events/from-frame.js';
import { isMemory, type Memory } from '../primitives/memory.js';
import { isMessage, type Message } from '../primitives/message.js';
import { isRetrievable, type Retrievable } from '../primitives/retrievable.js';
import { isThought, type Thought } from '../primitives/thought.js';
import { type Tokenizable, toText } from '../primitives/tokenizable.js';
import { isToolCall, type ToolCall } from '../primitives/tool-call.js';
import { type Tokenizer, Tokenizers, tokenizerViolations } from '../primitives/tokenizers.js';
import { type ChatExecutor, toExecutor } from '../chat/chat-executor.js';
import type { ContextState } from '../turn/context-state.js';
import { type Host, hostOf, type HostOptions, hostViolations } from '../host/host.js';
import type { Core } from '../turn/core.js';
import { type MiddlewareFn, toolParts, type Definition } from '../turn/definition.js';
import { Stash, stashViolations } from '../stash/stash.js';
import type { AnyTool } from '../tools/tool.js';
import { callbacksOf, type DispatchCallbacks, type NamedDispatchCallbacks } from './callbacks.js';
import { mixedViolations } from './own-callbacks.js';
import { accepted, inputClasses, SEED } from './turn-runner.js';
import type { ModelWrapper, ToolWrapper, Wrappers } from './wrappers.js';
import { requirePlaces } from '../validation/pipelines.js';
import type { CheckedAs } from '../validation/checked.js';
import { check } from '../validation/rules.js';
import {
  addHandlers,
  type DispatchHooks,
  type DispatchObservers,
  handlerViolations,
} from './dispatch-handlers.js';

/** The context of a standalone dispatch, supplied by the caller. */
export type RawDispatchContext = RawDispatchFields & (DispatchCallbacks | NamedDispatchCallbacks);

/** The input of a standalone dispatch, besides its callbacks. */
export interface RawDispatchFields {
  /** The system prompt. Not empty when it is a string. */
  readonly systemPrompt: string | Tokenizable;
  /** Instructions to the model in addition to it. */
  readonly standingInstructions?: readonly (string | Tokenizable)[] | undefined;
  readonly memories?: readonly Memory[] | undefined;
  readonly retrievables?: readonly Retrievable[] | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly thoughts?: readonly Thought[] | undefined;
  readonly toolCalls?: readonly ToolCall[] | undefined;
  readonly tools?: readonly AnyTool[] | undefined;
  /** Tokenizers by the names of their encodings. */
  readonly tokenizers?: Readonly<Record<string, Tokenizer>> | undefined;
  /** Initial values of the stash. */
  readonly stash?: Readonly<Record<string, unknown>> | undefined;
  /** Aborts the dispatch. Default: its own controller. */
  readonly turnAbortController?: AbortController | undefined;
  /** Called by `ctx.waitFor`, because there is no turn that could wait. Without it gates fail. */
  readonly waitFor?: ((gate: RawTurnGate) => unknown) | undefined;
  /** Handlers called before those of the dispatch's input. */
  readonly hooks?: DispatchHooks | undefined;
}

/** The input of a dispatch: exactly one of source and raw. */
export interface DispatchInput {
  /** The context that the dispatch copies from and commits to. */
  readonly source?: TurnContext | DispatchContext | undefined;
  /** The parts of a context without a parent. */
  readonly raw?: RawDispatchContext | undefined;
  /** The model call, or a {@link ChatExecutor}, which runs inside the module. */
  readonly executor: DispatchExecutorFn | ChatExecutor;
  /** Runs before the executor in every iteration, despite its name. */
  readonly turnInputPipeline?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  /** Runs after the executor in every iteration that it did not nack. */
  readonly turnOutputPipeline?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  /** Run around each call of a tool's handler, the first one outermost; with a source inside those of its turn. */
  readonly wrapTool?: readonly ToolWrapper[] | undefined;
  /** Run around each call of a model, as those of tools do. */
  readonly wrapModel?: readonly ModelWrapper[] | undefined;
  readonly hooks?: DispatchHooks | undefined;
  readonly observers?: DispatchObservers | undefined;
  /** For a raw dispatch: options of its host; or a Host, to share an instance. */
  readonly host?: HostOptions | Host | undefined;
  /** Short for `host: {module}`. */
  readonly module?: HostOptions['module'];
}

/** How a dispatch ended. A nacked dispatch rejects instead. */
export interface DispatchOutcome {
  readonly dispatchId: string;
  readonly status: DispatchStatus;
  /** Number of iterations that ran. */
  readonly iterations: number;
}

/** The classes in the rules of the input and of a raw context. */
const classes = {
  also: (input: Readonly<Record<string, unknown>>) => [
    ...handlerViolations(input),
    ...hostViolations(input),
  ],
  text: toText,
  executor: toExecutor,
  instances: {
    'TurnContext or DispatchContext': (value: unknown) => value instanceof BaseContext,
    ...inputClasses.instances,
    Memory: isMemory,
    Message: isMessage,
    Retrievable: isRetrievable,
    Thought: isThought,
    ToolCall: isToolCall,
  },
};
const rawClasses = {
  ...classes,
  also: (raw: Readonly<Record<string, unknown>>, found: readonly string[]) => {
    const more = [
      ...mixedViolations(raw),
      ...handlerViolations(raw),
      ...stashViolations(raw['stash']),
    ];
    return [...more, ...tokenizerViolations(raw['tokenizers'], [...found, ...more])];
  },
};

/** A checked input. */
type Input = CheckedAs<typeof dispatchInputRules, typeof classes>;

const pipelineNames = { turn: [], input: 'turnInputPipeline', output: 'turnOutputPipeline' };

/** Runs single dispatches: the loop around the calls of a model. */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- its name and form in the contract
export class DispatchRunner {
  private constructor() {
    throw TurncoreError.of('E_INVALID_LLM_DISPATCH_INPUT', 'use DispatchRunner.dispatch');
  }

  /**
   * Runs a dispatch to its end.
   *
   * With `source` it begins with copies of that context's collections, stash and tools, its events also reach that
   * turn's buses, and its writes are committed to that context. With `raw` it has no turn.
   *
   * @returns how it ended, if it acked or was aborted
   * @throws TurncoreError (rejects) before any event with E_INVALID_LLM_DISPATCH_INPUT, E_CALL_AFTER_END or
   *   E_INVALID_LLM_EXECUTION_CONTEXT listing every violation; after a nack with the same error object, after a
   *   failure with the error of `dispatchEnd`
   */
  static async dispatch(input: DispatchInput): Promise<DispatchOutcome> {
    const values = check(dispatchInputRules, input, classes);
    requirePlaces('E_INVALID_LLM_DISPATCH_INPUT', values, pipelineNames);
    const bus = new Bus<TurnEvents>();
    const { source } = values;
    if (source === undefined) return await dispatchRaw(values, bus);
    addHandlers(bus, values);
    return await dispatchFrom(source[stateOf], values, bus);
  }
}

async function dispatchFrom(
  source: ContextState,
  values: Input,
  bus: Bus<TurnEvents>,
): Promise<DispatchOutcome> {
  const { turn } = source;
  if (turn.ended) {
    throw TurncoreError.of('E_CALL_AFTER_END', 'the turn has ended');
  }
  const { wrappers: outer } = turn.definition;
  const { wrapTool, wrapModel } = values as unknown as Wrappers;
  const definition: Definition = {
    executor: values.executor,
    ...toolParts([]),
    pipelines: pipelines(values),
    wrappers: {
      wrapTool: [...outer.wrapTool, ...wrapTool],
      wrapModel: [...outer.wrapModel, ...wrapModel],
    },
    callbacks: turn.definition.callbacks,
    tokenizers: turn.definition.tokenizers,
  };
  const runner = turn.core.openRunner(definition);
  try {
    turn.core.recordRunner(turn, definition);
    const reply = await turn.opening(definition, bus, () =>
      turn.callLater(source.number, Method.Dispatch, { runner }),
    );
    const { dispatch, status, iterations } = toDispatchResult(reply);
    return {
      dispatchId: turn.dispatchId(dispatch),
      status: dispatchStatusOf(status),
      iterations,
    };
  } finally {
    turn.core.closeRunner(definition);
  }
}

async function dispatchRaw(values: Input, bus: Bus<TurnEvents>): Promise<DispatchOutcome> {
  const raw = check(rawContextRules, values.raw, rawClasses);
  addHandlers(bus, { hooks: raw.hooks }, values);
  const { host: given, module } = values;
  const host = hostOf(given, module);
  const definition: Definition = {
    executor: values.executor,
    ...toolParts(raw.tools),
    pipelines: pipelines(values),
    wrappers: values as unknown as Wrappers,
    callbacks: callbacksOf(raw, ''),
    tokenizers: new Tokenizers(raw.tokenizers, 'E_INVALID_LLM_EXECUTION_CONTEXT'),
  };
  const core = host.ready(definition) ?? (await host.acquire(definition));
  const id = uuidv6(host.clock(), host.entropy(UUID_ENTROPY));
  try {
    const turn = startRaw(core, host, definition, id, raw, bus);
    const { status, iterations, error } = accepted(await turn.done);
    if (error !== undefined) throw error as Error;
    return {
      dispatchId: turn.dispatchId(1),
      status: status === 'failed' || status === 'refused' ? 'nack' : status,
      iterations,
    };
  } finally {
    core.closeRunner(definition);
  }
}

function startRaw(
  core: Core,
  host: Host,
  definition: Definition,
  id: string,
  raw: CheckedAs<typeof rawContextRules, typeof rawClasses>,
  bus: Bus<TurnEvents>,
): ReturnType<Core['start']> {
  return core.start(
    {
      definition,
      http: host.http,
      id,
      standalone: true,
      systemPrompt: raw.systemPrompt,
      instructions: raw.standingInstructions,
      stash: new Stash(raw.stash).share(),
      initial: [[], raw.memories, raw.retrievables, raw.messages, raw.thoughts, raw.toolCalls],
      dispatchBus: bus,
      bus: undefined,
      tap: undefined,
      controller: raw.turnAbortController,
      gates: undefined,
      waitFor: raw.waitFor as ((gate: unknown) => unknown) | undefined,
    },
    host.entropy(SEED),
    undefined,
    (core, number) => host.recorder(id, core, number),
  );
}

function pipelines(values: Input): readonly (readonly MiddlewareFn[])[] {
  return [[], [], values.turnInputPipeline, values.turnOutputPipeline];
}
