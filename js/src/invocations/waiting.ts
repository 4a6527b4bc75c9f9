/**
 * Waiting for stores, unless they answer at once: that saves a program with sessions in memory most of what promises
 * cost.
 */
import { attempt } from '../attempt.js';
import { type Awaitable, isThenable } from '../awaitable.js';

/** Goes on with a value, which is waited for if it is a promise. */
export function after<T, R>(value: Awaitable<T>, goOn: (value: T) => Awaitable<R>): Awaitable<R> {
  return isThenable(value) ? Promise.resolve(value).then(goOn) : goOn(value);
}

/** The values that functions return, which are waited for if one is a promise. All functions run, even if one throws. */
export function all<T extends readonly unknown[]>(
  ...runs: { readonly [I in keyof T]: () => Awaitable<T[I]> }
): Awaitable<T> {
  const values = runs.map((run) => attempt(run));
  return (values.some(isThenable) ? Promise.all(values) : values) as unknown as Awaitable<T>;
}
