/**
 * Makes events from frames. The module is not trusted: every payload is checked.
 */
import { EventKind, Results } from '../abi/frames.gen.js';
import type {
  Delta,
  DispatchEndEvent,
  ErrorEvent,
  ErrorValue,
  EventFrame,
  GateClosedEvent,
  IterationEndEvent,
  LogEvent,
  StatsEvent,
  StreamEvent,
  ToolCallEvent,
  ToolEndEvent,
  ToolStartEvent,
  TurnEndEvent,
  WarningEvent,
} from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { recordName } from '../collections/deltas.js';
import * as E from './events.js';
import { gateResultOf } from './turn-gate.js';

/** Data of an event that is not in its frame. */
export interface EventSource {
  /** The start of the turn, ms since the Unix epoch. */
  readonly now: number;
  /** The turn's id; undefined in a standalone dispatch. */
  readonly publicTurnId: string | undefined;
  /** The id of the turn's n-th dispatch. */
  dispatchId(dispatch: number): string;
  /** The error object of a wire value. */
  error(value: ErrorValue): unknown;
  /** The text of a stream with this delta. */
  text(dispatch: number, kind: number, id: string, delta: string): string;
  /** The id of the record with a handle, the text of a standing instruction; empty if there is none. */
  recordId(handle: number): string;
  /** The turn's gates. `of` throws a CodecError for an unknown number. */
  readonly gates: { of(number: number): E.TurnGate };
  /** The results that host code reported for a tool call. */
  results(dispatch: number, id: string): unknown;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const turnStatus = ['ack', 'nack', 'aborted', 'failed'] as const;
const iterationStatus = ['ack', 'nack', 'aborted', 'failed', 'continue'] as const;
const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
const sources = ['turn-runner', 'dispatch-runner'] as const;
const writes = ['store', 'mutate', 'delete', 'replaceToolCallGroup'] as const;

/** Names of the kinds of event, by number, which count from 1. The end of an interrupted stream has the stream's. */
export const eventNames: readonly (E.EventName | undefined)[] = [
  undefined,
  ...Object.keys(EventKind).map((kind) => {
    const name = kind.charAt(0).toLowerCase() + kind.slice(1);
    return name.replace(/Interrupted$/, '') as E.EventName;
  }),
];

/** Difference between the kind of a message or thought and the kind of an interrupted one. */
const INTERRUPTED = EventKind.MessageInterrupted - EventKind.Message;

/** Whether a kind is a message or thought event, interrupted or not. */
export function isText(
  frame: EventFrame,
): frame is Extract<EventFrame, { readonly payload: StreamEvent }> {
  const { kind } = frame;
  return kind <= EventKind.Thought || kind >= EventKind.MessageInterrupted;
}

/** The kind of a message or thought for the kind of its event, interrupted or not. */
export function textKindOf(kind: number): number {
  return kind <= EventKind.Thought ? kind : kind - INTERRUPTED;
}

/** The kind of event that completes an interrupted message or thought. */
export function interruptedKindOf(kind: number): number {
  return kind + INTERRUPTED;
}

/**
 * Makes the event of an Event frame.
 *
 * @returns undefined for an unknown kind
 * @throws CodecError for an invalid one
 */
export function eventOf(frame: EventFrame, from: EventSource): E.TurnEvent | undefined {
  if (frame.kind === EventKind.TurnGateOpen) return from.gates.of(frame.payload.gate);
  const { dispatch } = frame;
  const at = from.now + frame.elapsed;
  const event = payloadOf(frame, at, from);
  if (event === undefined) return undefined;
  const dispatchId = dispatch === 0 ? undefined : from.dispatchId(dispatch);
  E.setHead(event, frame.seq, at, from.publicTurnId, dispatchId, frame.iteration);
  return event;
}

function payloadOf(frame: EventFrame, at: number, from: EventSource): E.TurnEvent | undefined {
  switch (frame.kind) {
    case EventKind.Message:
    case EventKind.Thought:
    case EventKind.MessageInterrupted:
    case EventKind.ThoughtInterrupted:
      return textEvent(frame.kind, frame.dispatch, at, frame.payload, from);
    case EventKind.ToolCall:
      return toolCallEvent(frame.dispatch, at, frame.payload, from);
    case EventKind.TurnStart:
      return startEvent(new E.TurnStartEvent(), at);
    case EventKind.DispatchStart:
      return startEvent(new E.DispatchStartEvent(), at);
    case EventKind.IterationStart:
      return startEvent(new E.IterationStartEvent(), at);
    case EventKind.TurnEnd:
      return turnEnd(at, frame.payload, from);
    case EventKind.DispatchEnd:
      return dispatchEnd(at, frame.payload, from);
    case EventKind.IterationEnd:
      return iterationEnd(at, frame.payload, from);
    case EventKind.ToolExecutionStart:
      return toolExecutionStart(at, frame.payload);
    case EventKind.ToolExecutionEnd:
      return toolExecutionEnd(at, frame.payload, from);
    case EventKind.TurnGateClosed:
      return gateClosed(at, frame.payload);
    case EventKind.Log:
      return logEvent(at, frame.payload);
    case EventKind.Warning:
      return warningEvent(at, frame.payload, from);
    case EventKind.Error:
      return errorEvent(frame.payload, from);
    case EventKind.GenerationStats:
      return statsEvent(at, frame.payload);
    default:
      return undefined;
  }
}

function textEvent(
  told: number,
  dispatch: number,
  at: number,
  { id, created, delta, length, complete }: StreamEvent,
  from: EventSource,
): E.TurnEvent {
  const kind = textKindOf(told);
  const isInterrupted = kind !== told;
  if (isInterrupted && !complete) {
    throw wrongFrame('a stream that is interrupted and not complete');
  }
  const full = from.text(dispatch, kind, id, delta);
  const made = kind === EventKind.Message ? E.MessageEvent : E.ThoughtEvent;
  return new made(id, delta, full, length, complete, isInterrupted, from.now + created, at);
}

function toolCallEvent(
  dispatch: number,
  at: number,
  payload: ToolCallEvent,
  from: EventSource,
): E.ToolCallEvent {
  const { id, results } = payload;
  const e = new E.ToolCallEvent() as Writable<E.ToolCallEvent>;
  e.id = id;
  e.tool = payload.tool;
  if (payload.args !== null) e.args = payload.args;
  e.checksum = payload.checksum;
  if (payload.executionId !== '') e.executionId = payload.executionId;
  if (payload.providerCallId !== '') e.providerCallId = payload.providerCallId;
  e.isComplete = payload.complete;
  e.isError = payload.isError;
  if (results === Results.Host || results === Results.Kept) e.results = from.results(dispatch, id);
  else if (results === Results.Value) e.results = payload.value;
  e.createdAt = from.now + payload.created;
  e.updatedAt = at;
  if (e.isComplete) e.completedAt = at;
  return e as E.ToolCallEvent;
}

function startEvent<T extends { readonly startedAt: number }>(event: T, at: number): T {
  (event as { startedAt: number }).startedAt = at;
  return event;
}

function setSpan(
  event: { readonly startedAt: number; readonly endedAt: number; readonly durationMs: number },
  started: number,
  at: number,
): void {
  const e = event as Writable<typeof event>;
  e.startedAt = started;
  e.endedAt = at;
  e.durationMs = at - started;
}

function turnEnd(
  at: number,
  { started, status, error }: TurnEndEvent,
  from: EventSource,
): E.TurnEndEvent {
  const e = new E.TurnEndEvent() as Writable<E.TurnEndEvent>;
  e.status = turnStatusOf(status);
  setSpan(e, from.now + started, at);
  if (error !== null) e.error = from.error(error);
  return e as E.TurnEndEvent;
}

function dispatchEnd(
  at: number,
  { started, status, iterations, error }: DispatchEndEvent,
  from: EventSource,
): E.DispatchEndEvent {
  const e = new E.DispatchEndEvent() as Writable<E.DispatchEndEvent>;
  e.status = dispatchStatusOf(status);
  e.iterations = iterations;
  setSpan(e, from.now + started, at);
  if (error !== null) e.error = from.error(error);
  return e as E.DispatchEndEvent;
}

/** How a dispatch ended, by the number on the wire. */
export function dispatchStatusOf(status: number): E.DispatchStatus {
  return status === 0 ? 'ack' : status === 2 ? 'aborted' : 'nack';
}

/** How a turn ended, by the number on the wire. */
export function turnStatusOf(status: number): E.TurnStatus {
  return turnStatus[status] ?? 'failed';
}

/** How an iteration ended, by the number on the wire. */
export function iterationStatusOf(status: number): E.IterationStatus {
  const name = iterationStatus[status] ?? 'nack';
  return name === 'failed' ? 'nack' : name;
}

function iterationEnd(
  at: number,
  { started, status, discarded }: IterationEndEvent,
  from: EventSource,
): E.IterationEndEvent {
  const e = new E.IterationEndEvent() as Writable<E.IterationEndEvent>;
  e.status = iterationStatusOf(status);
  setSpan(e, from.now + started, at);
  if (discarded.length > 0) e.discarded = discarded.map((delta) => discardedWrite(delta, from));
  return e as E.IterationEndEvent;
}

function discardedWrite(delta: Delta, from: EventSource): E.DiscardedWrite {
  const { write, collection, id, handle } = delta;
  const op = writes[write] ?? 'store';
  return { op, kind: recordName(collection), id: id || from.recordId(handle) };
}

function toolExecutionStart(at: number, payload: ToolStartEvent): E.ToolExecutionStartEvent {
  const e = new E.ToolExecutionStartEvent() as Writable<E.ToolExecutionStartEvent>;
  setExecution(e, payload);
  e.args = payload.args;
  e.startedAt = at;
  return e as E.ToolExecutionStartEvent;
}

function toolExecutionEnd(
  at: number,
  payload: ToolEndEvent,
  from: EventSource,
): E.ToolExecutionEndEvent {
  const e = new E.ToolExecutionEndEvent() as Writable<E.ToolExecutionEndEvent>;
  setExecution(e, payload);
  e.isError = payload.isError;
  setSpan(e, from.now + payload.started, at);
  return e as E.ToolExecutionEndEvent;
}

/** Reads the four fields that identify an execution. */
function setExecution(
  e: Writable<E.ToolExecutionStartEvent> | Writable<E.ToolExecutionEndEvent>,
  { tool, callId, executionId, providerCallId }: ToolStartEvent | ToolEndEvent,
): void {
  e.toolName = tool;
  e.callId = callId;
  e.executionId = executionId;
  if (providerCallId !== '') e.providerCallId = providerCallId;
}

function gateClosed(at: number, { id, result }: GateClosedEvent): E.TurnGateClosedEvent {
  const e = new E.TurnGateClosedEvent() as Writable<E.TurnGateClosedEvent>;
  e.gateId = id;
  e.result = gateResultOf(result);
  e.settledAt = at;
  return e as E.TurnGateClosedEvent;
}

function logEvent(at: number, line: LogEvent): E.LogEvent {
  const e = new E.LogEvent() as Writable<E.LogEvent>;
  e.level = levels[line.level] ?? 'info';
  e.kind = line.kind;
  e.message = line.message;
  if (line.hasPayload) e.payload = line.payload;
  e.emittedAt = at;
  return e as E.LogEvent;
}

function warningEvent(at: number, warning: WarningEvent, from: EventSource): E.WarningEvent {
  const e = new E.WarningEvent() as Writable<E.WarningEvent>;
  e.source = sources[warning.source] ?? 'turn-runner';
  e.kind = warning.kind;
  e.message = warning.message;
  if (warning.error !== null) e.error = from.error(warning.error);
  if (warning.payload !== null) e.payload = warning.payload;
  e.emittedAt = at;
  return e as E.WarningEvent;
}

function errorEvent({ error }: ErrorEvent, from: EventSource): E.ErrorEvent {
  const e = new E.ErrorEvent() as Writable<E.ErrorEvent>;
  e.error = from.error(error);
  return e as E.ErrorEvent;
}

function statsEvent(at: number, { stats }: StatsEvent): E.GenerationStatsEvent {
  const e = new E.GenerationStatsEvent();
  if (typeof stats === 'object' && stats !== null) {
    for (const [key, value] of Object.entries(stats as Record<string, unknown>)) {
      if (key !== 'event' && key !== 'toJSON') Object.assign(e, { [key]: value });
    }
  }
  (e as Writable<E.GenerationStatsEvent>).emittedAt = at;
  return e;
}
