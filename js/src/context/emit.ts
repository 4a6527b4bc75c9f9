/**
 * Events that host code makes itself, with the emit methods of a context.
 */
import { EventKind, Feature, Method, Results } from '../abi/frames.gen.js';
import {
  type ToolEndEvent,
  writeStreamEvent,
  writeToolCallEvent,
  writeToolEndEvent,
  writeToolStartEvent,
} from '../codec/tuples.gen.js';
import type { Encoder, Write } from '../codec/encoder.js';
import { utf8Length } from '../codec/layout.js';
import { invalidValue } from '../errors.js';
import { interruptedKindOf } from '../events/from-frame.js';
import type { Timestamp } from '../primitives/timestamp.js';
import type { ContextState } from '../turn/context-state.js';
import { invalid, toTime } from '../validation/field-kinds.js';
import {
  booleanOf,
  interruptedOf,
  optionalString,
  requireObject,
  requireString,
} from './arguments.js';

/** A piece of a message or thought stream. */
export interface EmittedText {
  /** Names the stream. */
  readonly id: string;
  /** The text so far. */
  readonly full: string;
  /** What was added. */
  readonly aDelta: string;
  readonly isComplete: boolean;
  /** The stream was interrupted. Only with `isComplete: true`. Default false. */
  readonly isInterrupted?: boolean | undefined;
  /** When the stream was opened. Default: now. */
  readonly createdAt?: Timestamp | undefined;
}

/** A report of a tool call. */
export interface EmittedToolCall {
  /** Names the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly tool: string;
  readonly args?: unknown;
  /** SHA-256 of tool and arguments. Default: empty. */
  readonly checksum?: string | undefined;
  /** The execution that gave the results. */
  readonly executionId?: string | undefined;
  /** The provider's id of the call. */
  readonly providerCallId?: string | undefined;
  readonly isComplete: boolean;
  readonly isError?: boolean | undefined;
  readonly results?: unknown;
  /** When the call was first reported. Default: now. */
  readonly createdAt?: Timestamp | undefined;
}

/** A tool's handler is about to run. */
export interface EmittedToolExecutionStart {
  readonly toolName: string;
  /** SHA-256 of tool and arguments. */
  readonly callId: string;
  /** Identifies this execution. */
  readonly executionId?: string | undefined;
  /** The provider's id of the call. */
  readonly providerCallId?: string | undefined;
  readonly args?: unknown;
}

/** A tool's handler has ended. */
export interface EmittedToolExecutionEnd {
  readonly toolName: string;
  /** SHA-256 of tool and arguments. */
  readonly callId: string;
  /** The same as at its start. */
  readonly executionId?: string | undefined;
  /** The provider's id of the call. */
  readonly providerCallId?: string | undefined;
  readonly isError: boolean;
  /** When it began. Default: now. */
  readonly startedAt?: Timestamp | undefined;
}

/** Notifies listeners of a piece of a stream. */
export function emitText(state: ContextState, kind: number, content: EmittedText): void {
  requireObject(content, 'content');
  const { turn } = state;
  const full = requireString(content.full, 'full');
  const marked = interruptedOf(content) && (turn.core.instance.features & Feature.Interrupts) !== 0;
  const id = requireString(content.id, 'id');
  const event = {
    id,
    created: elapsedAt(state, content.createdAt),
    delta: requireString(content.aDelta, 'aDelta'),
    length: utf8Length(full),
    complete: booleanOf(content.isComplete, 'isComplete'),
  };
  turn.emitting({ context: state.number, kind, id, full }, () =>
    emit(state, marked ? interruptedKindOf(kind) : kind, (e) => writeStreamEvent(e, event)),
  );
}

/** Notifies listeners of a tool call. */
export function emitToolCall(state: ContextState, content: EmittedToolCall): void {
  requireObject(content, 'content');
  const { args, results } = content;
  const event = {
    id: requireString(content.id, 'id'),
    tool: requireString(content.tool, 'tool'),
    args: (e: Encoder) => e.value(args, 'args'),
    checksum: optionalString(content.checksum, 'checksum') ?? '',
    created: elapsedAt(state, content.createdAt),
    complete: booleanOf(content.isComplete, 'isComplete'),
    isError: booleanOf(content.isError, 'isError'),
    results: results === undefined ? Results.None : Results.Host,
    value: null,
    kept: 0,
    executionId: optionalString(content.executionId, 'executionId') ?? '',
    providerCallId: optionalString(content.providerCallId, 'providerCallId') ?? '',
  };
  state.reporting(event.id, results, () =>
    emit(state, EventKind.ToolCall, (e) => writeToolCallEvent(e, event)),
  );
}

/** Notifies observers that a tool's handler is about to run. */
export function emitToolExecutionStart(
  state: ContextState,
  content: EmittedToolExecutionStart,
): void {
  requireObject(content, 'content');
  const event = {
    ...executionOf(content),
    args: (e: Encoder) => e.value(content.args, 'args'),
  };
  emit(state, EventKind.ToolExecutionStart, (e) => writeToolStartEvent(e, event));
}

/** Notifies observers that a tool's handler has ended. */
export function emitToolExecutionEnd(state: ContextState, content: EmittedToolExecutionEnd): void {
  requireObject(content, 'content');
  const event = {
    ...executionOf(content),
    started: elapsedAt(state, content.startedAt),
    isError: booleanOf(content.isError, 'isError'),
  };
  emit(state, EventKind.ToolExecutionEnd, (e) => writeToolEndEvent(e, event));
}

/** The four fields that name an execution. */
function executionOf(
  content: EmittedToolExecutionStart | EmittedToolExecutionEnd,
): Pick<ToolEndEvent, 'tool' | 'callId' | 'executionId' | 'providerCallId'> {
  return {
    tool: requireString(content.toolName, 'toolName'),
    callId: requireString(content.callId, 'callId'),
    executionId: optionalString(content.executionId, 'executionId') ?? '',
    providerCallId: optionalString(content.providerCallId, 'providerCallId') ?? '',
  };
}

function emit(state: ContextState, kind: number, payload: Write): void {
  state.turn.callNow(state.number, Method.Emit, { kind, payload });
}

/** A time as ms since the turn's start; times before it count as its start. */
function elapsedAt(state: ContextState, at: Timestamp | undefined): number {
  if (at === undefined) return state.turn.elapsed();
  const ms = toTime(at);
  if (ms === invalid) throw invalidValue('time', 'is not one');
  return Math.max(0, (ms as number) - state.turn.now);
}
