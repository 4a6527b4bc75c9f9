/**
 * The common part of all events.
 */

/** The common fields of all events. */
export interface EventHead {
  /** Grows by one per event of a turn, from 1, even when the clock stands still. */
  readonly seq: number;
  /** When it happened. */
  readonly at: number;
  /** The turn's id; absent in a standalone dispatch. */
  readonly turnId?: string;
  /** The dispatch's id; absent outside a dispatch. */
  readonly dispatchId?: string;
  /** The dispatch's iteration, from 0; absent outside a dispatch. */
  readonly iteration?: number;
}

/** The common part of all events. */
export abstract class BaseEvent implements EventHead {
  abstract readonly event: string;
  declare readonly seq: number;
  declare readonly at: number;
  declare readonly turnId?: string;
  declare readonly dispatchId?: string;
  declare readonly iteration?: number;

  /** The event as one line of an event log. */
  toJSON(): Record<string, unknown> {
    const json: Record<string, unknown> = { event: this.event, seq: this.seq, at: this.at };
    if (this.turnId !== undefined) json['turnId'] = this.turnId;
    if (this.dispatchId !== undefined) json['dispatchId'] = this.dispatchId;
    if (this.iteration !== undefined) json['iteration'] = this.iteration;
    this.describe(json);
    return json;
  }

  /** Adds the payload in the order of event logs. */
  protected abstract describe(json: Record<string, unknown>): void;
}

/** @internal Fills in the common fields that apply. */
export function setHead(
  event: EventHead,
  seq: number,
  at: number,
  turnId: string | undefined,
  dispatchId: string | undefined,
  iteration: number,
): void {
  const e = event as { -readonly [K in keyof EventHead]: EventHead[K] };
  e.seq = seq;
  e.at = at;
  if (turnId !== undefined) e.turnId = turnId;
  if (dispatchId !== undefined) e.dispatchId = dispatchId;
  if (iteration >= 0) e.iteration = iteration;
}
