/**
 * The events of a turn. Events are plain, immutable data; times are ms since the Unix epoch.
 */
import type { RecordName } from '../collections/deltas.js';
import { BaseEvent, type EventHead, setHead } from './base-event.js';
import { errorJSON } from './error-json.js';
import type { ModelCallEndEvent, ModelCallStartEvent } from './model-call.js';
import type { TurnGate, TurnGateClosedEvent } from './turn-gate.js';

export { type EventHead, setHead };
export type { ModelCallEndEvent, ModelCallStartEvent, TokenUsage } from './model-call.js';
export { TurnGate, TurnGateClosedEvent } from './turn-gate.js';
export type { GateResult, ResolveOptions } from './turn-gate.js';

/** How an iteration ended; `continue` when another one follows. */
export type IterationStatus = 'continue' | 'ack' | 'nack' | 'aborted';
/** How a dispatch ended. */
export type DispatchStatus = 'ack' | 'nack' | 'aborted';
/** How a turn ended; `failed` if it did not end by a dispatch's signal. */
export type TurnStatus = 'ack' | 'nack' | 'aborted' | 'failed';
/** Weight of a line of the structured log. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** A write that reached neither storage nor the parent. */
export interface DiscardedWrite {
  readonly op: 'store' | 'mutate' | 'delete' | 'replaceToolCallGroup';
  readonly kind: RecordName;
  /** Id of the record; the text of a standing instruction. Empty for a group. */
  readonly id: string;
}

/** The cost of a model call. All fields are optional; counts are tokens, durations are nanoseconds. */
export interface GenerationStats {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly totalTokens?: number;
  /** Prompt tokens read from a cache. */
  readonly cachedTokens?: number;
  /** Completion tokens spent on reasoning. */
  readonly reasoningTokens?: number;
  readonly totalDurationNs?: number;
  readonly loadDurationNs?: number;
  readonly promptEvalDurationNs?: number;
  readonly evalDurationNs?: number;
  readonly finishReason?: string;
  readonly model?: string;
  readonly provider?: string;
  /** The provider's own statistics, unchanged. */
  readonly raw?: unknown;
  readonly [key: string]: unknown;
}

abstract class TextEvent extends BaseEvent {
  /** Names the stream within its dispatch. */
  declare readonly id: string;
  /** What was added. */
  declare readonly aDelta: string;
  /** The text so far, including this delta. Joined at the first read. */
  declare readonly full: string;
  /** Bytes of UTF-8 in the text so far. */
  declare readonly length: number;
  /** True for the stream's last event. */
  declare readonly isComplete: boolean;
  /** The stream was interrupted: the text is incomplete. Absent otherwise. */
  declare readonly isInterrupted?: true;
  /** When the stream was opened. */
  declare readonly createdAt: number;
  /** When this was added. */
  declare readonly updatedAt: number;
  /** When the stream was completed; absent before. */
  declare readonly completedAt?: number;

  constructor(
    id: string,
    aDelta: string,
    full: string,
    length: number,
    isComplete: boolean,
    isInterrupted: boolean,
    createdAt: number,
    at: number,
  ) {
    super();
    this.id = id;
    this.aDelta = aDelta;
    this.full = full;
    this.length = length;
    this.isComplete = isComplete;
    if (isInterrupted) this.isInterrupted = true;
    this.createdAt = createdAt;
    this.updatedAt = at;
    if (isComplete) this.completedAt = at;
  }

  protected describe(json: Record<string, unknown>): void {
    json['id'] = this.id;
    json['aDelta'] = this.aDelta;
    json['length'] = this.length;
    json['isComplete'] = this.isComplete;
    if (this.isInterrupted) json['isInterrupted'] = true;
    json['createdAt'] = this.createdAt;
    json['updatedAt'] = this.updatedAt;
    if (this.isComplete) {
      json['completedAt'] = this.completedAt;
      json['full'] = this.full;
    }
  }
}

/** A piece of an answer. */
export class MessageEvent extends TextEvent {
  readonly event = 'message';
}

/** A piece of a model's reasoning. */
export class ThoughtEvent extends TextEvent {
  readonly event = 'thought';
}

/** A tool call was announced, filled in or completed. */
export class ToolCallEvent extends BaseEvent {
  readonly event = 'toolCall';
  /** Names the call within its dispatch. */
  declare readonly id: string;
  /** Name of the tool; empty until known. */
  declare readonly tool: string;
  /** The arguments; absent until known. */
  declare readonly args?: unknown;
  /** SHA-256 of tool and arguments; empty until both are known. */
  declare readonly checksum: string;
  /** The execution that gave the results; absent until there is one. */
  declare readonly executionId?: string;
  /** The provider's id of the call; absent if it gave none. */
  declare readonly providerCallId?: string;
  declare readonly isComplete: boolean;
  declare readonly isError: boolean;
  /** The results; absent until given. */
  declare readonly results?: unknown;
  declare readonly createdAt: number;
  declare readonly updatedAt: number;
  declare readonly completedAt?: number;

  protected describe(json: Record<string, unknown>): void {
    json['id'] = this.id;
    json['tool'] = this.tool;
    if (this.args !== undefined) json['args'] = this.args;
    json['checksum'] = this.checksum;
    if (this.executionId !== undefined) json['executionId'] = this.executionId;
    if (this.providerCallId !== undefined) json['providerCallId'] = this.providerCallId;
    json['isComplete'] = this.isComplete;
    json['isError'] = this.isError;
    if (this.results !== undefined) json['results'] = this.results;
    json['createdAt'] = this.createdAt;
    json['updatedAt'] = this.updatedAt;
    if (this.completedAt !== undefined) json['completedAt'] = this.completedAt;
  }
}

abstract class StartEvent extends BaseEvent {
  declare readonly startedAt: number;

  protected describe(json: Record<string, unknown>): void {
    json['startedAt'] = this.startedAt;
  }
}

/** A turn begins. */
export class TurnStartEvent extends StartEvent {
  readonly event = 'turnStart';
}

/** A dispatch begins. */
export class DispatchStartEvent extends StartEvent {
  readonly event = 'dispatchStart';
}

/** An iteration begins. */
export class IterationStartEvent extends StartEvent {
  readonly event = 'iterationStart';
}

abstract class EndEvent extends BaseEvent {
  declare readonly startedAt: number;
  declare readonly endedAt: number;
  /** Milliseconds. */
  declare readonly durationMs: number;

  protected describeSpan(json: Record<string, unknown>): void {
    json['startedAt'] = this.startedAt;
    json['endedAt'] = this.endedAt;
    json['durationMs'] = this.durationMs;
  }
}

/** A turn has ended. Every turnStart has one. */
export class TurnEndEvent extends EndEvent {
  readonly event = 'turnEnd';
  declare readonly status: TurnStatus;
  /** The error, if the status is `failed`. */
  declare readonly error?: unknown;

  protected describe(json: Record<string, unknown>): void {
    json['status'] = this.status;
    this.describeSpan(json);
    if (this.error !== undefined) json['error'] = errorJSON(this.error);
  }
}

/** A dispatch has ended. Every dispatchStart has one. */
export class DispatchEndEvent extends EndEvent {
  readonly event = 'dispatchEnd';
  declare readonly status: DispatchStatus;
  /** Number of iterations that ran. */
  declare readonly iterations: number;
  /** The error of the nack. */
  declare readonly error?: unknown;

  protected describe(json: Record<string, unknown>): void {
    json['status'] = this.status;
    json['iterations'] = this.iterations;
    this.describeSpan(json);
    if (this.error !== undefined) json['error'] = errorJSON(this.error);
  }
}

/** An iteration has ended. Every iterationStart has one. */
export class IterationEndEvent extends EndEvent {
  readonly event = 'iterationEnd';
  declare readonly status: IterationStatus;
  /** Discarded writes; absent if there are none. */
  declare readonly discarded?: readonly DiscardedWrite[];

  protected describe(json: Record<string, unknown>): void {
    json['status'] = this.status;
    this.describeSpan(json);
    if (this.discarded !== undefined) json['discarded'] = this.discarded;
  }
}

/** A tool's handler is about to run. */
export class ToolExecutionStartEvent extends BaseEvent {
  readonly event = 'toolExecutionStart';
  declare readonly toolName: string;
  /** SHA-256 of the tool and the original arguments; equal calls share it. */
  declare readonly callId: string;
  /** Identifies this execution in its start and its end. */
  declare readonly executionId: string;
  /** The provider's id of the call; absent if it gave none. */
  declare readonly providerCallId?: string;
  /** The arguments, validated, defaults filled in. */
  declare readonly args: unknown;
  declare readonly startedAt: number;

  protected describe(json: Record<string, unknown>): void {
    describeExecution(this, json);
    json['args'] = this.args;
    json['startedAt'] = this.startedAt;
  }
}

/** A tool's handler has ended. */
export class ToolExecutionEndEvent extends EndEvent {
  readonly event = 'toolExecutionEnd';
  declare readonly toolName: string;
  declare readonly callId: string;
  declare readonly executionId: string;
  declare readonly providerCallId?: string;
  /** The handler threw. */
  declare readonly isError: boolean;

  protected describe(json: Record<string, unknown>): void {
    describeExecution(this, json);
    json['isError'] = this.isError;
    this.describeSpan(json);
  }
}

function describeExecution(
  event: ToolExecutionStartEvent | ToolExecutionEndEvent,
  json: Record<string, unknown>,
): void {
  json['toolName'] = event.toolName;
  json['callId'] = event.callId;
  if (event.executionId !== '') json['executionId'] = event.executionId;
  if (event.providerCallId !== undefined) json['providerCallId'] = event.providerCallId;
}

/** A line of the structured log. */
export class LogEvent extends BaseEvent {
  readonly event = 'log';
  declare readonly level: LogLevel;
  declare readonly kind: string;
  declare readonly message: string;
  /** Absent if none was given. */
  declare readonly payload?: unknown;
  declare readonly emittedAt: number;

  protected describe(json: Record<string, unknown>): void {
    json['level'] = this.level;
    json['kind'] = this.kind;
    json['message'] = this.message;
    if ('payload' in this) json['payload'] = this.payload;
  }
}

/** A problem that did not stop the turn. */
export class WarningEvent extends BaseEvent {
  readonly event = 'warning';
  declare readonly source: 'turn-runner' | 'dispatch-runner';
  declare readonly kind: string;
  declare readonly message: string;
  declare readonly error?: unknown;
  declare readonly payload?: unknown;
  declare readonly emittedAt: number;

  protected describe(json: Record<string, unknown>): void {
    json['source'] = this.source;
    json['kind'] = this.kind;
    json['message'] = this.message;
    if (this.error !== undefined) json['error'] = errorJSON(this.error);
    if (this.payload !== undefined) json['payload'] = this.payload;
  }
}

/**
 * The argument of an error listener: the object that was thrown or passed to `nack`. It can be any value; it should be
 * an Error.
 */
export type ReportedError = Error & { readonly code?: unknown };

/** Something failed. */
export class ErrorEvent extends BaseEvent {
  readonly event = 'error';
  /** The error itself, the object that was thrown or passed to `nack`. */
  declare readonly error: unknown;

  protected describe(json: Record<string, unknown>): void {
    json['error'] = errorJSON(this.error);
  }
}

/** The cost of a model call: the given statistics as fields. */
export class GenerationStatsEvent extends BaseEvent implements GenerationStats {
  readonly event = 'generationStats';
  declare readonly emittedAt: number;
  readonly [key: string]: unknown;

  protected describe(json: Record<string, unknown>): void {
    for (const key of Object.keys(this)) {
      if (!(key in json) && key !== 'emittedAt') json[key] = this[key];
    }
  }
}

/** Events of the functional bus, by name. */
export interface FunctionalEvents {
  message: MessageEvent;
  thought: ThoughtEvent;
  toolCall: ToolCallEvent;
}

/** Events of the observability bus, by name. */
export interface ObservabilityEvents {
  turnStart: TurnStartEvent;
  turnEnd: TurnEndEvent;
  dispatchStart: DispatchStartEvent;
  dispatchEnd: DispatchEndEvent;
  iterationStart: IterationStartEvent;
  iterationEnd: IterationEndEvent;
  toolExecutionStart: ToolExecutionStartEvent;
  toolExecutionEnd: ToolExecutionEndEvent;
  turnGateOpen: TurnGate;
  turnGateClosed: TurnGateClosedEvent;
  log: LogEvent;
  warning: WarningEvent;
  error: ErrorEvent;
  generationStats: GenerationStatsEvent;
  modelCallStart: ModelCallStartEvent;
  modelCallEnd: ModelCallEndEvent;
}

/** All events, by name. */
export type TurnEvents = FunctionalEvents & ObservabilityEvents;
/** Name of an event. */
export type EventName = keyof TurnEvents;
/** Any event; `event` is its name. */
export type TurnEvent = TurnEvents[EventName];
/** The payload of a message or thought event, under its name in the contract. */
export type TurnStreamableContent = MessageEvent | ThoughtEvent;
/** The payload of a toolCall event, under its name in the contract. */
export type TurnToolCallContent = ToolCallEvent;
