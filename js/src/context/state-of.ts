/**
 * How the package's own modules reach a context's internals.
 */

/** The name of a context's internals. */
export const stateOf = Symbol('state');
