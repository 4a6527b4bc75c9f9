/**
 * What is compiled into the module: middleware and handlers of tools. On the host each is a function like any other,
 * marked with what the module calls it.
 */

/** What the module calls a function, and its argument. */
export interface Builtin {
  readonly name: string;
  readonly argument: unknown;
  /** Of a middleware: whether it belongs in dispatch input and output pipelines. */
  readonly pipelines?: { readonly input: boolean; readonly output: boolean };
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
