/**
 * The helpers of an executor.
 */
import { Feature, Method, Stream } from '../abi/frames.gen.js';
import { invalidValue } from '../errors.js';
import type { GenerationStats } from '../events/events.js';
import type { ContextState } from '../turn/context-state.js';
import { wholeDelta } from '../turn/whole-text.js';
import {
  booleanOf,
  interruptedOf,
  optionalString,
  requireObject,
  requireString,
} from './arguments.js';
import { suggest } from '../validation/suggest.js';
import { type Logger, makeLogger } from './log.js';
import { requireOptions } from './options.js';

/** Settings of reportMessage and reportThought. */
export interface ReportOptions {
  /** Whether this is the stream's last delta, which seals the stream. Default false. */
  readonly isComplete?: boolean | undefined;
  /** The stream was interrupted: its text is incomplete. Only with `isComplete: true`. Default false. */
  readonly isInterrupted?: boolean | undefined;
}

/** A report of a tool call. Omitted fields keep their value. */
export interface ToolCallReport {
  /** Name of the tool. */
  readonly tool?: string | undefined;
  readonly args?: unknown;
  /** The result: any value. It stays on the host. */
  readonly results?: unknown;
  readonly isError?: boolean | undefined;
  /** The execution that gave the results. */
  readonly executionId?: string | undefined;
  /** The provider's id of the call. */
  readonly providerCallId?: string | undefined;
  /** Whether this is the last report, which seals the call. Default false. */
  readonly isComplete?: boolean | undefined;
}

/**
 * The helpers of an executor, one object per dispatch. The functions notify listeners before they return and store
 * nothing: `ctx.storeMessage` and similar methods store. They need no `this`, so you can destructure them.
 */
export class DispatchExecutorHelpers {
  /**
   * Adds a delta to a message stream. The first report of an id opens the stream.
   *
   * @param id names the stream within the dispatch
   * @param aDelta the new text, not the text so far
   * @throws Error a plain one if the stream is sealed; TurncoreError E_CALL_AFTER_END, E_INVALID_VALUE
   */
  readonly reportMessage: (id: string, aDelta: string, options?: ReportOptions) => void;
  /** Like {@link reportMessage}, for the model's reasoning. Ids of message and thought streams are separate. */
  readonly reportThought: (id: string, aDelta: string, options?: ReportOptions) => void;
  /**
   * Reports a tool call: announced, filled in, completed.
   *
   * @param id names the call within the dispatch
   * @throws Error a plain one if the call is sealed; TurncoreError E_CALL_AFTER_END, E_INVALID_VALUE
   */
  readonly reportToolCall: (id: string, report: ToolCallReport) => void;
  /**
   * Reports the cost of a model call.
   *
   * @throws TurncoreError E_CALL_AFTER_END, E_INVALID_VALUE
   */
  readonly reportGenerationStats: (stats: GenerationStats) => void;
  readonly #state: ContextState;
  #log: Logger | undefined;

  /** @internal Dispatches make their helpers. */
  constructor(state: ContextState) {
    this.reportMessage = (id, aDelta, options) =>
      report(state, Stream.Message, id, aDelta, options);
    this.reportThought = (id, aDelta, options) =>
      report(state, Stream.Thought, id, aDelta, options);
    this.reportToolCall = (id, partial) => reportToolCall(state, id, partial);
    this.reportGenerationStats = (stats) => reportStats(state, stats);
    this.#state = state;
  }

  /** The structured log. Lines carry the dispatch and its iteration. */
  get log(): Logger {
    this.#log ??= makeLogger(this.#state);
    return this.#log;
  }
}

const REPORT_OPTIONS = ['isComplete', 'isInterrupted'];
const TOOL_CALL_FIELDS = [
  'tool',
  'args',
  'results',
  'isError',
  'executionId',
  'providerCallId',
  'isComplete',
];

function report(
  state: ContextState,
  stream: number,
  id: string,
  delta: string,
  options: ReportOptions | undefined,
): void {
  requireString(id, 'id');
  requireString(delta, 'aDelta');
  const given = options as ReportOptions | null | undefined;
  if (given) requireOptions('options', given, REPORT_OPTIONS);
  const isComplete = booleanOf(options?.isComplete, 'isComplete');
  const { turn } = state;
  const interrupt =
    interruptedOf(options) && (turn.core.instance.features & Feature.Interrupts) !== 0;
  const whole = wholeDelta(turn, state.number, stream, id, delta, isComplete);
  if (interrupt) turn.callNow(state.number, Method.Interrupt, { stream, id, delta: whole });
  else
    turn.callNow(state.number, Method.Report, { stream, id, delta: whole, complete: isComplete });
}

function reportToolCall(state: ContextState, id: string, partial: ToolCallReport): void {
  requireString(id, 'id');
  requireOptions('report', partial, TOOL_CALL_FIELDS);
  const { turn } = state;
  const { args, results } = partial;
  const isError = partial.isError ?? undefined;
  const failed = booleanOf(isError, 'isError');
  const complete = booleanOf(partial.isComplete, 'isComplete');
  const tool = optionalString(partial.tool, 'tool');
  const executionId = optionalString(partial.executionId, 'executionId') ?? '';
  const providerCallId = optionalString(partial.providerCallId, 'providerCallId') ?? '';
  state.reporting(id, results, () => {
    turn.callNow(state.number, Method.ReportToolCall, {
      id,
      hasTool: tool !== undefined,
      tool: tool ?? '',
      args: (e) => e.value(args, 'args'),
      hasResults: results !== undefined,
      hasIsError: isError !== undefined,
      isError: failed,
      complete,
      executionId,
      providerCallId,
    });
  });
}

/** The numbers in a model call's cost, which budgets use. */
const counts = [
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'cachedTokens',
  'reasoningTokens',
  'totalDurationNs',
  'loadDurationNs',
  'promptEvalDurationNs',
  'evalDurationNs',
];

function reportStats(state: ContextState, stats: GenerationStats): void {
  requireObject(stats, 'stats');
  for (const name of Object.keys(stats)) {
    // Others are kept as they are, but one that is likely misspelled would not count.
    if ((suggest(name, counts) ?? name) !== name) requireOptions('stats', { [name]: 0 }, counts);
  }
  for (const name of counts) {
    const n = stats[name];
    if (n !== undefined && n !== null && !(typeof n === 'number' && n >= 0)) {
      throw invalidValue(`stats.${name}`, 'must be a number that is not negative');
    }
  }
  optionalString(stats.model ?? undefined, 'stats.model');
  const { turn } = state;
  turn.callNow(state.number, Method.Stats, { stats: (e) => e.value(stats, 'stats') });
}
