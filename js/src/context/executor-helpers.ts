/**
 * What an executor streams through.
 */
import { Method, Stream } from '../abi/frames.gen.js';
import { invalidValue } from '../errors.js';
import type { GenerationStats } from '../events/events.js';
import type { ContextState } from '../pump/context-state.js';

/** Settings of reportMessage and reportThought. */
export interface ReportOptions {
  /** Whether this is the stream's last delta; it is sealed then. Default false. */
  readonly isComplete?: boolean | undefined;
}

/** What is said of a tool call. What is absent stays as it was said before. */
export interface ToolCallReport {
  /** Name of the tool. */
  readonly tool?: string | undefined;
  readonly args?: unknown;
  /** What came out: anything. It stays on the host. */
  readonly results?: unknown;
  readonly isError?: boolean | undefined;
  /** Whether this is the last report; the call is sealed then. Default false. */
  readonly isComplete?: boolean | undefined;
}

/** A line of the structured log. */
export interface LogLine {
  /** What kind of thing it tells of, for filters. */
  readonly kind: string;
  /** For people. */
  readonly message: string;
  /** JSON-like data that goes with it. */
  readonly payload?: unknown;
}

/** Writes a line of the structured log. Never throws for want of listeners. */
export type LogFn = (line: LogLine) => void;

/** The structured log, by weight. */
export interface Logger {
  readonly trace: LogFn;
  readonly debug: LogFn;
  readonly info: LogFn;
  readonly warn: LogFn;
  readonly error: LogFn;
}

/**
 * What an executor streams through, one per dispatch. Its functions tell listeners before they return and store nothing:
 * for that there is `ctx.storeMessage` and its kin. They need no `this`, so they can be taken apart.
 */
export class DispatchExecutorHelpers {
  /**
   * Adds a delta to a message stream. The first report of an id opens the stream.
   *
   * @param id names the stream within the dispatch
   * @param aDelta what is new, not the text so far
   * @throws Error a plain one when the stream is sealed; TurncoreError E_CALL_AFTER_END
   */
  readonly reportMessage: (id: string, aDelta: string, options?: ReportOptions) => void;
  /** Like {@link reportMessage}, for the model's reasoning. Message and thought streams do not share ids. */
  readonly reportThought: (id: string, aDelta: string, options?: ReportOptions) => void;
  /**
   * Tells of a tool call: announced, filled in, completed.
   *
   * @param id names the call within the dispatch
   * @throws Error a plain one when the call is sealed; TurncoreError E_CALL_AFTER_END, E_INVALID_VALUE
   */
  readonly reportToolCall: (id: string, report: ToolCallReport) => void;
  /**
   * Tells what a model call cost.
   *
   * @throws TurncoreError E_CALL_AFTER_END, E_INVALID_VALUE
   */
  readonly reportGenerationStats: (stats: GenerationStats) => void;
  readonly #state: ContextState;
  #log: Logger | undefined;

  /** @internal Dispatches make their helpers. */
  constructor(state: ContextState) {
    this.reportMessage = (id, aDelta, options) =>
      report(state, Stream.Message, id, aDelta, options?.isComplete === true);
    this.reportThought = (id, aDelta, options) =>
      report(state, Stream.Thought, id, aDelta, options?.isComplete === true);
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

function makeLogger(state: ContextState): Logger {
  const log =
    (level: number): LogFn =>
    (line) =>
      writeLog(state, level, line);
  return { trace: log(0), debug: log(1), info: log(2), warn: log(3), error: log(4) };
}

function report(
  state: ContextState,
  stream: number,
  id: string,
  delta: string,
  complete: boolean,
): void {
  if (typeof id !== 'string') throw invalidValue('id', 'must be a string');
  if (typeof delta !== 'string') throw invalidValue('aDelta', 'must be a string');
  const { session } = state;
  const enc = session.beginCall(state.number, Method.Report);
  const { call } = session;
  enc.arrayHeader(4);
  enc.int(stream);
  enc.str(id);
  enc.str(delta);
  enc.bool(complete);
  session.callNow(enc, call);
}

function reportToolCall(state: ContextState, id: string, partial: ToolCallReport): void {
  if (typeof id !== 'string') throw invalidValue('id', 'must be a string');
  const { session } = state;
  const { tool, args, results, isError, isComplete } = partial;
  const enc = session.beginCall(state.number, Method.ReportToolCall);
  const { call } = session;
  enc.arrayHeader(8);
  enc.str(id);
  enc.bool(tool !== undefined);
  enc.str(tool ?? '');
  enc.value(args, 'args');
  enc.bool(results !== undefined);
  enc.bool(isError !== undefined);
  enc.bool(isError ?? false);
  enc.bool(isComplete ?? false);
  const before = state.results(id);
  if (results !== undefined) state.setResults(id, results);
  try {
    session.callNow(enc, call);
  } catch (error) {
    state.setResults(id, before);
    throw error;
  }
}

function reportStats(state: ContextState, stats: GenerationStats): void {
  const { session } = state;
  const enc = session.beginCall(state.number, Method.Stats);
  const { call } = session;
  enc.arrayHeader(1);
  enc.value(stats, 'stats');
  session.callNow(enc, call);
}

function writeLog(state: ContextState, level: number, line: LogLine): void {
  const { session } = state;
  const { kind, message, payload } = line;
  if (typeof kind !== 'string') throw invalidValue('kind', 'must be a string');
  if (typeof message !== 'string') throw invalidValue('message', 'must be a string');
  const enc = session.beginCall(state.number, Method.Log);
  const { call } = session;
  enc.arrayHeader(5);
  enc.int(level);
  enc.str(kind);
  enc.str(message);
  enc.bool(payload !== undefined);
  enc.value(payload, 'payload');
  session.callNow(enc, call);
}
