/**
 * Failures as promises.
 */

/** A promise that rejects with a thrown value. */
export function rejected<T>(thrown: unknown): Promise<T> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what user code threw stays what it is
  return Promise.reject(thrown);
}

/** Runs a function that may return a promise. If it throws, the promise that is returned rejects. */
export function attempt<T>(run: () => T): T | Promise<never> {
  try {
    return run();
  } catch (thrown) {
    return rejected(thrown);
  }
}
