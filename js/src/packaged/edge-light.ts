/**
 * Vercel's edge runtime, which compiles modules only when they are deployed, and asks for them by `?module`.
 */
import module from '../turncore.wasm?module';
import { LOST } from '../locate.js';
import type { PackagedModule, ReadFile } from './packaged.js';

export const core: PackagedModule = module;

export const full: PackagedModule = /* @__PURE__ */ new URL(`${LOST}turncore-full.wasm`);

export const readFile: ReadFile | undefined = undefined;

export { isolateMemory as memory } from './memory.js';
