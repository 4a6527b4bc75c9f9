/**
 * Middleware that is compiled into the module. On the host it is a function like any other, marked with what the module
 * calls it, so that it also works where host code runs it.
 */

/** What the module calls a middleware, and its argument. */
export interface Builtin {
  readonly name: string;
  readonly argument: unknown;
}

const mark = Symbol('turncore.builtin');

/** Marks a function as one that the module has compiled in. */
export function asBuiltin<F extends (...args: never[]) => unknown>(builtin: Builtin, fn: F): F {
  Object.defineProperty(fn, mark, { value: builtin });
  return fn;
}

/** What the module calls a function; undefined for functions of the host. */
export function builtinOf(fn: (...args: never[]) => unknown): Builtin | undefined {
  return (fn as { [mark]?: Builtin })[mark];
}
