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

  settle(failed: boolean, value: unknown): void {
    this.done = true;
    this.failed = failed;
    this.value = value;
    if (failed) this.reject?.(value);
    else this.resolve?.(value);
  }
}
