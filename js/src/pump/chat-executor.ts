/**
 * The chat executor, which is compiled into the module.
 */
import { frozenCopy } from '../stash/copy-value.js';
import { type Converter, invalid } from '../validation/field-kinds.js';

/** How to reach a model that speaks OpenAI's chat completions. */
export interface ChatOptions {
  /** Where the API is, such as `https://api.openai.com/v1`. */
  readonly baseURL: string;
  /** Which model. */
  readonly model: string;
  /** Name of a credential of the host, which is attached for the origins it allows. */
  readonly credential?: string | undefined;
  /** More fields of the request, such as temperature, and settings of the executor. */
  readonly [option: string]: unknown;
}

/**
 * Stands for the executor inside the module: it projects the context to a chat completions request, streams the answer,
 * runs the tools that the model calls and acks when there are none. Give it in place of an executor function.
 */
export class ChatExecutor {
  /** What it was made with, deeply frozen. */
  readonly options: ChatOptions;

  /** @throws TurncoreError E_INVALID_VALUE for options that are no JSON-like data */
  constructor(options: ChatOptions) {
    this.options = frozenCopy(options, 'model') as ChatOptions;
    Object.freeze(this);
  }
}

/** The kind of field `executor`: a function, or a {@link ChatExecutor}. */
export const toExecutor: Converter = (value) =>
  typeof value === 'function' || value instanceof ChatExecutor ? value : invalid;
