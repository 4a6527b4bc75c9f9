/**
 * What runs turns: instances of the module, the core, and the contexts of user code. A program that makes a runner
 * needs it when the first turn starts.
 */
export { facadeOf } from '../context/facade.js';
export { LoadedModule } from '../instance/loaded-module.js';
export { JournalWriter } from '../journal/writer.js';
export { Core } from '../turn/core.js';
