/**
 * Events that host code makes itself, by the emit methods of a context.
 */
import { EventKind, Feature, Method, Results } from '../abi/frames.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { utf8Length } from '../codec/layout.js';
import { invalidValue } from '../errors.js';
import { interruptedKindOf } from '../events/from-frame.js';
import type { Timestamp } from '../primitives/timestamp.js';
import type { ContextState } from '../pump/context-state.js';
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
  /** The stream was broken off. Only with `isComplete: true`. Default false. */
  readonly isInterrupted?: boolean | undefined;
  /** When the stream was opened. Default: now. */
  readonly createdAt?: Timestamp | undefined;
}

/** What is told of a tool call. */
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
  /** What the provider calls the call. */
  readonly providerCallId?: string | undefined;
  readonly isComplete: boolean;
  readonly isError?: boolean | undefined;
  readonly results?: unknown;
  /** When the call was first told of. Default: now. */
  readonly createdAt?: Timestamp | undefined;
}

/** A tool's handler is about to run. */
export interface EmittedToolExecutionStart {
  readonly toolName: string;
  /** SHA-256 of tool and arguments. */
  readonly callId: string;
  /** Names this execution alone. */
  readonly executionId?: string | undefined;
  /** What the provider calls the call. */
  readonly providerCallId?: string | undefined;
  readonly args?: unknown;
}

/** A tool's handler has ended. */
export interface EmittedToolExecutionEnd {
  readonly toolName: string;
  /** SHA-256 of tool and arguments. */
  readonly callId: string;
  /** That of its start. */
  readonly executionId?: string | undefined;
  /** What the provider calls the call. */
  readonly providerCallId?: string | undefined;
  readonly isError: boolean;
  /** When it began. Default: now. */
  readonly startedAt?: Timestamp | undefined;
}

/** Tells listeners of a piece of a stream. */
export function emitText(state: ContextState, kind: number, content: EmittedText): void {
  requireObject(content, 'content');
  const { session } = state;
  const full = requireString(content.full, 'full');
  const marked =
    interruptedOf(content) && (session.pump.instance.features & Feature.Interrupts) !== 0;
  const enc = begin(state, marked ? interruptedKindOf(kind) : kind);
  const { call } = session;
  enc.arrayHeader(5);
  const id = requireString(content.id, 'id');
  enc.str(id);
  enc.int(elapsedAt(state, content.createdAt));
  enc.str(requireString(content.aDelta, 'aDelta'));
  enc.int(utf8Length(full));
  enc.bool(booleanOf(content.isComplete, 'isComplete'));
  session.emitting({ context: state.number, kind, id, full }, () => session.callNow(enc, call));
}

/** Tells listeners of a tool call. */
export function emitToolCall(state: ContextState, content: EmittedToolCall): void {
  requireObject(content, 'content');
  const { session } = state;
  const enc = begin(state, EventKind.ToolCall);
  const { call } = session;
  enc.arrayHeader(12);
  enc.str(requireString(content.id, 'id'));
  enc.str(requireString(content.tool, 'tool'));
  enc.value(content.args, 'args');
  enc.str(optionalString(content.checksum, 'checksum') ?? '');
  enc.int(elapsedAt(state, content.createdAt));
  enc.bool(booleanOf(content.isComplete, 'isComplete'));
  enc.bool(booleanOf(content.isError, 'isError'));
  enc.int(content.results === undefined ? Results.None : Results.Host);
  enc.nil();
  enc.int(0);
  enc.str(optionalString(content.executionId, 'executionId') ?? '');
  enc.str(optionalString(content.providerCallId, 'providerCallId') ?? '');
  if (content.results !== undefined) state.setResults(content.id, content.results);
  session.callNow(enc, call);
}

/** Tells observers that a tool's handler is about to run. */
export function emitToolExecutionStart(
  state: ContextState,
  content: EmittedToolExecutionStart,
): void {
  requireObject(content, 'content');
  const enc = begin(state, EventKind.ToolExecutionStart);
  const { call } = state.session;
  enc.arrayHeader(5);
  putExecution(enc, content);
  enc.value(content.args, 'args');
  state.session.callNow(enc, call);
}

/** Tells observers that a tool's handler has ended. */
export function emitToolExecutionEnd(state: ContextState, content: EmittedToolExecutionEnd): void {
  requireObject(content, 'content');
  const enc = begin(state, EventKind.ToolExecutionEnd);
  const { call } = state.session;
  enc.arrayHeader(6);
  putExecution(enc, content);
  enc.int(elapsedAt(state, content.startedAt));
  enc.bool(booleanOf(content.isError, 'isError'));
  state.session.callNow(enc, call);
}

/** Writes the four fields that name an execution. */
function putExecution(
  enc: Encoder,
  content: EmittedToolExecutionStart | EmittedToolExecutionEnd,
): void {
  enc.str(requireString(content.toolName, 'toolName'));
  enc.str(requireString(content.callId, 'callId'));
  enc.str(optionalString(content.executionId, 'executionId') ?? '');
  enc.str(optionalString(content.providerCallId, 'providerCallId') ?? '');
}

function begin(state: ContextState, kind: number): Encoder {
  const enc = state.session.beginCall(state.number, Method.Emit);
  enc.arrayHeader(2);
  enc.int(kind);
  return enc;
}

/** A time as ms since the turn's start; times before it count as its start. */
function elapsedAt(state: ContextState, at: Timestamp | undefined): number {
  if (at === undefined) return state.session.elapsed();
  const ms = toTime(at);
  if (ms === invalid) throw invalidValue('time', 'is not one');
  return Math.max(0, (ms as number) - state.session.now);
}
