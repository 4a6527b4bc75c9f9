import type { Instance } from '../../src/instance/instance.js';
import { LoadedModule } from '../../src/instance/loaded-module.js';
import type { Module } from '../../src/instance/module.js';
import type { InstantiateOptions } from '../../src/instance/module-options.js';

/** Starts an instance of a compiled module, without waiting. */
export function startNow(module: Module, options?: InstantiateOptions): Instance {
  return module.use(LoadedModule).instantiateSync(options);
}
