/**
 * Sessions and invocations: agents answer in events, a session keeps them with its state, and each event is stored,
 * then given to the caller, and only then does its agent go on.
 *
 * @packageDocumentation
 */
export {
  type ActionsData,
  type ConfirmationRequest,
  Event,
  EventActions,
  type EventData,
  functionCalls,
  functionResponses,
  isFinalResponse,
} from '../invocations/event.js';
export {
  type Content,
  type EventUsage,
  type FileData,
  type FunctionCall,
  type FunctionResponse,
  type GivenBytes,
  type GivenContent,
  type InlineData,
  type Part,
  textOf,
} from '../invocations/content.js';
export type { State } from '../invocations/state.js';
export { Session } from '../invocations/session.js';
export { type SessionKey, sessionKeyOf, storedId } from '../invocations/keys.js';
export { type PendingCall, pendingCalls } from '../invocations/pending.js';
export {
  type NewSession,
  type RecentEvents,
  SessionService,
  type SessionServiceOptions,
  type SessionsOf,
  type SessionSummary,
  type SummaryPage,
} from '../invocations/session-service.js';
export type { SessionStore } from '../invocations/session-store.js';
export { CallbackContext, InvocationContext, ToolContext } from '../invocations/contexts.js';
export type { AgentInfo, LiveSession } from '../invocations/contract.js';
export {
  type AfterModelCallback,
  type AfterToolCallback,
  type AgentCallback,
  AgentTool,
  type AgentToolConfig,
  type BaseAgentConfig,
  BaseAgent,
  type BeforeModelCallback,
  type BeforeToolCallback,
  type Callbacks,
  LlmAgent,
  type LlmAgentConfig,
  type LlmAgentTools,
  LoopAgent,
  type LoopAgentConfig,
  type ModelErrorCallback,
  ParallelAgent,
  SequentialAgent,
  type ToolCallInfo,
  type ToolErrorCallback,
} from '../invocations/agents.js';
export {
  type AgentModel,
  type ModelFunction,
  AgentRequest,
  type AgentResponse,
  type GivenResponse,
} from '../invocations/model.js';
export {
  createTool,
  type LlmAgentTool,
  type ConfirmationDetails,
  type SessionTool,
} from '../invocations/tools.js';
export type {
  AnyParams,
  JsonSchemaMembers,
  JsonSchemaNames,
  JsonSchemaType,
  ToolParams,
  ToolSchema,
} from '../invocations/tool-params.js';
export type { Compaction } from '../invocations/compaction.js';
export type { Plugin } from '../invocations/plugin.js';
export { Runner, type RunnerConfig, type RunInput } from '../invocations/runner.js';
