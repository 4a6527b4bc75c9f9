/**
 * Models of agents: those behind an API or an engine, which the executor in the module calls, and functions of the program.
 */
import { SessionMethod } from '../abi/frames.gen.js';
import type { Awaitable } from '../awaitable.js';
import type { ChatExecutor, EngineOptions } from '../chat/chat-executor.js';
import type { ModelEngine } from '../chat/model-engine.js';
import { writeRespondArgs } from '../codec/tuples.gen.js';
import type { DispatchContext } from '../context/dispatch-context.js';
import { stateOf } from '../context/state-of.js';
import type { ChatModel } from '../front/create-runner.js';
import type { ToolDescription } from '../tools/tool.js';
import { type Content, contentOf, type EventUsage } from './content.js';
import type { OpenInvocation } from './contract.js';

/** An answer of a model, or a part of a stream of one. */
export interface AgentResponse {
  readonly content?: Content | undefined;
  /** Part of a stream. The whole answer follows. */
  readonly partial?: boolean;
  readonly turnComplete?: boolean;
  readonly interrupted?: boolean;
  readonly finishReason?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly usage?: EventUsage;
  readonly customMetadata?: Readonly<Record<string, unknown>>;
}

/** Asks what a model call is about. */
export interface RequestSource {
  ask(method: number, write: null, context: number): unknown;
}

/** What a model call is about. What is not read is not made. */
export class AgentRequest {
  readonly #source: RequestSource;
  readonly #context: number;
  /** Fires when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  #parts: RequestParts | undefined;

  /** @internal */
  constructor(source: RequestSource, context: number, signal: AbortSignal) {
    this.#source = source;
    this.#context = context;
    this.signal = signal;
  }

  /** Instructions to the model; empty for none. */
  get instructions(): string {
    return this.#read().instructions;
  }

  /** The conversation as the agent's model sees it. */
  get contents(): readonly Content[] {
    return this.#read().contents;
  }

  /** The tools that the model may call. */
  get tools(): readonly ToolDescription[] {
    return this.#read().tools;
  }

  #read(): RequestParts {
    return (this.#parts ??= this.#source.ask(
      SessionMethod.Request,
      null,
      this.#context,
    ) as RequestParts);
  }
}

/** A request as the module tells it. */
interface RequestParts {
  readonly instructions: string;
  readonly contents: readonly Content[];
  readonly tools: readonly ToolDescription[];
}

/** A model that is a function of the program: it answers with one answer, or with the parts of one as they come. */
export type ModelFunction = (
  request: AgentRequest,
) => AsyncIterable<AgentResponse | string> | Awaitable<AgentResponse | string>;

/** The model of an agent: options of one behind an API, an engine, an executor of the module, or a function. */
export type AgentModel = ChatModel | EngineOptions | ModelEngine | ChatExecutor | ModelFunction;

/** An executor that lets a function answer. */
export function executorFor(model: ModelFunction): (ctx: DispatchContext) => Promise<void> {
  return async (ctx) => {
    const { turn, number, signal } = ctx[stateOf];
    const invocation = turn as unknown as OpenInvocation;
    const answer = await model(new AgentRequest(invocation, number, signal));
    const respond = (response: AgentResponse | string): Promise<unknown> => {
      const value = responseOf(response);
      return invocation.later(
        SessionMethod.Respond,
        (enc) => writeRespondArgs(enc, { response: (e) => e.value(value, 'response') }),
        number,
      );
    };
    if (!isStream(answer)) await respond(answer);
    else for await (const part of answer) await respond(part);
  };
}

/** An answer in place of a text. */
export function responseOf(given: AgentResponse | string): AgentResponse {
  return typeof given === 'string' ? { content: contentOf(given, 'model') } : { ...given };
}

function isStream(
  answer: AsyncIterable<AgentResponse | string> | AgentResponse | string,
): answer is AsyncIterable<AgentResponse | string> {
  return typeof answer === 'object' && Symbol.asyncIterator in answer;
}
