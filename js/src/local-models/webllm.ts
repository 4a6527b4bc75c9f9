/**
 * Models on WebGPU, through the library WebLLM.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { ModelRequest } from '../chat/model-engine.js';
import { type ChatChunk, partsOfChunk } from './chat-chunk.js';
import {
  type EngineSettings,
  given,
  type PageEngine,
  pageEngine,
  readThrough,
  settingRules,
} from './page-engine.js';

/** The used part of an `MLCEngine`. */
export interface WebLLMLike {
  readonly chat: { readonly completions: { create(request: never): Promise<unknown> } };
  interruptGenerate(): unknown;
  unload(): Promise<void>;
}

/** A progress report of WebLLM. */
export interface WebLLMProgress {
  readonly progress: number;
  readonly text: string;
}

/** Settings of {@link webLLMEngine}. */
export interface WebLLMSettings extends EngineSettings {
  /**
   * Makes the engine with its model:
   *
   * @example
   * load: async (initProgressCallback, signal) => {
   *   const engine = new MLCEngine({ initProgressCallback });
   *   signal.addEventListener('abort', () => engine.unload()); // cancels the download
   *   await engine.reload(modelId);
   *   return engine;
   * }
   *
   * @param signal fires when the engine is disposed of
   */
  readonly load: (
    initProgressCallback: (report: WebLLMProgress) => void,
    signal: AbortSignal,
  ) => Promise<WebLLMLike>;
}

const rules = {
  title: 'settings of webLLMEngine',
  code: 'E_INVALID_VALUE',
  fields: { ...settingRules, load: { kind: 'function', required: true } },
} as const satisfies TypeRules;

/** Options of an answer that the library ignores. */
const IGNORED = ['min_p', 'top_k'];

/**
 * An engine that runs models compiled for WebLLM, where the browser has WebGPU. It accepts JSON Schemas. Set `grammar:
 * 'gbnf'` in the capabilities for grammars, and `tools: 'native'` for the few models whose tools WebLLM supports.
 * WebLLM has no `min_p` and no `top_k`: a request with one fails with E_CHAT_INVALID_OPTIONS.
 *
 * @throws TurncoreError E_INVALID_VALUE listing every setting that is unknown or wrong
 */
export function webLLMEngine(settings: WebLLMSettings): PageEngine {
  return pageEngine<WebLLMLike, WebLLMSettings>({ rules }, settings, ({ load }) => ({
    name: 'webllm',
    capabilities: { grammar: 'schema' },
    needs: { webGPU: true },
    refuses: (options) => given(options, IGNORED),
    load: (tell, signal) =>
      load(({ progress, text }) => {
        // Fetching ends at 1; then shaders are compiled.
        const phase = progress < 1 ? 'loading' : 'compiling';
        tell({ phase, progress, detail: text });
      }, signal),
    unload: (engine) => engine.unload(),
    async *generate(engine, request) {
      // The library starts an answer when the previous one has ended.
      const stream = await engine.chat.completions.create(completion(request) as never);
      for await (const chunk of readThrough(
        stream as AsyncIterable<ChatChunk>,
        request.signal,
        () => void engine.interruptGenerate(),
      )) {
        yield* partsOfChunk(chunk);
      }
    },
  }));
}

function completion(request: ModelRequest): object {
  const { messages, tools, options, grammar, schema } = request;
  return {
    ...options,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(tools === undefined ? {} : { tools }),
    ...(grammar === undefined ? {} : { response_format: { type: 'grammar', grammar } }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_object', schema: JSON.stringify(schema) } }),
  };
}
