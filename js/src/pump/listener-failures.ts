/**
 * What listeners throw, and how it is reported.
 */
import { EventKind, Method } from '../abi/frames.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { TurncoreError } from '../errors.js';
import type { TurnEvent } from '../events/events.js';
import { type ErrorTable, messageOf } from './error-table.js';

/** What a report needs of its session. */
export interface ReportingSession {
  readonly ended: boolean;
  readonly pump: { readonly alive: boolean };
  readonly contexts: readonly (object | undefined)[];
  readonly errors: ErrorTable;
  /** Number of the call that was begun last. */
  readonly call: number;
  dispatchId(dispatch: number): string;
  beginCall(context: number, method: number): Encoder;
  callNow(enc: Encoder, call: number): unknown;
}

/** Reports what the listeners of a session throw: when all have heard the event, as the report is one behind it. */
export class ListenerFailures {
  readonly #session: ReportingSession;
  #delivering = 0;
  #kept: unknown[] | undefined;

  constructor(session: ReportingSession) {
    this.#session = session;
  }

  /** Told what a listener threw. Later than its event's delivery it is reported at once. */
  readonly failed = (cause: unknown, event: TurnEvent): void => {
    if (this.#delivering > 0) (this.#kept ??= []).push(cause);
    else this.#report(cause, event);
  };

  /** An event is going to be delivered. @returns what {@link end} is given */
  begin(): unknown[] | undefined {
    this.#delivering++;
    const outer = this.#kept;
    this.#kept = undefined;
    return outer;
  }

  /** All have heard the event. */
  end(event: TurnEvent, outer: unknown[] | undefined): void {
    this.#delivering--;
    const failures = this.#kept;
    this.#kept = outer;
    if (failures !== undefined) for (const cause of failures) this.#report(cause, event);
  }

  /** Reports a failure, once. There is nobody to tell of a listener of errors that throws. */
  #report(cause: unknown, event: TurnEvent): void {
    const session = this.#session;
    const text = `${event.event}: ${messageOf(cause)}`;
    const error = TurncoreError.of('E_LISTENER_ERROR', text, { cause });
    if (event.event === 'error' || session.ended || !session.pump.alive) {
      console.error(error);
      return;
    }
    try {
      const context = session.contexts.findIndex(
        (s, n) => n > 0 && s !== undefined && session.dispatchId(n) === event.dispatchId,
      );
      const enc = session.beginCall(Math.max(context, 0), Method.Emit);
      const { call } = session;
      enc.arrayHeader(2);
      enc.int(EventKind.Error);
      enc.arrayHeader(1);
      session.errors.encode(enc, error, undefined);
      session.callNow(enc, call);
    } catch {
      console.error(error);
    }
  }
}
