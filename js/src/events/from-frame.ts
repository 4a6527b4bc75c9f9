/**
 * Events from the frames that tell of them. The module may be anything: every payload is checked.
 */
import { EventKind, Results } from '../abi/frames.gen.js';
import { CodecError } from '../codec/decoder.js';
import { requireShape } from '../codec/shape.js';
import { RECORD_KINDS, recordName } from '../collections/kinds.js';
import * as E from './events.js';
import { gateResultOf } from './turn-gate.js';

/** What an event's frame does not say. */
export interface EventSource {
  /** When the turn began, ms since the Unix epoch. */
  readonly now: number;
  /** The turn's id; undefined in a standalone dispatch. */
  readonly publicTurnId: string | undefined;
  /** The id of the turn's n-th dispatch. */
  dispatchId(dispatch: number): string;
  /** The error object that a wire value stands for. */
  error(value: unknown): unknown;
  /** The text of a stream with this delta. */
  text(dispatch: number, kind: number, id: string, delta: string): string;
  /** The id of the record with a handle, the text of a standing instruction; empty if there is none. */
  recordId(handle: number): string;
  /** The turn's gates. `of` throws a CodecError for a number that none has. */
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

/** Names of the kinds of event, by number. */
export const eventNames: readonly (E.EventName | undefined)[] = [
  undefined,
  'message',
  'thought',
  'toolCall',
  'turnStart',
  'turnEnd',
  'dispatchStart',
  'dispatchEnd',
  'iterationStart',
  'iterationEnd',
  'toolExecutionStart',
  'toolExecutionEnd',
  'turnGateOpen',
  'turnGateClosed',
  'log',
  'warning',
  'error',
  'generationStats',
  'message',
  'thought',
];

/** From the kind of a message or thought to that of one that was broken off. */
const INTERRUPTED = EventKind.MessageInterrupted - EventKind.Message;

/** The kind of a message or thought that is told by an event of any kind: also one that was broken off; else undefined. */
export function textKindOf(kind: number): number | undefined {
  if (kind <= EventKind.Thought) return kind;
  return kind >= EventKind.MessageInterrupted ? kind - INTERRUPTED : undefined;
}

/** The kind of event that completes a message or thought which was broken off. */
export function interruptedKindOf(kind: number): number {
  return kind + INTERRUPTED;
}

/**
 * Makes the event of an Event frame.
 *
 * @param frame an Event frame whose head was checked
 * @returns undefined for a kind that this host does not know
 * @throws CodecError for a malformed payload
 */
export function eventOf(frame: readonly unknown[], from: EventSource): E.TurnEvent | undefined {
  const dispatch = frame[5] as number;
  const at = from.now + (frame[4] as number);
  if (frame[3] === EventKind.TurnGateOpen) {
    return from.gates.of(requireShape(frame[8], 'n', 'GateOpenEvent')[0] as number);
  }
  const event = payloadOf(frame[3] as number, dispatch, at, frame[8], from);
  if (event === undefined) return undefined;
  const dispatchId = dispatch === 0 ? undefined : from.dispatchId(dispatch);
  E.setHead(event, frame[2] as number, at, from.publicTurnId, dispatchId, frame[6] as number);
  return event;
}

function payloadOf(
  kind: number,
  dispatch: number,
  at: number,
  payload: unknown,
  from: EventSource,
): E.TurnEvent | undefined {
  switch (kind) {
    case EventKind.Message:
    case EventKind.Thought:
      return textEvent(kind, false, dispatch, at, payload, from);
    case EventKind.MessageInterrupted:
    case EventKind.ThoughtInterrupted:
      return textEvent(kind - INTERRUPTED, true, dispatch, at, payload, from);
    case EventKind.ToolCall:
      return toolCallEvent(dispatch, at, payload, from);
    case EventKind.TurnStart:
      return startEvent(new E.TurnStartEvent(), at);
    case EventKind.DispatchStart:
      return startEvent(new E.DispatchStartEvent(), at);
    case EventKind.IterationStart:
      return startEvent(new E.IterationStartEvent(), at);
    case EventKind.TurnEnd:
      return turnEnd(at, payload, from);
    case EventKind.DispatchEnd:
      return dispatchEnd(at, payload, from);
    case EventKind.IterationEnd:
      return iterationEnd(at, payload, from);
    case EventKind.ToolExecutionStart:
      return toolExecutionStart(at, payload);
    case EventKind.ToolExecutionEnd:
      return toolExecutionEnd(at, payload, from);
    case EventKind.TurnGateClosed:
      return gateClosed(at, payload);
    case EventKind.Log:
      return logEvent(at, payload);
    case EventKind.Warning:
      return warningEvent(at, payload, from);
    case EventKind.Error:
      return errorEvent(payload, from);
    case EventKind.GenerationStats:
      return statsEvent(at, payload);
    default:
      return undefined;
  }
}

function textEvent(
  kind: number,
  isInterrupted: boolean,
  dispatch: number,
  at: number,
  payload: unknown,
  from: EventSource,
): E.TurnEvent {
  const p = requireShape(payload, 'snsnb', 'StreamEvent');
  const isComplete = p[4] as boolean;
  if (isInterrupted && !isComplete) {
    throw new CodecError('frame', 0, 'a stream that is interrupted and not complete');
  }
  const id = p[0] as string;
  const delta = p[2] as string;
  const full = from.text(dispatch, kind, id, delta);
  const made = kind === EventKind.Message ? E.MessageEvent : E.ThoughtEvent;
  const created = from.now + (p[1] as number);
  return new made(id, delta, full, p[3] as number, isComplete, isInterrupted, created, at);
}

function toolCallEvent(
  dispatch: number,
  at: number,
  payload: unknown,
  from: EventSource,
): E.ToolCallEvent {
  const p = requireShape(payload, 'ss*snbbn*nss', 'ToolCallEvent');
  const e = new E.ToolCallEvent() as Writable<E.ToolCallEvent>;
  e.id = p[0] as string;
  e.tool = p[1] as string;
  if (p[2] !== null) e.args = p[2];
  e.checksum = p[3] as string;
  if (p[10] !== '') e.executionId = p[10] as string;
  if (p[11] !== '') e.providerCallId = p[11] as string;
  e.isComplete = p[5] as boolean;
  e.isError = p[6] as boolean;
  if (p[7] === Results.Host || p[7] === Results.Kept) e.results = from.results(dispatch, e.id);
  else if (p[7] === Results.Value) e.results = p[8];
  e.createdAt = from.now + (p[4] as number);
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

function turnEnd(at: number, payload: unknown, from: EventSource): E.TurnEndEvent {
  const p = requireShape(payload, 'nne', 'TurnEndEvent');
  const e = new E.TurnEndEvent() as Writable<E.TurnEndEvent>;
  e.status = turnStatus[p[1] as number] ?? 'failed';
  setSpan(e, from.now + (p[0] as number), at);
  if (p[2] !== null) e.error = from.error(p[2]);
  return e as E.TurnEndEvent;
}

function dispatchEnd(at: number, payload: unknown, from: EventSource): E.DispatchEndEvent {
  const p = requireShape(payload, 'nnne', 'DispatchEndEvent');
  const e = new E.DispatchEndEvent() as Writable<E.DispatchEndEvent>;
  e.status = dispatchStatusOf(p[1] as number);
  e.iterations = p[2] as number;
  setSpan(e, from.now + (p[0] as number), at);
  if (p[3] !== null) e.error = from.error(p[3]);
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

function iterationEnd(at: number, payload: unknown, from: EventSource): E.IterationEndEvent {
  const p = requireShape(payload, 'nna', 'IterationEndEvent');
  const e = new E.IterationEndEvent() as Writable<E.IterationEndEvent>;
  e.status = iterationStatusOf(p[1] as number);
  setSpan(e, from.now + (p[0] as number), at);
  const discarded = p[2] as unknown[] | null;
  if (discarded !== null && discarded.length > 0) {
    e.discarded = discarded.map((delta) => discardedWrite(delta, from));
  }
  return e as E.IterationEndEvent;
}

function discardedWrite(delta: unknown, from: EventSource): E.DiscardedWrite {
  const d = requireShape(delta, 'nnisaa', 'Delta');
  const op = writes[d[0] as number] ?? 'store';
  const collection = d[1] as number;
  if (collection >= RECORD_KINDS) throw new CodecError('frame', 0, 'unknown collection');
  const id = (d[3] as string) || from.recordId(d[2] as number);
  return { op, kind: recordName(collection), id };
}

function toolExecutionStart(at: number, payload: unknown): E.ToolExecutionStartEvent {
  const p = requireShape(payload, 'ssss*', 'ToolStartEvent');
  const e = new E.ToolExecutionStartEvent() as Writable<E.ToolExecutionStartEvent>;
  setExecution(e, p);
  e.args = p[4];
  e.startedAt = at;
  return e as E.ToolExecutionStartEvent;
}

function toolExecutionEnd(
  at: number,
  payload: unknown,
  from: EventSource,
): E.ToolExecutionEndEvent {
  const p = requireShape(payload, 'ssssnb', 'ToolEndEvent');
  const e = new E.ToolExecutionEndEvent() as Writable<E.ToolExecutionEndEvent>;
  setExecution(e, p);
  e.isError = p[5] as boolean;
  setSpan(e, from.now + (p[4] as number), at);
  return e as E.ToolExecutionEndEvent;
}

/** Takes the four fields that name an execution. */
function setExecution(
  e: Writable<E.ToolExecutionStartEvent> | Writable<E.ToolExecutionEndEvent>,
  p: readonly unknown[],
): void {
  e.toolName = p[0] as string;
  e.callId = p[1] as string;
  e.executionId = p[2] as string;
  if (p[3] !== '') e.providerCallId = p[3] as string;
}

function gateClosed(at: number, payload: unknown): E.TurnGateClosedEvent {
  const p = requireShape(payload, 'nsn', 'GateClosedEvent');
  const e = new E.TurnGateClosedEvent() as Writable<E.TurnGateClosedEvent>;
  e.gateId = p[1] as string;
  e.result = gateResultOf(p[2] as number);
  e.settledAt = at;
  return e as E.TurnGateClosedEvent;
}

function logEvent(at: number, payload: unknown): E.LogEvent {
  const p = requireShape(payload, 'nssb*', 'LogEvent');
  const e = new E.LogEvent() as Writable<E.LogEvent>;
  e.level = levels[p[0] as number] ?? 'info';
  e.kind = p[1] as string;
  e.message = p[2] as string;
  if (p[3] === true) e.payload = p[4];
  e.emittedAt = at;
  return e as E.LogEvent;
}

function warningEvent(at: number, payload: unknown, from: EventSource): E.WarningEvent {
  const p = requireShape(payload, 'nsse*', 'WarningEvent');
  const e = new E.WarningEvent() as Writable<E.WarningEvent>;
  e.source = sources[p[0] as number] ?? 'turn-runner';
  e.kind = p[1] as string;
  e.message = p[2] as string;
  if (p[3] !== null) e.error = from.error(p[3]);
  if (p[4] !== null) e.payload = p[4];
  e.emittedAt = at;
  return e as E.WarningEvent;
}

function errorEvent(payload: unknown, from: EventSource): E.ErrorEvent {
  const p = requireShape(payload, 'e', 'ErrorEvent');
  const e = new E.ErrorEvent() as Writable<E.ErrorEvent>;
  e.error = from.error(p[0]);
  return e as E.ErrorEvent;
}

function statsEvent(at: number, payload: unknown): E.GenerationStatsEvent {
  const p = requireShape(payload, '*', 'StatsEvent');
  const e = new E.GenerationStatsEvent();
  if (typeof p[0] === 'object' && p[0] !== null) {
    for (const [key, value] of Object.entries(p[0] as Record<string, unknown>)) {
      if (key !== 'event' && key !== 'toJSON') Object.assign(e, { [key]: value });
    }
  }
  (e as Writable<E.GenerationStatsEvent>).emittedAt = at;
  return e;
}
