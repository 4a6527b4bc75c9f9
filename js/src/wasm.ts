/**
 * Where this package's modules are, for hosts and bundlers that want to say so themselves.
 *
 * @packageDocumentation
 */

/** The URL of `turncore.wasm`, the default module, to be given to `loadModule` or fetched and cached by hand. */
export const moduleURL: URL = new URL('./turncore.wasm', import.meta.url);

/**
 * The URL of `turncore-full.wasm`, the same module with all providers of models; the default one has OpenAI's protocol
 * only.
 */
export const fullModuleURL: URL = new URL('./turncore-full.wasm', import.meta.url);
