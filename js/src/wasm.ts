/**
 * Where this package's modules are, for hosts and bundlers that want to say so themselves.
 *
 * @packageDocumentation
 */

/** The URL of `turncore.wasm`, to be given to `loadModule` or fetched and cached by hand. */
export const moduleURL: URL = new URL('./turncore.wasm', import.meta.url);

/**
 * The URL of `turncore-full.wasm`, which has the reader tools of Markdown artifacts as well and is about 50 KB larger as a page
 * downloads it.
 */
export const fullModuleURL: URL = new URL('./turncore-full.wasm', import.meta.url);
