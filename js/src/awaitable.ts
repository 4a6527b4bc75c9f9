/**
 * Values of user functions that may be promises.
 */

/** The result of a callback, middleware or reader: a value or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** Runs the rest of the pipeline. Resolves when it has ended, even if it failed; never rejects. */
export type NextFn = () => Promise<void>;

/** Whether a value is a promise or a thenable. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/**
 * Lets go of what a function gave in the place of a value that was wanted at once. If it is a promise, its failure is
 * nobody's: what is told is that it was none of the values.
 */
export function letGo(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Promise.resolve(value).catch(nothing);
}

const nothing = (): undefined => undefined; // one for all, as a promise may wait long
