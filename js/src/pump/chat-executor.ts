/**
 * The chat executor, which is compiled into the module.
 */
import type { ModelEngine } from '../models/engine.js';
import { frozenCopy } from '../stash/copy-value.js';
import { type Converter, invalid } from '../validation/field-kinds.js';
import { phrase, violationError } from '../validation/rules.js';

/** Which failed requests to a model are made again, and when. None is once text was shown. */
export interface RetryOptions {
  /** Requests in all, from 1 to 100. Default: 3. */
  readonly maxAttempts?: number | undefined;
  /** Wait before the second request, in ms; it doubles with each further one. Default: 500. */
  readonly baseDelayMs?: number | undefined;
  /** No wait is longer, in ms. Default: 30000. */
  readonly maxDelayMs?: number | undefined;
  /** HTTP statuses that are worth another request. Default: 429, 500, 502, 503, 504, 529. */
  readonly statuses?: readonly number[] | undefined;
  /** Whether the response may ask for a longer wait. Default: true. */
  readonly honorRetryAfter?: boolean | undefined;
}

/** How to reach a model that speaks OpenAI's chat completions. */
export interface ChatOptions {
  /** Where the API is, such as `https://api.openai.com/v1`. */
  readonly baseURL: string;
  /** Which model. */
  readonly model: string;
  /** Name of a credential of the host, which is attached for the origins it allows. */
  readonly credential?: string | undefined;
  /** Which failed requests are made again, and when. */
  readonly retry?: RetryOptions | undefined;
  /** How long the head of the response may take, in ms; 0 for as long as it likes. Default: 600000. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long the response may be silent, in ms; 0 for as long as it likes. Default: 60000. */
  readonly idleTimeoutMs?: number | undefined;
  /** How long an answer may take, with all requests and waits, in ms; 0 for as long as it likes. Default: 0. */
  readonly totalTimeoutMs?: number | undefined;
  /** More fields of the request, such as temperature, and settings of the executor. */
  readonly [option: string]: unknown;
}

/** A model that the host runs itself, and settings of the executor. */
export interface EngineOptions {
  /** The model. */
  readonly engine: ModelEngine;
  /** What it is called. Default: the engine's name. */
  readonly model?: string | undefined;
  /** Sampling options such as temperature, and settings of the executor. */
  readonly [option: string]: unknown;
}

/**
 * Stands for the executor inside the module: it projects the context to a chat completions request, streams the answer,
 * runs the tools that the model calls and acks when there are none. Give it in place of an executor function.
 */
export class ChatExecutor {
  /** What the module is told of it, deeply frozen. */
  readonly options: Readonly<Record<string, unknown>> & { readonly model: string };
  /** The model that the host runs itself, if it is one. */
  readonly engine: ModelEngine | undefined;

  /**
   * @throws TurncoreError E_INVALID_VALUE for options that are no JSON-like data, E_CHAT_INVALID_OPTIONS for an engine that
   * is none
   */
  constructor(options: ChatOptions | EngineOptions) {
    const { engine, ...rest } = options as Partial<EngineOptions>;
    this.engine = engine;
    const told = engine === undefined ? rest : { ...rest, ...aboutEngine(engine, rest.model) };
    this.options = frozenCopy(told, 'model') as ChatExecutor['options'];
    Object.freeze(this);
  }
}

/** What the module is told of an engine. */
function aboutEngine(engine: ModelEngine, model: string | undefined): Record<string, unknown> {
  if (typeof (engine as Partial<ModelEngine> | null)?.generate !== 'function') {
    throw violationError('E_CHAT_INVALID_OPTIONS', [
      phrase('function', { field: 'engine.generate' }),
    ]);
  }
  return {
    provider: 'model',
    model: model ?? engine.name ?? 'engine',
    capabilities: engine.capabilities,
  };
}

/** The kind of field `executor`: a function, or a {@link ChatExecutor}. */
export const toExecutor: Converter = (value) =>
  typeof value === 'function' || value instanceof ChatExecutor ? value : invalid;
