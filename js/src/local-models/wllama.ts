/**
 * llama.cpp in the page, through the library wllama.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { ModelRequest } from '../chat/model-engine.js';
import { type ChatChunk, partsOfChunk } from './chat-chunk.js';
import {
  type EngineSettings,
  type PageEngine,
  pageEngine,
  readThrough,
  settingRules,
  type TellProgress,
} from './page-engine.js';

/** The used part of an instance of `Wllama` with a model. */
export interface WllamaLike {
  createChatCompletion(options: never): Promise<unknown>;
  exit(): Promise<void>;
}

/** Settings of {@link wllamaEngine}. */
export interface WllamaSettings extends EngineSettings {
  /**
   * Makes the instance and loads its model, which the library can do in many ways:
   *
   * @example
   * load: async (tell, signal) => {
   *   const wllama = new Wllama({ default: '/wllama.wasm' });
   *   await wllama.loadModelFromUrl(url, {
   *     n_ctx: 4096,
   *     signal,
   *     progressCallback: ({ loaded, total }) => tell({ phase: 'loading', progress: loaded / total }),
   *   });
   *   return wllama;
   * }
   *
   * @param signal fires when the engine is disposed of
   */
  readonly load: (tell: TellProgress, signal: AbortSignal) => Promise<WllamaLike>;
}

const rules = {
  title: 'settings of wllamaEngine',
  code: 'E_INVALID_VALUE',
  fields: { ...settingRules, load: { kind: 'function', required: true } },
} as const satisfies TypeRules;

/** A chunk of llama.cpp, which counts tokens in its own way. */
interface Chunk extends ChatChunk {
  readonly timings?: {
    readonly cache_n?: number;
    readonly prompt_n?: number;
    readonly predicted_n?: number;
  } | null;
}

/**
 * An engine that runs GGUF models. It accepts GBNF grammars. The prompt describes tools unless the capabilities set
 * `tools: 'native'`, which leaves them to the model's chat template.
 *
 * @throws TurncoreError E_INVALID_VALUE listing every setting that is unknown or wrong
 */
export function wllamaEngine(settings: WllamaSettings): PageEngine {
  return pageEngine<WllamaLike, WllamaSettings>({ rules }, settings, ({ load }) => ({
    name: 'wllama',
    capabilities: { grammar: 'gbnf' },
    load,
    unload: (wllama) => wllama.exit(),
    async *generate(wllama, request) {
      const stop = new AbortController();
      const stream = await wllama.createChatCompletion(completion(request, stop.signal) as never);
      for await (const chunk of readThrough(stream as AsyncIterable<Chunk>, request.signal, () =>
        stop.abort(),
      )) {
        yield* partsOfChunk(withUsage(chunk));
      }
    },
  }));
}

function completion(request: ModelRequest, abortSignal: AbortSignal): object {
  const { messages, tools, options, grammar, schema } = request;
  return {
    ...options,
    messages,
    stream: true,
    abortSignal,
    ...(tools === undefined ? {} : { tools }),
    ...(grammar === undefined ? {} : { grammar }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
  };
}

/** The timings of a stream have its token counts. */
function withUsage(chunk: Chunk): ChatChunk {
  const { timings } = chunk;
  if (timings?.prompt_n === undefined || chunk.usage != null) return chunk;
  const cached = timings.cache_n ?? 0;
  const prompt = timings.prompt_n + cached;
  const predicted = timings.predicted_n ?? 0;
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: predicted,
    total_tokens: prompt + predicted,
    prompt_tokens_details: { cached_tokens: cached },
  };
  return { ...chunk, usage };
}
