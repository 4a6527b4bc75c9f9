/**
 * The locations of this package's modules, for hosts and bundlers that set them explicitly.
 *
 * @packageDocumentation
 */
export { moduleURL } from './module-url.js';
export { fullModuleURL } from './full-module-url.js';
