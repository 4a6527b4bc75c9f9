/**
 * Calls that wait for their replies.
 */

/** A call that waits for its reply. */
export class PendingCall {
  done = false;
  failed = false;
  value: unknown = undefined;
  resolve: ((value: unknown) => void) | undefined;
  reject: ((error: unknown) => void) | undefined;
  /** Whose call it is. */
  readonly session: object;
  /** Its number in the session. */
  readonly number: number;
  /** The call during which it was made, when both are answered in their steps. */
  readonly outer: PendingCall | undefined;

  constructor(session: object, number: number, outer: PendingCall | undefined) {
    this.session = session;
    this.number = number;
    this.outer = outer;
  }

  /** The session's call of a number among this one and those around it. */
  find(session: object, number: number): PendingCall | undefined {
    if (this.session === session && this.number === number) return this;
    return this.outer?.find(session, number);
  }

  settle(failed: boolean, value: unknown): void {
    this.done = true;
    this.failed = failed;
    this.value = value;
    if (failed) this.reject?.(value);
    else this.resolve?.(value);
  }
}
