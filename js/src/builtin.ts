/**
 * Middleware and tool handlers that are compiled into the module. On the host each is an ordinary function, marked
 * with its name in the module.
 */

/** A function's name in the module, and its argument. */
export interface Builtin {
  readonly name: string;
  readonly argument: unknown;
  /** For middleware: whether it belongs in dispatch input and output pipelines. */
  readonly pipelines?: { readonly input: boolean; readonly output: boolean };
}

const mark = Symbol('turncore.builtin');

/** Marks a function as compiled into the module. */
export function asBuiltin<F extends (...args: never[]) => unknown>(builtin: Builtin, fn: F): F {
  Object.defineProperty(fn, mark, { value: builtin });
  return fn;
}

/** A function's name in the module; undefined for functions of the host. */
export function builtinOf(fn: (...args: never[]) => unknown): Builtin | undefined {
  return (fn as { [mark]?: Builtin })[mark];
}
