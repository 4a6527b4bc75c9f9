/**
 * Workers of Cloudflare, which compile modules only when they are deployed. Importing a module puts it into the Worker,
 * so only the default one is imported.
 */
import module from '../turncore.wasm';
import { LOST } from '../locate.js';
import type { PackagedModule, ReadFile } from './packaged.js';

export const core: PackagedModule = module;

export const full: PackagedModule = /* @__PURE__ */ new URL(`${LOST}turncore-full.wasm`);

export const readFile: ReadFile | undefined = undefined;

export { isolateMemory as memory } from './memory.js';
