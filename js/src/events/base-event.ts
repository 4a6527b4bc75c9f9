/**
 * What all events have in common.
 */

/** What every event carries. */
export interface EventHead {
  /** Grows by one per event of a turn, from 1, also when the clock stands still. */
  readonly seq: number;
  /** When it happened. */
  readonly at: number;
  /** The turn's id; absent in a standalone dispatch. */
  readonly turnId?: string;
  /** The dispatch's id; absent outside of one. */
  readonly dispatchId?: string;
  /** The dispatch's iteration, from 0; absent outside of one. */
  readonly iteration?: number;
}

/** What all events have in common. */
export abstract class BaseEvent implements EventHead {
  abstract readonly event: string;
  declare readonly seq: number;
  declare readonly at: number;
  declare readonly turnId?: string;
  declare readonly dispatchId?: string;
  declare readonly iteration?: number;

  /** The event as one line of an event log has it. */
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

/** @internal Fills in what every event carries, leaving out what does not apply. */
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
