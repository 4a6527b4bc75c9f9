/**
 * Telling objects of other realms.
 */

/** The class name that an object states. Unlike instanceof, this works for objects of other realms. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Whether a source is a compiled module. */
export function isCompiled(source: unknown): source is WebAssembly.Module {
  return tagOf(source) === 'WebAssembly.Module';
}
