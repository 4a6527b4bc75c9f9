/**
 * The location of `turncore-full.wasm`, in a file of its own: bundlers copy what the files that they read name.
 */
import { locate } from './locate.js';

/**
 * The URL of `turncore-full.wasm`, the same module with all model providers; the default one has OpenAI's protocol
 * only.
 */
export const fullModuleURL: URL = /* @__PURE__ */ locate(
  'turncore-full.wasm',
  () => new URL('./turncore-full.wasm', import.meta.url),
);
