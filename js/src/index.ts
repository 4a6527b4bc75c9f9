/**
 * Turncore: the turn and dispatch core of an agent runtime. Turns run in one WebAssembly module; this package is its
 * host in browsers, workers, Node, Deno, Bun and workerd.
 *
 * @packageDocumentation
 */
export {
  type AgentConfig,
  type AgentInput,
  AgentRunner,
  type AgentSettings,
  type ChatModel,
  createRunner,
  type ExecutorConfig,
  type ModelConfig,
} from './front/create-runner.js';
export { ChatExecutor, type EngineOptions } from './chat/chat-executor.js';
export { providerKey } from './chat/providers.js';
export type {
  AnthropicChatOptions,
  Bucket,
  ChatOptions,
  CommonChatOptions,
  EngineChatOptions,
  ExecutorOptions,
  GeminiChatOptions,
  ModelCapabilities,
  OllamaChatOptions,
  OpenAIChatOptions,
  OpenAIResponsesChatOptions,
  ProviderName,
  RetryOptions,
} from './chat/options.gen.js';
export type {
  ModelCall,
  ModelEngine,
  ModelContent,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
} from './chat/model-engine.js';
export { ackOnNoToolCalls, deadline, maxRepeats } from './middleware/bounds.js';
export { maxIterations } from './middleware/max-iterations.js';
export { type Price, spendLimit, type SpendLimitOptions } from './middleware/spend-limit.js';
export { tokenBudget, type TokenBudgetOptions } from './middleware/token-budget.js';
export type { JSONSchema, OutputSchema } from './output/output.js';
export {
  type PartialObject,
  type ToolCallResult,
  type TurnResult,
  type TurnStream,
  type Usage,
} from './runners/turn-stream.js';

export { type TurnInput, TurnRunner, type TurnRunnerConfig } from './runners/turn-runner.js';
export type {
  DispatchCallbacks,
  NamedDispatchCallbacks,
  OptionalCallbacks,
  RecordCallbacks,
  TurnCallbacks,
} from './runners/callbacks.js';
export {
  type DispatchInput,
  type DispatchOutcome,
  DispatchRunner,
  type RawDispatchContext,
  type RawDispatchFields,
} from './runners/dispatch-runner.js';
export type {
  DispatchEventName,
  DispatchHooks,
  DispatchObservers,
  Handlers,
} from './runners/dispatch-handlers.js';
export { Host, type HostOptions } from './host/host.js';
export type { Credential } from './http/credential.js';
export type {
  AnyContext,
  Awaitable,
  DispatchExecutorFn,
  DispatchPipelineMiddlewareFn,
  NextFn,
  TurnPipelineMiddlewareFn,
} from './context/functions.js';
export type { RawTurnGate } from './context/wait-for.js';

/** Older name of DispatchExecutorFn. */
export type { DispatchExecutorFn as LLMExecutorFn } from './context/functions.js';
/** Older name of DispatchPipelineMiddlewareFn. */
export type { DispatchPipelineMiddlewareFn as LLMExecCtxMiddlewareFn } from './context/functions.js';
export type {
  DeleteDelta,
  Delta,
  MutateDelta,
  ReplaceGroupDelta,
  StoreDelta,
} from './collections/deltas.js';

export { TurnContext } from './context/turn-context.js';
export { DispatchContext } from './context/dispatch-context.js';
export type {
  DispatchExecutorHelpers,
  ReportOptions,
  ToolCallReport,
} from './context/executor-helpers.js';
export type { LogFn, Logger, LogLine } from './context/log.js';
export type {
  EmittedText,
  EmittedToolCall,
  EmittedToolExecutionEnd,
  EmittedToolExecutionStart,
} from './context/emit.js';
export { type AsText, RecordSet } from './collections/record-set.js';
export {
  type AnyRecord,
  History,
  type HistoryKind,
  type RecordOfKind,
} from './collections/history.js';
export type { Entry, RecordName } from './collections/kinds.js';
export { Stash } from './stash/stash.js';

export { Identity, type RawIdentity } from './primitives/identity.js';
export { Memory, type RawMemory } from './primitives/memory.js';
export { Message, type RawMessage, type Role } from './primitives/message.js';
export { type RawRetrievable, Retrievable } from './primitives/retrievable.js';
export type { TrustTier } from './primitives/trust-tier.js';
export {
  Media,
  type MediaKind,
  type MediaParts,
  type MediaStashEntry,
  type ModalityHazard,
  type RawMedia,
} from './primitives/media.js';
export {
  type ConduitBytes,
  isMediaReader,
  isSpoolReader,
  type MediaReader,
  type ReaderDescription,
  type SpoolReader,
} from './primitives/readers.js';
export {
  type ArtifactClass,
  isArtifactClass,
  type SizeHints,
  SpooledArtifact,
} from './primitives/spooled-artifact.js';
export { type JsonForm, SpooledJsonArtifact } from './primitives/spooled-json-artifact.js';
export { SpooledMarkdownArtifact } from './primitives/spooled-markdown-artifact.js';
export {
  type ArtifactHandle,
  type HandleRenderer,
  renderHandle,
} from './primitives/artifact-handle.js';
export { type RawThought, Thought } from './primitives/thought.js';
export type { Timestamp } from './primitives/timestamp.js';
export { type TextEvaluator, type TextSource, Tokenizable } from './primitives/tokenizable.js';
export type { Tokenizer } from './primitives/tokenizers.js';
export { type RawToolCall, ToolCall, type ToolCallResults } from './primitives/tool-call.js';

export {
  type AnyTool,
  type ArtifactText,
  ArtifactTool,
  type CallOptions,
  type CollisionPolicy,
  type ObjectSchema,
  type RawTool,
  Tool,
  type ToolCaller,
  type ToolDescription,
  type ToolHandler,
} from './tools/tool.js';
export type {
  IssueStep,
  JSONSchemaOptions,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from './tools/standard-schema.js';
export type { AnyArtifactClass } from './validation/artifact-class.js';
export {
  artifactsTool,
  calculatorTool,
  type FetchArgs,
  type FetchMethod,
  type FetchOptions,
  fetchTool,
  type FoundLine,
  memoryTools,
  retrievablesTool,
  timeTool,
} from './tools/catalogue.js';
export { toolCallChecksum } from './tools/checksum.js';
export { type MergeOptions, ToolRegistry } from './tools/tool-registry.js';

export type { Listener } from './events/bus.js';
export { errorJSON, type ErrorJSON } from './events/error-json.js';
export type {
  DiscardedWrite,
  DispatchEndEvent,
  DispatchStartEvent,
  DispatchStatus,
  ErrorEvent,
  ReportedError,
  EventHead,
  EventName,
  FunctionalEvents,
  GateResult,
  GenerationStats,
  GenerationStatsEvent,
  IterationEndEvent,
  IterationStartEvent,
  IterationStatus,
  LogEvent,
  LogLevel,
  MessageEvent,
  ObservabilityEvents,
  ResolveOptions,
  ThoughtEvent,
  ToolCallEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  TurnEndEvent,
  TurnEvent,
  TurnEvents,
  TurnGate,
  TurnGateClosedEvent,
  TurnStartEvent,
  TurnStatus,
  TurnStreamableContent,
  TurnToolCallContent,
  WarningEvent,
} from './events/events.js';

export {
  type ByteStore,
  type MediaStore,
  MemoryMediaStore,
  MemorySpoolStore,
  type SpoolStore,
} from './store/byte-store.js';
export { MemoryReader } from './readers/memory-reader.js';
export {
  blobReader,
  type ByteSource,
  fileReader,
  RangeReader,
  type ReadableFile,
} from './readers/range-reader.js';
export { memoryStore } from './store/memory-store.js';
export { loadConversation } from './store/load-conversation.js';
export { type SessionOptions, storeCallbacks } from './store/store-callbacks.js';
export type { BytesReader, Conversation, Store } from './store/store.js';

export type { ErrorCode } from './abi/codes.gen.js';
export {
  type ErrorClass,
  type ErrorOf,
  isTurncoreError,
  TurncoreError,
  type TurncoreErrorOptions,
} from './errors.js';
export * from './error-classes.gen.js';
export {
  type Clock,
  type Entropy,
  FIXED_INSTANT,
  fixedClock,
  seededEntropy,
  systemClock,
  systemEntropy,
} from './entropy.js';
export type { GoLoader, GoRuntime } from './instance/gojs.js';
export {
  type InstantiateOptions,
  loadModule,
  Module,
  type ModuleOptions,
} from './instance/module.js';
export type { ModuleSource } from './instance/source.js';
export type { Limits, Quota } from './instance/limits.js';
export type { JournalHeader } from './journal/format.js';
export { type JournalSink, MemoryJournal } from './journal/writer.js';
export { replay, type ReplayDifference, type ReplayReport } from './journal/replay.js';
