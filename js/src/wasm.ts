/**
 * Where this package's module is, for hosts and bundlers that want to say so themselves.
 *
 * @packageDocumentation
 */

/** The URL of `turncore.wasm`, to be given to `loadModule` or fetched and cached by hand. */
export const moduleURL: URL = new URL('./turncore.wasm', import.meta.url);
