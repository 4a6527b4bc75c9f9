/**
 * Values that may come later.
 */
import { isThenable } from '../awaitable.js';

/** Goes on with a value, at once if it is there. */
export function then(value: unknown, next: (value: unknown) => unknown): unknown {
  return isThenable(value) ? value.then(next) : next(value);
}
