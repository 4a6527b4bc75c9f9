/**
 * Turncore: the turn and dispatch core of an agent runtime. Turns run in one WebAssembly module; this package is its
 * host in browsers, workers, Node, Deno, Bun and workerd.
 *
 * This is the front door: runners, tools, records, stores and middleware. What a program needs less often has an entry
 * point of its own: `turncore/errors`, `turncore/events`, `turncore/host`, `turncore/models`, `turncore/records`,
 * `turncore/replay`, `turncore/runners`, `turncore/stores`, `turncore/tools`; `turncore/worker` runs turns in a worker.
 *
 * @packageDocumentation
 */
export {
  type AgentConfig,
  type AgentInput,
  AgentRunner,
  createRunner,
} from './front/create-runner.js';
export { type TurnInput, TurnRunner, type TurnRunnerConfig } from './runners/turn-runner.js';
export {
  type DispatchInput,
  type DispatchOutcome,
  DispatchRunner,
} from './runners/dispatch-runner.js';
export type { TurnResult, TurnStream } from './runners/turn-stream.js';
export type { ModelWrapper, ToolWrapper } from './runners/wrappers.js';
export { ChatExecutor } from './chat/chat-executor.js';
export { ArtifactTool, Tool } from './tools/tool.js';
export { ToolRegistry } from './tools/tool-registry.js';
export {
  artifactsTool,
  calculatorTool,
  fetchTool,
  memoryTools,
  retrievablesTool,
  timeTool,
} from './tools/catalogue.js';
export { maxIterations } from './middleware/max-iterations.js';
export { ackOnNoToolCalls, deadline, maxRepeats } from './middleware/bounds.js';
export { spendLimit } from './middleware/spend-limit.js';
export { tokenBudget } from './middleware/token-budget.js';
export { Message } from './primitives/message.js';
export { Memory } from './primitives/memory.js';
export { Retrievable } from './primitives/retrievable.js';
export { Thought } from './primitives/thought.js';
export { ToolCall } from './primitives/tool-call.js';
export { Identity } from './primitives/identity.js';
export { Media } from './primitives/media.js';
export { Tokenizable } from './primitives/tokenizable.js';
export { SpooledArtifact } from './primitives/spooled-artifact.js';
export { SpooledJsonArtifact } from './primitives/spooled-json-artifact.js';
export { SpooledMarkdownArtifact } from './primitives/spooled-markdown-artifact.js';
export { Stash } from './stash/stash.js';
export { MemoryReader } from './readers/memory-reader.js';
export { toolCallChecksum } from './tools/checksum.js';
export { TurnContext } from './context/turn-context.js';
export { DispatchContext } from './context/dispatch-context.js';
export type { DispatchExecutorHelpers } from './context/executor-helpers.js';
export { Host, type HostOptions } from './host/host.js';
export { loadModule } from './instance/module.js';
export { memoryStore } from './store/memory-store.js';
export { storeCallbacks } from './store/store-callbacks.js';
export { loadConversation } from './store/load-conversation.js';
export { isTurncoreError, TurncoreError } from './errors.js';
export type { TurnCallbacks } from './runners/callbacks.js';
export type {
  DispatchExecutorFn,
  DispatchPipelineMiddlewareFn,
  NextFn,
  TurnPipelineMiddlewareFn,
} from './context/functions.js';
/** Older name of DispatchExecutorFn. */
export type { DispatchExecutorFn as LLMExecutorFn } from './context/functions.js';
/** Older name of DispatchPipelineMiddlewareFn. */
export type { DispatchPipelineMiddlewareFn as LLMExecCtxMiddlewareFn } from './context/functions.js';
export type {
  TurnEvent,
  TurnGate,
  TurnStreamableContent,
  TurnToolCallContent,
} from './events/events.js';
export type { Store } from './store/store.js';
export type { Delta } from './collections/deltas.js';
export type { ModelEngine } from './chat/model-engine.js';
