/**
 * The module that a command runs.
 */
import { readFile } from 'node:fs/promises';
import { loadModule, type Module } from '../instance/module.js';
import { fullModuleURL } from '../wasm.js';

/** Loads the module of a file, or the package's own. @throws Error if the file cannot be read or holds none */
export async function moduleOf(file: string | undefined): Promise<Module> {
  if (file === undefined) return loadModule(fullModuleURL);
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new Error(`--module: ${(error as Error).message}`, { cause: error });
  });
  if (!WebAssembly.validate(bytes)) throw new Error(`--module: ${file} is no WebAssembly module`);
  return loadModule(bytes);
}
