/**
 * The location of `turncore.wasm`, in a file of its own: bundlers copy what the files that they read name.
 */
import { locate } from './locate.js';

/** The URL of `turncore.wasm`, the default module, for `loadModule` or for your own fetch and cache. */
export const moduleURL: URL = /* @__PURE__ */ locate(
  'turncore.wasm',
  () => new URL('./turncore.wasm', import.meta.url),
);
