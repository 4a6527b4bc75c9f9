/**
 * Options of the chat executor, by the provider of the model. Members of requests have the names that the provider's API has
 * for them.
 */
import type { MediaKind } from '../primitives/media.js';

import type { OutputSchema } from '../output/output.js';

/** Any JSON object. */
type JsonObject = Readonly<Record<string, unknown>>;

/** A part of the system text; `timeline` may end the list. */
export type Bucket = 'standingInstructions' | 'memories' | 'retrievables' | 'timeline';

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

/** How the tool calls of an answer are run, whatever the model. */
export interface ToolRunOptions {
  /** How many of them run at once, from 1 to 64; they begin, and are stored, in the order of the answer. Default: 1. */
  readonly parallel?: number | undefined;
  /**
   * How long a call may take, in ms; 0 for as long as it likes. After that its `ctx.abortSignal` fires, the model is told
   * of E_CHAT_TOOL_TIMEOUT and the turn goes on, whether the handler ends or not. Default: 0.
   */
  readonly toolTimeoutMs?: number | undefined;
  /**
   * A result whose text has more bytes than this becomes an artifact, which the model reads a part at a time; 0 for none.
   * Default: 32768.
   */
  readonly spoolResultsOver?: number | undefined;
}

/** Options that all providers have. */
export interface CommonChatOptions extends ToolRunOptions {
  /** Which model. */
  readonly model: string;
  /** Where the API is, up to the version. Default: the provider's own. */
  readonly baseURL?: string | undefined;
  /** Name of a credential of the host, which is attached for the origins it allows. */
  readonly credential?: string | undefined;
  /** Headers beside, or instead of, the executor's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: true. False asks for the answer in one piece. */
  readonly stream?: boolean | undefined;
  /** Which failed requests are made again, and when. */
  readonly retry?: RetryOptions | undefined;
  /** How long the head of the response may take, in ms; 0 for as long as it likes. Default: 600000. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long the response may be silent, in ms; 0 for as long as it likes. Default: 60000. */
  readonly idleTimeoutMs?: number | undefined;
  /** How long an answer may take, with all requests and waits, in ms; 0 for as long as it likes. Default: 0. */
  readonly totalTimeoutMs?: number | undefined;
  /** "marks" (default) puts what comes from outside between marks; "off" sends everything bare. */
  readonly trust?: 'marks' | 'off' | undefined;
  /** Kinds of media that are sent. Default: all that the provider takes. A text stands for all others. */
  readonly media?: readonly MediaKind[] | undefined;
  /** Bytes that a media which is sent may have. Default: 20971520. */
  readonly maxMediaBytes?: number | undefined;
  /** "text" (default) has a text stand for what is not sent; "error" fails with E_CHAT_UNSUPPORTED_MEDIA. */
  readonly unsupportedMedia?: 'text' | 'error' | undefined;
  /** Whose thoughts go back: all of the model's own (default), the newest of them, or others' too, as text. */
  readonly thoughtSurfacing?: 'all-self' | 'latest-self' | 'all' | undefined;
  /** Tags of thoughts that go back beside those without one. Default: none. */
  readonly replayCompatibility?: readonly string[] | undefined;
  /** Order of what follows the system prompt: each name once. Default: as it stands here. */
  readonly bucketOrder?: readonly Bucket[] | undefined;
  /** Members for the definitions of tools, by a tool's name. */
  readonly toolExtras?: Readonly<Record<string, JsonObject>> | undefined;
  /**
   * What answers must be: a JSON Schema 2020-12, or a Standard Schema such as Zod's. An answer that does not match it is
   * asked for once more, and then is an E_CHAT_INVALID_OUTPUT.
   */
  readonly schema?: OutputSchema | undefined;
  /** "native" (default) sends it in the provider's own place for it, "prompt" tells it in the system prompt, "both" both. */
  readonly schemaMode?: 'native' | 'prompt' | 'both' | undefined;
  /** Further members of the request, as they are. */
  readonly body?: JsonObject | undefined;
}

/** OpenAI's chat completions, and who else speaks them. */
export interface OpenAIChatOptions extends CommonChatOptions {
  readonly provider?: 'openai' | undefined;
  /** Default: true: a streaming request asks for token counts. */
  readonly includeUsage?: boolean | undefined;
  /** Where deltas carry reasoning. Default: "reasoning" and "reasoning_content". */
  readonly reasoningFields?: readonly string[] | undefined;
  /**
   * How the model writes calls in its text, where the server does not take them out: "auto" for whatever of the known formats
   * shows, or one of them, such as "hermes". Default: "off".
   */
  readonly toolFormat?: string | undefined;
  /** "prompt" tells tools in the system prompt and writes calls and results as text. Default: "native", in fields. */
  readonly toolDelivery?: 'native' | 'prompt' | undefined;
  /**
   * How the model writes reasoning in its text. Default: "leading": what stands in `<think>` at the beginning of an answer.
   * "off" leaves it there; the full module also has "auto", "think_tag" and others, which are found anywhere.
   */
  readonly reasoningFormat?: string | undefined;
  /** Whether answers begin inside of reasoning, as after a prompt that ends with `<think>`. Default: false. */
  readonly reasoningOpened?: boolean | undefined;
  /** How thoughts go back: not at all (default), in the assistant's text between marks, or in a field. */
  readonly thoughts?: 'off' | 'text' | 'reasoning_content' | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly logit_bias?: JsonObject | undefined;
  readonly logprobs?: boolean | undefined;
  readonly max_completion_tokens?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly n?: 1 | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly prediction?: JsonObject | undefined;
  readonly presence_penalty?: number | undefined;
  readonly prompt_cache_key?: string | undefined;
  readonly prompt_cache_retention?: string | undefined;
  readonly reasoning?: JsonObject | undefined;
  readonly reasoning_effort?: string | undefined;
  readonly response_format?: JsonObject | undefined;
  readonly safety_identifier?: string | undefined;
  readonly seed?: number | undefined;
  readonly service_tier?: string | undefined;
  readonly stop?: string | readonly string[] | undefined;
  readonly store?: boolean | undefined;
  readonly stream_options?: JsonObject | undefined;
  readonly temperature?: number | undefined;
  readonly tool_choice?: string | JsonObject | undefined;
  readonly top_logprobs?: number | undefined;
  readonly top_p?: number | undefined;
  readonly user?: string | undefined;
  readonly verbosity?: string | undefined;
  readonly web_search_options?: JsonObject | undefined;
}

/** OpenAI's Responses API. */
export interface ResponsesChatOptions extends CommonChatOptions {
  readonly provider: 'openai-responses';
  /** "text" sends thoughts in the assistant's text, between marks. Default: "off". What the API gave for it goes back always. */
  readonly thoughts?: 'off' | 'text' | undefined;
  readonly context_management?: readonly JsonObject[] | undefined;
  readonly include?: readonly string[] | undefined;
  readonly max_output_tokens?: number | undefined;
  readonly max_tool_calls?: number | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly prompt?: JsonObject | undefined;
  readonly prompt_cache_key?: string | undefined;
  readonly prompt_cache_retention?: string | undefined;
  readonly reasoning?: JsonObject | undefined;
  readonly safety_identifier?: string | undefined;
  readonly service_tier?: string | undefined;
  readonly store?: boolean | undefined;
  readonly stream_options?: JsonObject | undefined;
  readonly temperature?: number | undefined;
  readonly text?: JsonObject | undefined;
  readonly tool_choice?: string | JsonObject | undefined;
  readonly top_logprobs?: number | undefined;
  readonly top_p?: number | undefined;
  readonly truncation?: string | undefined;
  readonly user?: string | undefined;
}

/** Anthropic's Messages API. */
export interface AnthropicChatOptions extends CommonChatOptions {
  readonly provider: 'anthropic';
  /** "text" sends thoughts in the assistant's text, between marks. Default: "off". What the API gave for it goes back always. */
  readonly thoughts?: 'off' | 'text' | undefined;
  /** What the markers for the cache are; false for none. Default: `{type: 'ephemeral'}`. */
  readonly cache_control?: JsonObject | boolean | undefined;
  readonly container?: string | JsonObject | undefined;
  readonly context_management?: JsonObject | undefined;
  readonly inference_geo?: string | undefined;
  /** Default: 16,384, beside what `thinking` allows for thinking. */
  readonly max_tokens?: number | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly output_config?: JsonObject | undefined;
  readonly service_tier?: string | undefined;
  readonly stop_sequences?: readonly string[] | undefined;
  readonly temperature?: number | undefined;
  readonly thinking?: JsonObject | undefined;
  readonly tool_choice?: JsonObject | undefined;
  readonly top_k?: number | undefined;
  readonly top_p?: number | undefined;
}

/** generateContent of Google's Gemini API. */
export interface GeminiChatOptions extends CommonChatOptions {
  readonly provider: 'gemini';
  /** "text" sends thoughts in the assistant's text, between marks. Default: "off". What the API gave for it goes back always. */
  readonly thoughts?: 'off' | 'text' | undefined;
  readonly cachedContent?: string | undefined;
  readonly candidateCount?: 1 | undefined;
  readonly enableEnhancedCivicAnswers?: boolean | undefined;
  readonly frequencyPenalty?: number | undefined;
  /** What has no option of its own; those that have one are put there too. */
  readonly generationConfig?: JsonObject | undefined;
  readonly imageConfig?: JsonObject | undefined;
  readonly logprobs?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly mediaResolution?: string | undefined;
  readonly presencePenalty?: number | undefined;
  readonly responseJsonSchema?: JsonObject | undefined;
  readonly responseLogprobs?: boolean | undefined;
  readonly responseMimeType?: string | undefined;
  readonly responseModalities?: readonly string[] | undefined;
  readonly responseSchema?: JsonObject | undefined;
  readonly safetySettings?: readonly JsonObject[] | undefined;
  readonly seed?: number | undefined;
  readonly speechConfig?: JsonObject | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly temperature?: number | undefined;
  readonly thinkingConfig?: JsonObject | undefined;
  readonly toolConfig?: JsonObject | undefined;
  readonly topK?: number | undefined;
  readonly topP?: number | undefined;
}

/** Ollama's chat API. */
export interface OllamaChatOptions extends CommonChatOptions {
  readonly provider: 'ollama';
  /**
   * How the model writes calls in its text, where the server does not take them out: "auto" for whatever of the known formats
   * shows, or one of them, such as "hermes". Default: "off".
   */
  readonly toolFormat?: string | undefined;
  /** "prompt" tells tools in the system prompt and writes calls and results as text. Default: "native", in fields. */
  readonly toolDelivery?: 'native' | 'prompt' | undefined;
  /**
   * How the model writes reasoning in its text. Default: "leading": what stands in `<think>` at the beginning of an answer.
   * "off" leaves it there; the full module also has "auto", "think_tag" and others, which are found anywhere.
   */
  readonly reasoningFormat?: string | undefined;
  /** Whether answers begin inside of reasoning, as after a prompt that ends with `<think>`. Default: false. */
  readonly reasoningOpened?: boolean | undefined;
  /** How thoughts go back: not at all (default), in the assistant's text between marks, or in a field. */
  readonly thoughts?: 'off' | 'text' | 'thinking' | undefined;
  readonly format?: string | JsonObject | undefined;
  readonly keep_alive?: string | number | undefined;
  readonly logprobs?: boolean | undefined;
  readonly options?: JsonObject | undefined;
  readonly shift?: boolean | undefined;
  readonly think?: boolean | string | undefined;
  readonly top_logprobs?: number | undefined;
  readonly truncate?: boolean | undefined;
}

/** How to reach a model behind an API. */
export type ChatOptions =
  | OpenAIChatOptions
  | ResponsesChatOptions
  | AnthropicChatOptions
  | GeminiChatOptions
  | OllamaChatOptions;

/** A protocol that models are spoken to with. */
export type ProviderName = NonNullable<ChatOptions['provider']>;
