/**
 * Platforms that fetch modules: pages and their workers. Here `process` means nothing, wherever it comes from.
 */
import { locate } from '../locate.js';
import { moduleURL } from '../module-url.js';
import type { PackagedModule, ReadFile } from './packaged.js';

/** The default module. */
export const core: PackagedModule = moduleURL;

/** The module with all providers, beside the default one. Bundlers do not copy it: most programs never load it. */
export const full: PackagedModule = /* @__PURE__ */ locate(
  'turncore-full.wasm',
  () => new URL('turncore-full.wasm', moduleURL),
);

/** No files. */
export const readFile: ReadFile | undefined = undefined;

export { machineMemory as memory } from './memory.js';
