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
  readonly turn: object;
  /** Its number in the turn. */
  readonly number: number;
  /** The call around it, if both are answered in their steps. */
  readonly outer: PendingCall | undefined;

  constructor(turn: object, number: number, outer: PendingCall | undefined) {
    this.turn = turn;
    this.number = number;
    this.outer = outer;
  }

  /** Finds the turn's call with a number among this one and those around it. */
  find(turn: object, number: number): PendingCall | undefined {
    if (this.turn === turn && this.number === number) return this;
    return this.outer?.find(turn, number);
  }

  settle(failed: boolean, value: unknown): void {
    this.done = true;
    this.failed = failed;
    this.value = value;
    if (failed) this.reject?.(value);
    else this.resolve?.(value);
  }
}
