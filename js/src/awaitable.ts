/**
 * Values that may come later.
 */

/** What a callback, middleware or reader may give: a value, at once or later. */
export type Awaitable<T> = T | PromiseLike<T>;
