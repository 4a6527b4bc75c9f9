/**
 * Values that may come later.
 */

/** Goes on with a value, at once if it is there. */
export function then(value: unknown, next: (value: unknown) => unknown): unknown {
  return isThenable(value) ? value.then(next) : next(value);
}

/** Tells whether a value is one that comes later. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
