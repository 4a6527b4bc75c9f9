/**
 * The events of a model's calls. Hosts make them, and no module, where somebody listens to one of them by its name.
 */
import { BaseEvent } from './base-event.js';
import { errorJSON } from './error-json.js';

/** Tokens of a call. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

abstract class ModelCallEvent extends BaseEvent {
  /** Absent for an engine. */
  declare readonly provider?: string;
  /** As in the options of the chat executor; the name of an engine. */
  declare readonly model: string;
  /** The number of the call in its iteration, from 1: more when a request is repeated. */
  declare readonly attempt: number;
  declare readonly startedAt: number;

  protected describe(json: Record<string, unknown>): void {
    if (this.provider !== undefined) json['provider'] = this.provider;
    json['model'] = this.model;
    json['attempt'] = this.attempt;
  }
}

/** A model is about to be called by the chat executor. */
export class ModelCallStartEvent extends ModelCallEvent {
  readonly event = 'modelCallStart';

  protected override describe(json: Record<string, unknown>): void {
    super.describe(json);
    json['startedAt'] = this.startedAt;
  }
}

/** The call of a model has ended. Every modelCallStart has one. */
export class ModelCallEndEvent extends ModelCallEvent {
  readonly event = 'modelCallEnd';
  /** `error` if it failed or was answered with an HTTP status from 400 on, `aborted` if nobody wants the answer. */
  declare readonly status: 'ok' | 'error' | 'aborted';
  /** Of the API's answer; absent without one. */
  declare readonly httpStatus?: number;
  declare readonly endedAt: number;
  /** Milliseconds. */
  declare readonly durationMs: number;
  /** When the first of the answer was reported; absent if nothing was. */
  declare readonly firstTokenAt?: number;
  /** As the model told; absent if it did not. */
  declare readonly usage?: TokenUsage;
  /** What the call failed with; absent if its answer says it. */
  declare readonly error?: unknown;

  protected override describe(json: Record<string, unknown>): void {
    super.describe(json);
    json['status'] = this.status;
    if (this.httpStatus !== undefined) json['httpStatus'] = this.httpStatus;
    json['startedAt'] = this.startedAt;
    json['endedAt'] = this.endedAt;
    json['durationMs'] = this.durationMs;
    if (this.firstTokenAt !== undefined) json['firstTokenAt'] = this.firstTokenAt;
    if (this.usage !== undefined) json['usage'] = this.usage;
    if (this.error !== undefined) json['error'] = errorJSON(this.error);
  }
}
