/**
 * Engines: models that the host runs itself, instead of an API. An engine is one function; the module does everything
 * else of an executor.
 */
import type { ModelCapabilities } from './options.gen.js';

/** A model that runs in the page, or any function that replaces one. */
export interface ModelEngine {
  /** Its name in statistics and errors. Default: "engine". */
  readonly name?: string | undefined;
  /** Its capabilities. Default: text in, text out. */
  readonly capabilities?: ModelCapabilities | undefined;
  /** Generates an answer in parts. An error fails the model call; after `signal` fires no code waits for the answer. */
  generate(request: ModelRequest): AsyncIterable<ModelPart> | Promise<AsyncIterable<ModelPart>>;
}

/** A request to an engine. */
export interface ModelRequest {
  /** The conversation, in the format of chat completions. */
  readonly messages: readonly ModelMessage[];
  /** Tools to offer; only for engines with native tools. */
  readonly tools?: readonly ModelTool[] | undefined;
  /** Sampling options by their names in chat completions: max_tokens, temperature, top_p, seed, stop and so on. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** JSON Schema that the answer must match; only for engines with the capability. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** GBNF that the answer must match; only for engines with the capability. */
  readonly grammar?: string | undefined;
  /** Fires when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** A message of the conversation. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** A list if there are media, which only engines with the capability get. */
  readonly content: string | null | readonly ModelContent[];
  /** For an assistant: its calls. */
  readonly tool_calls?: readonly ModelCall[] | undefined;
  /** For a tool: the call of this result. */
  readonly tool_call_id?: string | undefined;
  /** The speaker, if the role does not identify it. */
  readonly name?: string | undefined;
}

/** A part of a message that has media. Their bytes are in data URIs, or in base64. */
export type ModelContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | {
      readonly type: 'input_audio';
      readonly input_audio: { readonly data: string; readonly format: string };
    }
  | { readonly type: 'video_url'; readonly video_url: { readonly url: string } }
  | {
      readonly type: 'file';
      readonly file: { readonly filename: string; readonly file_data: string };
    };

/** A call of an assistant. */
export interface ModelCall {
  readonly id: string;
  readonly type: 'function';
  /** Arguments are JSON text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The definition of a tool. */
export interface ModelTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string | undefined;
    readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  };
}

/** A part of an answer: one or more of these members. */
export interface ModelPart {
  /** A piece of the model's reasoning. */
  readonly reasoning?: string | undefined;
  /** A piece of the answer. */
  readonly text?: string | undefined;
  /** A piece of a call. */
  readonly toolCall?: ModelToolCall | undefined;
  /** The cost of the answer, in tokens. */
  readonly usage?: ModelUsage | undefined;
  /** Why the answer ended: "stop", "length", "tool_calls". */
  readonly finish?: string | undefined;
  /** The answer failed. */
  readonly error?: { readonly message: string; readonly code?: string | undefined } | undefined;
}

/**
 * A piece of a call, or a whole one. Pieces of one call have its index; names and arguments are joined. A piece without
 * an index belongs to the call with its id, or begins it. Without either, a name begins a call, and everything else
 * belongs to the last one.
 */
export interface ModelToolCall {
  /** From 0. */
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** A piece of JSON text. */
  readonly arguments?: string | undefined;
}

/** Tokens. */
export interface ModelUsage {
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
  /** Prompt tokens from a cache. */
  readonly cachedTokens?: number | undefined;
}
