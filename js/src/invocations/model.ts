/**
 * Models of agents: those behind an API or an engine, which the executor in the module calls, and functions of the
 * program.
 */
import { SessionMethod } from '../abi/frames.gen.js';
import { type Awaitable, isThenable } from '../awaitable.js';
import type { ChatExecutor, EngineOptions } from '../chat/chat-executor.js';
import type { ModelEngine } from '../chat/model-engine.js';
import { writeRespondArgs } from '../codec/tuples.gen.js';
import type { DispatchContext } from '../context/dispatch-context.js';
import { stateOf } from '../context/state-of.js';
import type { ChatModel } from '../front/create-runner.js';
import { invocationError } from '../session-errors.js';
import type { ToolDescription } from '../tools/tool.js';
import { type Content, contentOf, type EventUsage, type GivenBytes, withBytes } from './content.js';
import type { Abortable, OpenInvocation } from './contract.js';
import { writeMembers } from './invalid.js';
import { hasNames } from './names.js';
import type { RequestParts } from './shown.js';

/**
 * An answer of a model, or a part of a stream of one.
 *
 * @typeParam Data what the bytes within its content are
 */
export interface AgentResponse<Data = Uint8Array> {
  readonly content?: Content<Data> | undefined;
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

/** What may stand for an answer of a model: a text is its content, and bytes may be base64, as JSON has them. */
export type GivenResponse = AgentResponse<GivenBytes> | string;

/** Asks what a model call is about. */
export interface RequestSource {
  request(context: number): RequestParts;
}

/** What a model call is about. What is not read is not made. */
export class AgentRequest {
  readonly #source: RequestSource;
  readonly #context: number;
  readonly #of: Abortable;
  #parts: RequestParts | undefined;
  #contents: readonly Content[] | undefined;

  /** @internal */
  constructor(source: RequestSource, context: number, of: Abortable) {
    this.#source = source;
    this.#context = context;
    this.#of = of;
  }

  /** Fires when the answer is no longer wanted. */
  get signal(): AbortSignal {
    return this.#of.signal;
  }

  /** Instructions to the model; empty for none. */
  get instructions(): string {
    return this.#read().instructions;
  }

  /** The conversation as the agent's model sees it, the oldest content first. */
  get contents(): readonly Content[] {
    const { contents, count } = this.#read();
    return (this.#contents ??= contents.slice(0, count));
  }

  /** The last of {@link contents}, at the same cost however many there are; undefined if there is none. */
  get lastContent(): Content | undefined {
    const { contents, count } = this.#read();
    return contents[count - 1];
  }

  /** The tools that the model may call. */
  get tools(): readonly ToolDescription[] {
    return this.#read().tools!;
  }

  #read(): RequestParts {
    return (this.#parts ??= this.#source.request(this.#context));
  }
}

/** A model that is a function of the program: it answers with one answer, or with the parts of one as they come. */
export type ModelFunction = (
  request: AgentRequest,
) => AsyncIterable<GivenResponse> | Awaitable<GivenResponse>;

/** The model of an agent: options of one behind an API, an engine, an executor of the module, or a function. */
export type AgentModel = ChatModel | EngineOptions | ModelEngine | ChatExecutor | ModelFunction;

/** An executor that lets a function answer. It gives the module the answers of a stream, and returns any other. */
export function executorFor(
  model: ModelFunction,
): (ctx: DispatchContext) => Awaitable<AgentResponse | undefined> {
  return (ctx) => {
    const state = ctx[stateOf];
    const { number } = state;
    const invocation = state.turn as unknown as OpenInvocation;
    const take = (answer: Answer | null | undefined): Awaitable<AgentResponse | undefined> => {
      if (answer === undefined || answer === null) return undefined; // which is no answer
      return isStream(answer) ? giveAll(answer, invocation, number) : responseOf(answer);
    };
    const answer = model(new AgentRequest(invocation, number, state));
    return isThenable(answer) ? Promise.resolve(answer).then(take) : take(answer);
  };
}

type Answer = AsyncIterable<GivenResponse> | GivenResponse;

async function giveAll(
  answers: AsyncIterable<GivenResponse>,
  invocation: OpenInvocation,
  context: number,
): Promise<undefined> {
  for await (const answer of answers) {
    const value = responseOf(answer);
    await invocation.later(
      SessionMethod.Respond,
      (enc) => writeRespondArgs(enc, { response: writeMembers(value) }),
      context,
    );
  }
  return undefined;
}

/** An answer in place of a text. @throws TurncoreError E_INVALID_EVENT for what is neither */
export function responseOf(given: GivenResponse): AgentResponse {
  if (typeof given !== 'string' && !hasNames(given)) {
    throw invocationError('E_INVALID_EVENT', 'response: must be a text or an object', {
      details: { field: 'response' },
    });
  }
  if (typeof given === 'string') return { content: contentOf(given, 'model') };
  return { ...given, content: withBytes(given.content) };
}

function isStream(answer: Answer): answer is AsyncIterable<GivenResponse> {
  return typeof answer === 'object' && Symbol.asyncIterator in answer;
}
