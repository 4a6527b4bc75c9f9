/**
 * What has begun in a turn and not ended, to be closed when the instance dies.
 */
import { EventKind, Op, Status } from '../abi/frames.gen.js';
import type { ErrorValue, EventFrame } from '../codec/tuples.gen.js';

interface Span {
  readonly end: EndKind;
  readonly dispatch: number;
  readonly iteration: number;
  readonly started: number;
  readonly scope: number;
}

type EndKind =
  typeof EventKind.TurnEnd | typeof EventKind.DispatchEnd | typeof EventKind.IterationEnd;

/** The turns, dispatches and iterations whose start listeners have heard. */
export class OpenSpans {
  /** Stands for the failure in the frames that {@link close} makes. */
  static readonly FAILURE: ErrorValue = Object.freeze({
    handle: 0,
    name: '',
    code: '',
    message: '',
    status: 0,
    fatal: false,
    abort: false,
    details: null,
    cause: null,
    suppressed: [],
  });

  /** The failure in the frames that {@link close} makes. */
  failure: unknown = undefined;
  /** Whether anything has begun. */
  begun = false;
  /** Iterations that have begun. */
  iterations = 0;
  readonly #open: Span[] = [];

  /** Notes an Event frame. */
  note(frame: EventFrame): void {
    switch (frame.kind) {
      case EventKind.TurnStart:
        this.#begin(frame, EventKind.TurnEnd);
        return;
      case EventKind.DispatchStart:
        this.#begin(frame, EventKind.DispatchEnd);
        return;
      case EventKind.IterationStart:
        this.iterations++;
        this.#begin(frame, EventKind.IterationEnd);
        return;
      case EventKind.TurnEnd:
      case EventKind.DispatchEnd:
      case EventKind.IterationEnd:
        this.#end(frame.kind, frame.dispatch);
        return;
      default:
    }
  }

  /**
   * Event frames that end everything open, innermost first, with one error before the outermost.
   *
   * @param seq gives the number of the next event
   */
  *close(turn: number, elapsed: number, seq: () => number): Generator<EventFrame> {
    for (let span = this.#open.at(-1); span !== undefined; span = this.#open.at(-1)) {
      const { dispatch, scope } = span;
      const head = { op: Op.Event, turn, elapsed, dispatch, scope };
      if (this.#open.length === 1) {
        const payload = { error: OpenSpans.FAILURE };
        yield { ...head, seq: seq(), kind: EventKind.Error, iteration: -1, payload };
      }
      yield this.#ending({ ...head, seq: seq(), iteration: span.iteration }, span);
    }
  }

  #ending(head: Omit<EventFrame, 'kind' | 'payload'>, { end: kind, started }: Span): EventFrame {
    const error = OpenSpans.FAILURE;
    const status = Status.Nack;
    switch (kind) {
      case EventKind.IterationEnd:
        return { ...head, kind, payload: { started, status, discarded: [] } };
      case EventKind.DispatchEnd:
        return { ...head, kind, payload: { started, status, iterations: this.iterations, error } };
      case EventKind.TurnEnd:
        return { ...head, kind, payload: { started, status: Status.Failed, error } };
    }
  }

  #begin({ dispatch, iteration, elapsed, scope }: EventFrame, end: EndKind): void {
    this.begun = true;
    this.#open.push({ end, dispatch, iteration, started: elapsed, scope });
  }

  #end(kind: number, dispatch: number): void {
    const at = this.#open.findLastIndex((s) => s.end === kind && s.dispatch === dispatch);
    if (at >= 0) this.#open.splice(at, 1);
  }
}
