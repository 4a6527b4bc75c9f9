/**
 * What runs turns: instances of the module, the core, the contexts of user code, and what loads conversations. A
 * program that makes a runner needs it when the first turn starts.
 */
export { facadeOf } from '../context/facade.js';
export { LoadedModule } from '../instance/loaded-module.js';
export { JournalWriter } from '../journal/writer.js';
export { SessionLoader } from '../sessions/session-loader.js';
export { Core } from '../turn/core.js';
export { verifier } from '../turn/verifier.js';
