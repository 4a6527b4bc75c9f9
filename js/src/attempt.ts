/**
 * Failures as promises.
 */

/** A promise that rejects with what was thrown, whatever that is. */
export function rejected<T>(thrown: unknown): Promise<T> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what user code threw stays what it is
  return Promise.reject(thrown);
}

/** Runs something that returns a promise, and rejects with what it throws. */
export function attempt<T>(run: () => Promise<T>): Promise<T> {
  try {
    return run();
  } catch (thrown) {
    return rejected(thrown);
  }
}
