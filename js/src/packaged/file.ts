/**
 * Platforms with a file system: Node, Deno, Bun.
 */
import { readFile as read } from 'node:fs/promises';

import { fullModuleURL } from '../full-module-url.js';
import { moduleURL } from '../module-url.js';
import type { PackagedModule, ReadFile } from './packaged.js';

export const core: PackagedModule = moduleURL;

export const full: PackagedModule = fullModuleURL;

export const readFile: ReadFile | undefined = read;

export { machineMemory as memory } from './memory.js';
