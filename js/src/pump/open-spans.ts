/**
 * What has begun and not ended in a turn, so that it can be closed when the instance dies.
 */
import { EventKind, Op, Status } from '../abi/frames.gen.js';

interface Span {
  /** EventKind of its end. */
  readonly end: number;
  readonly dispatch: number;
  readonly iteration: number;
  readonly started: number;
  readonly scope: number;
}

/** Kinds of end, by the kind of begin that they close. */
const ends: Readonly<Record<number, number>> = {
  [EventKind.TurnStart]: EventKind.TurnEnd,
  [EventKind.DispatchStart]: EventKind.DispatchEnd,
  [EventKind.IterationStart]: EventKind.IterationEnd,
};

/** The turns, dispatches and iterations that listeners were told have begun. */
export class OpenSpans {
  /** Stands for the failure in the frames that {@link close} makes. */
  static readonly FAILURE: unknown = Object.freeze(['failure']);

  /** What the frames that {@link close} makes speak of. */
  failure: unknown = undefined;
  /** Whether anything has begun. */
  begun = false;
  /** Iterations that have begun. */
  iterations = 0;
  readonly #open: Span[] = [];

  /** Takes note of an Event frame. */
  note(frame: readonly unknown[]): void {
    const kind = frame[3] as number;
    switch (kind) {
      case EventKind.IterationStart:
        this.iterations++;
        break;
      case EventKind.TurnStart:
      case EventKind.DispatchStart:
        break;
      case EventKind.TurnEnd:
      case EventKind.DispatchEnd:
      case EventKind.IterationEnd:
        this.#end(kind, frame[5] as number);
        return;
      default:
        return;
    }
    this.begun = true;
    this.#open.push({
      end: ends[kind]!,
      dispatch: frame[5] as number,
      iteration: frame[6] as number,
      started: frame[4] as number,
      scope: frame[7] as number,
    });
  }

  /**
   * Event frames that close what is open, innermost first, with one error before the outermost.
   *
   * @param seq gives the number of the next event
   */
  *close(turn: number, elapsed: number, seq: () => number): Generator<readonly unknown[]> {
    for (let span = this.#open.at(-1); span !== undefined; span = this.#open.at(-1)) {
      const { end, dispatch, iteration, scope } = span;
      if (this.#open.length === 1) {
        const payload = [OpenSpans.FAILURE];
        yield [Op.Event, turn, seq(), EventKind.Error, elapsed, dispatch, -1, scope, payload];
      }
      const payload = this.#payload(span);
      yield [Op.Event, turn, seq(), end, elapsed, dispatch, iteration, scope, payload];
    }
  }

  #payload(span: Span): unknown[] {
    switch (span.end) {
      case EventKind.IterationEnd:
        return [span.started, Status.Nack, []];
      case EventKind.DispatchEnd:
        return [span.started, Status.Nack, this.iterations, OpenSpans.FAILURE];
      default:
        return [span.started, Status.Failed, OpenSpans.FAILURE];
    }
  }

  #end(kind: number, dispatch: number): void {
    const at = this.#open.findLastIndex((s) => s.end === kind && s.dispatch === dispatch);
    if (at >= 0) this.#open.splice(at, 1);
  }
}
