/**
 * The locations of this package's modules, for hosts and bundlers that set them explicitly.
 *
 * @packageDocumentation
 */

/** The URL of `turncore.wasm`, the default module, for `loadModule` or for your own fetch and cache. */
export const moduleURL: URL = new URL('./turncore.wasm', import.meta.url);

/**
 * The URL of `turncore-full.wasm`, the same module with all model providers; the default one has OpenAI's protocol
 * only.
 */
export const fullModuleURL: URL = new URL('./turncore-full.wasm', import.meta.url);
