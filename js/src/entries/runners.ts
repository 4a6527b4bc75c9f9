/**
 * Types of what runners, dispatches and built-in middleware are configured with and return.
 *
 * @packageDocumentation
 */
export type {
  AgentSettings,
  ChatModel,
  ExecutorConfig,
  ModelConfig,
} from '../front/create-runner.js';
export type { JSONSchema, OutputSchema } from '../output/output.js';
export type { PartialObject, ToolCallResult, Usage } from '../runners/turn-stream.js';
export type {
  DispatchCallbacks,
  NamedDispatchCallbacks,
  OptionalCallbacks,
  RecordCallbacks,
} from '../runners/callbacks.js';
export type { RawDispatchContext, RawDispatchFields } from '../runners/dispatch-runner.js';
export type {
  DispatchEventName,
  DispatchHooks,
  DispatchObservers,
  Handlers,
} from '../runners/dispatch-handlers.js';
export type { AnyContext, Awaitable } from '../context/functions.js';
export type { RawTurnGate } from '../context/wait-for.js';
export type { ReportOptions, ToolCallReport } from '../context/executor-helpers.js';
export type { LogFn, Logger, LogLine } from '../context/log.js';
export type {
  EmittedText,
  EmittedToolCall,
  EmittedToolExecutionEnd,
  EmittedToolExecutionStart,
} from '../context/emit.js';
export type { Price, SpendLimitOptions } from '../middleware/spend-limit.js';
export type { TokenBudgetOptions } from '../middleware/token-budget.js';

export type { ModelChunk, ModelInvocation, ToolInvocation } from '../runners/wrappers.js';
