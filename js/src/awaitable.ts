/**
 * What user functions give and get that may come later.
 */

/** What a callback, middleware or reader may give: a value, at once or later. */
export type Awaitable<T> = T | PromiseLike<T>;

/** Runs what follows a middleware. Resolves when that has ended, also when it failed; never rejects. */
export type NextFn = () => Promise<void>;

/**
 * Lets go of what a function gave in the place of a value that was wanted at once. If it is a promise, its failure is nobody's:
 * what is told is that it was none of the values.
 */
export function letGo(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Promise.resolve(value).catch(() => undefined);
}
