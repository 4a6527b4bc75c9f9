/**
 * Runs turns.
 */
import { turnInputRules, turnRunnerConfigRules } from '../abi/rules.gen.js';
import { attempt, rejected } from '../attempt.js';
import { type Awaitable, isThenable } from '../awaitable.js';
import {
  type AnyRecord,
  History,
  type HistoryKind,
  type RecordOfKind,
} from '../collections/history.js';
import type {
  DispatchExecutorFn,
  DispatchPipelineMiddlewareFn,
  TurnPipelineMiddlewareFn,
} from '../context/functions.js';
import { uuidv6, UUID_ENTROPY } from '../entropy.js';
import type { TurncoreError } from '../errors.js';
import type { TurnEvent } from '../events/events.js';
import { Media } from '../primitives/media.js';
import { Message, toMessage } from '../primitives/message.js';
import { type Tokenizable, toText } from '../primitives/tokenizable.js';
import { type Tokenizer, Tokenizers, tokenizerViolations } from '../primitives/tokenizers.js';
import { ChatExecutor, toExecutor } from '../chat/chat-executor.js';
import { type Host, hostOf, type HostOptions, hostViolations } from '../host/host.js';
import type { Core } from '../turn/core.js';
import { type Definition, toolParts } from '../turn/definition.js';
import type { Outcome } from '../turn/turn.js';
import type { ModelWrapper, ToolWrapper, Wrappers } from './wrappers.js';
import { Stash, stashViolations } from '../stash/stash.js';
import { isTool } from '../tools/is-tool.js';
import type { AnyTool } from '../tools/tool.js';
import { requirePlaces } from '../validation/pipelines.js';
import type { CheckedAs } from '../validation/checked.js';
import { isAbortController } from '../validation/field-kinds.js';
import { check, type Classes, phrase } from '../validation/rules.js';
import { callbacksOf, type TurnCallbacks } from './callbacks.js';
import { mixedViolations } from './own-callbacks.js';
import type { OutputSchema } from '../output/output.js';
import { Owner } from './owner.js';
import { PastTurns } from './past-turns.js';
import { RunnerEvents } from './runner-events.js';
import { TurnStream } from './turn-stream.js';

/** The configuration of a {@link TurnRunner}. */
export interface TurnRunnerConfig<Output = unknown> extends TurnCallbacks {
  /** The model call, or a {@link ChatExecutor}, which runs inside the module. */
  readonly executorCallback: DispatchExecutorFn | ChatExecutor<Output>;
  /** Tools available in every turn. */
  readonly tools?: readonly AnyTool[] | undefined;
  /** Runs once per turn, before the dispatch. */
  readonly turnInputPipeline?: readonly TurnPipelineMiddlewareFn[] | undefined;
  /** Runs once per turn, after a dispatch that acked. */
  readonly turnOutputPipeline?: readonly TurnPipelineMiddlewareFn[] | undefined;
  /** Runs before the executor in every iteration. */
  readonly dispatchInputPipeline?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  /** Runs after the executor in every iteration that it did not nack. */
  readonly dispatchOutputPipeline?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  /** Older name of dispatchInputPipeline. */
  readonly llmInputMiddleware?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  /** Older name of dispatchOutputPipeline. */
  readonly llmOutputMiddleware?: readonly DispatchPipelineMiddlewareFn[] | undefined;
  /** Run around each call of a tool's handler, the first one outermost. */
  readonly wrapTool?: readonly ToolWrapper[] | undefined;
  /** Run around each call of a model, the first one outermost. */
  readonly wrapModel?: readonly ModelWrapper[] | undefined;
  /**
   * Tokenizers by the names of their encodings: `{ o200k_base: (texts) => texts.map((t) => encode(t).length) }`.
   * Encodings without one are estimated by the length of texts.
   */
  readonly tokenizers?: Readonly<Record<string, Tokenizer>> | undefined;
  /** Options of the turns' host; or a Host, to share one instance among runners. */
  readonly host?: HostOptions | Host | undefined;
  /** Short for `host: {module}`. */
  readonly module?: HostOptions['module'];
}

/** The input of a turn. */
export interface TurnInput {
  /** The system prompt. Not empty when it is a string. */
  readonly systemPrompt: string | Tokenizable;
  /** Instructions to the model in addition to it. */
  readonly standingInstructions?: readonly (string | Tokenizable)[] | undefined;
  /** Aborts the turn. Default: the turn's own controller. */
  readonly turnAbortController?: AbortController | undefined;
  /** Initial values of the turn's stash. */
  readonly stash?: Readonly<Record<string, unknown>> | undefined;
  /** A user message, stored before the input pipeline runs. */
  readonly message?: string | Message | undefined;
  /** Pictures and files to send with a text message, or alone. A Message has its own. */
  readonly attachments?: readonly Media[] | undefined;
  /** The turn's id. Starting a turn whose id is already running attaches to the running turn. Default: a UUID. */
  readonly turnId?: string | undefined;
}

/** A checked input. */
type Input = CheckedAs<typeof turnInputRules, typeof inputClasses>;

/** A running turn, or one about to run. */
interface Live {
  readonly id: string;
  readonly outcome: Promise<Outcome>;
  readonly stream: TurnStream<never> | undefined;
  /** The request that runs it, if the turn ends with it. */
  readonly owner: Owner | undefined;
}

/** @internal The pipelines of a configuration. */
export const pipelineNames = {
  turn: ['turnInputPipeline', 'turnOutputPipeline'],
  input: 'dispatchInputPipeline',
  output: 'dispatchOutputPipeline',
};

/** Bytes of entropy for a turn. */
export const SEED = 16;

/** The classes in the rules of the configuration and of the input. */
const classes = {
  text: toText,
  message: toMessage,
  executor: toExecutor,
  instances: {
    Tool: isTool,
    Media: (value: unknown) => value instanceof Media,
    AbortController: isAbortController,
  },
};
const configClasses = {
  ...classes,
  also: (config: Readonly<Record<string, unknown>>, found: readonly string[]) => {
    const more = [...mixedViolations(config), ...hostViolations(config)];
    return [...more, ...tokenizerViolations(config['tokenizers'], [...found, ...more])];
  },
};
/** @internal The classes in the rules of a turn's input. */
export const inputClasses = {
  ...classes,
  also: (input: Readonly<Record<string, unknown>>) => [
    ...stashViolations(input['stash']),
    ...((input['attachments'] ?? null) !== null && input['message'] instanceof Message
      ? [phrase('hasItsOwn', { field: 'attachments', type: 'Message' })]
      : []),
  ],
} satisfies Classes;

/**
 * Runs turns: input pipeline, dispatch, output pipeline. It holds no state of a turn, so any number may run at once.
 */
export class TurnRunner<Output = unknown> extends RunnerEvents {
  readonly #definition: Definition;
  readonly #host: Host;
  readonly #live = new Map<string, Live>();
  /** Turns whose request is gone. */
  readonly #past = new PastTurns();
  readonly #histories = new Map<string, History>();

  /**
   * Checks everything and loads nothing, so it may be called before a module is available.
   *
   * @throws TurncoreError E_INVALID_TURN_RUNNER_CONFIG listing every violation
   */
  constructor(config: TurnRunnerConfig) {
    super();
    const values = check(turnRunnerConfigRules, config, configClasses);
    requirePlaces('E_INVALID_TURN_RUNNER_CONFIG', values, pipelineNames);
    this.#definition = {
      executor: values.executorCallback,
      ...toolParts(values.tools),
      pipelines: [
        values.turnInputPipeline,
        values.turnOutputPipeline,
        values.dispatchInputPipeline,
        values.dispatchOutputPipeline,
      ],
      wrappers: values as unknown as Wrappers,
      callbacks: callbacksOf(values, 'Callback'),
      tokenizers: new Tokenizers(values.tokenizers, 'E_INVALID_TURN_RUNNER_CONFIG'),
    };
    this.#host = hostOf(values.host, values.module);
  }

  /** The host of its turns. Pass it to other runners to share the instance. */
  get host(): Host {
    return this.#host;
  }

  /**
   * Runs a turn. Resolves when it has ended, however it ended; events report what happened.
   *
   * @throws TurncoreError (rejects) before any event: E_INVALID_TURN_CONTEXT listing every violation of the input,
   *   E_TOOL_ALREADY_REGISTERED, or the reason why the module could not start
   */
  async run(input: TurnInput): Promise<void> {
    accepted(await this.#begin(check(turnInputRules, input, inputClasses), false).outcome);
  }

  /**
   * Runs a turn and yields its events as they come, those of both buses in order. Leaving the loop aborts the turn.
   *
   * @throws TurncoreError E_INVALID_TURN_CONTEXT listing every violation of the input
   */
  stream(input: TurnInput): TurnStream<Output> {
    return this.#begin(check(turnInputRules, input, inputClasses), true).stream!;
  }

  /**
   * A list of records that turns share, created at the first call: `ctx.turnMessages.addAll(history)` takes the same
   * small time, however long the list.
   *
   * @param kind its kind of record
   * @param id identifies a history among those of its kind
   */
  history<K extends HistoryKind>(kind: K, id = ''): History<RecordOfKind[K]> {
    const key = `${kind} ${id}`;
    let history = this.#histories.get(key);
    if (history === undefined) {
      history = new History<AnyRecord>(kind);
      this.#histories.set(key, history);
    }
    return history as unknown as History<RecordOfKind[K]>;
  }

  /** Releases a history made by {@link history}. */
  forgetHistory(kind: HistoryKind, id = ''): void {
    this.#histories.delete(`${kind} ${id}`);
  }

  /**
   * The creation time of a user message given as text, in ms since the Unix epoch.
   *
   * @param stash the initial values of the turn's stash
   * @param given the turn's id, if it was given
   * @internal
   */
  protected messageTime(
    now: number,
    _stash: Readonly<Record<string, unknown>>,
    _given: string | undefined,
  ): Awaitable<number> {
    return now;
  }

  /**
   * Waits until a turn may start.
   *
   * @param stash the initial values of the turn's stash
   * @param signal is aborted if the turn is not to wait any longer
   * @returns what is called at its end
   * @internal
   */
  protected enter(
    _stash: Readonly<Record<string, unknown>>,
    _signal: AbortSignal | undefined,
  ): Awaitable<() => void> | undefined {
    return undefined;
  }

  #begin(input: Input, streamed: boolean): Live {
    const given = input.turnId;
    if (given !== undefined) {
      this.#past.collect(this.#live, given);
      const running = this.#live.get(given);
      if (running !== undefined) return this.#attach(running);
      const gone = this.#past.find(given);
      if (gone !== undefined) return this.#refused(given, gone);
    }

    const core = this.#host.ready(this.#definition);
    const aborter = input.turnAbortController ?? (streamed ? new AbortController() : undefined);
    let stream: TurnStream<never> | undefined;
    const tap =
      streamed || given !== undefined ? (event: TurnEvent) => stream?.push(event) : undefined;
    if (tap !== undefined) {
      stream = new TurnStream<never>(() => aborter?.abort(), this.#schema);
    }
    const outcome = attempt(() => this.#start(core, input, given, aborter, tap));
    stream?.follow(outcome);
    const owner = given === undefined ? undefined : new Owner(stream!);
    const live: Live = { id: given ?? '', outcome, stream, owner };
    if (given !== undefined) {
      this.#live.set(given, live);
      const forget = (): void => {
        if (owner?.abandoned !== true) this.#live.delete(given);
      };
      outcome.then(forget, forget);
    }
    return live;
  }

  get #schema(): OutputSchema<never> | undefined {
    const { executor } = this.#definition;
    return executor instanceof ChatExecutor ? (executor.schema as OutputSchema<never>) : undefined;
  }

  /** A turn that does not run. */
  #refused(id: string, error: TurncoreError): Live {
    const stream = new TurnStream<never>(() => undefined, this.#schema);
    const outcome = rejected<Outcome>(error);
    stream.follow(outcome);
    return { id, outcome, stream, owner: undefined };
  }

  /** A running turn for one who asks for it again: one of another request, where that must not be touched. */
  #attach(live: Live): Live {
    const { owner, stream: source } = live;
    if (owner?.bound !== true || source === undefined) return live;
    const abort = (): void => void owner.run(() => source.abort()).catch(() => undefined);
    const stream = new TurnStream<never>(abort, this.#schema);
    const outcome = owner.follow((event) => stream.push(event));
    stream.follow(outcome);
    return { ...live, outcome, stream };
  }

  /** Starts a turn as soon as it may. @param core what runs it, if that is ready */
  #start(core: Core | undefined, ...given: Given): Promise<Outcome> {
    const [input, , controller] = given;
    const host = this.#host;
    const run = (running: Core, leave: (() => void) | undefined): Promise<Outcome> => {
      const outcome = attempt(() => this.#run(running, ...given));
      if (leave !== undefined) outcome.then(leave, leave);
      return outcome;
    };
    const later = async (leave: (() => void) | undefined): Promise<Outcome> => {
      let running: Core;
      try {
        // The instance may have ended, or filled up, in the meantime.
        running = host.ready(this.#definition) ?? (await host.acquire(this.#definition));
      } catch (error) {
        leave?.();
        throw error;
      }
      return run(running, leave);
    };
    const entered = this.enter(input.stash, controller?.signal);
    if (isThenable(entered)) return Promise.resolve(entered).then(later);
    return core === undefined ? later(entered) : run(core, entered);
  }

  #run(core: Core, ...[input, given, controller, tap]: Given): Promise<Outcome> {
    const host = this.#host;
    const id = given ?? uuidv6(host.clock(), host.entropy(UUID_ENTROPY));
    const seed = host.entropy(SEED);
    const open = (running: Core, created: number): Promise<Outcome> =>
      this.#open(running, input, { id, seed, created, controller, tap });
    const created = this.messageTime(host.clock(), input.stash, given);
    if (typeof created === 'number') return open(core, created);
    return Promise.resolve(created).then(async (at) => {
      // The instance may have ended, or filled up, in the meantime.
      return open(host.ready() ?? (await host.acquire()), at);
    });
  }

  #open(
    core: Core,
    input: Input,
    { id, seed, created, controller, tap }: Opening,
  ): Promise<Outcome> {
    const host = this.#host;
    const turn = core.start(
      {
        definition: this.#definition,
        http: host.http,
        id,
        standalone: false,
        systemPrompt: input.systemPrompt,
        instructions: input.standingInstructions,
        stash: new Stash(input.stash).share(),
        initial: [],
        dispatchBus: undefined,
        bus: this.bus,
        tap,
        controller,
        gates: this.openGates,
        waitFor: undefined,
      },
      seed,
      messageOf(input, id, created),
      (running, number) => host.recorder(id, running, number),
    );
    const { recorder } = turn;
    if (recorder === undefined) return turn.done;
    return turn.done.then(async (outcome) => {
      await recorder.close();
      return outcome;
    });
  }
}

/** What a turn is started with: its input, the id that was given, its controller, and who gets its events. */
type Given = [
  input: Input,
  given: string | undefined,
  controller: AbortController | undefined,
  tap: ((event: TurnEvent) => void) | undefined,
];

/** What a turn is opened with, beside its input. */
interface Opening {
  readonly id: string;
  readonly seed: Uint8Array;
  /** When a user message that is given as text was created, in ms since the Unix epoch. */
  readonly created: number;
  readonly controller: AbortController | undefined;
  readonly tap: ((event: TurnEvent) => void) | undefined;
}

/** Returns how a turn ended. @throws the error that rejected it */
export function accepted(outcome: Outcome): Outcome {
  if (outcome.status === 'refused') throw outcome.error;
  return outcome;
}

function messageOf(
  { message, attachments }: Input,
  turnId: string,
  created: number,
): Message | undefined {
  if (message instanceof Message || (message === undefined && attachments === undefined)) {
    return message;
  }
  return new Message({
    id: `${turnId}.user`,
    role: 'user',
    content: message,
    attachments,
    createdAt: created,
    updatedAt: created,
  });
}
