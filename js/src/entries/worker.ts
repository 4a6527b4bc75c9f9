/**
 * Turns in a worker, away from the thread of the page: `createWorkerRunner` in the page, `serveRunner` in the worker.
 * It works with the workers of browsers, Deno, Bun and Node, and with any `MessagePort`.
 *
 * @packageDocumentation
 */
export type { WorkerChannel } from '../worker/channel.js';
export type { Cloneable } from '../worker/cloneable.js';
export {
  type AnyPageTool,
  type PageCall,
  PageTool,
  type RawPageTool,
} from '../worker/page-tool.js';
export { type MakeRunner, serveRunner } from '../worker/serve-runner.js';
export { WorkerTimeoutError } from '../worker/watch.js';
export {
  createWorkerRunner,
  type WorkerInput,
  WorkerRunner,
  type WorkerRunnerOptions,
} from '../worker/worker-runner.js';
