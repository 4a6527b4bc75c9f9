/**
 * Plugins: code around all agents of a runner.
 */
/* eslint-disable @typescript-eslint/no-invalid-void-type -- a function that answers nothing returns void */
import type { Awaitable } from '../awaitable.js';
import type {
  AfterModelCallback,
  AfterToolCallback,
  AgentCallback,
  BeforeModelCallback,
  BeforeToolCallback,
  ModelErrorCallback,
  ToolErrorCallback,
} from './agents.js';
import type { Content, GivenContent } from './content.js';
import type { CallbackContext } from './contexts.js';
import type { Event, EventData } from './event.js';

/** Code around all agents of a runner. Plugins are called in order, before the callbacks of agents. */
export interface Plugin {
  readonly name: string;
  /** Gets the user's message before it is stored, and may give another content in its place. */
  onUserMessage?(
    ctx: CallbackContext,
    message: Content,
  ): Awaitable<GivenContent | undefined | void>;
  /** Is called before the agent. A content that it gives is the answer: it is stored and delivered, and no agent runs. */
  beforeRun?(ctx: CallbackContext): Awaitable<GivenContent | undefined | void>;
  /** Is called once at the end, also when the caller has left early. */
  afterRun?(ctx: CallbackContext): Awaitable<void>;
  /** Gets each event before it is stored and delivered, and may give another in its place. */
  onEvent?(ctx: CallbackContext, event: Event): Awaitable<EventData | undefined | void>;
  beforeAgent?(...args: Parameters<AgentCallback>): ReturnType<AgentCallback>;
  afterAgent?(...args: Parameters<AgentCallback>): ReturnType<AgentCallback>;
  beforeModel?(...args: Parameters<BeforeModelCallback>): ReturnType<BeforeModelCallback>;
  afterModel?(...args: Parameters<AfterModelCallback>): ReturnType<AfterModelCallback>;
  onModelError?(...args: Parameters<ModelErrorCallback>): ReturnType<ModelErrorCallback>;
  beforeTool?(...args: Parameters<BeforeToolCallback>): unknown;
  afterTool?(...args: Parameters<AfterToolCallback>): unknown;
  onToolError?(...args: Parameters<ToolErrorCallback>): unknown;
}
