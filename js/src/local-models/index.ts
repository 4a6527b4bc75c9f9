/**
 * Engines in the page, for `createRunner({ model: engine })`. Each adapts a library that is passed in: this package depends
 * on none of them.
 *
 * @packageDocumentation
 */
export type { EngineProgress, EngineSettings, PageEngine, TellProgress } from './page-engine.js';
export { wllamaEngine, type WllamaLike, type WllamaSettings } from './wllama.js';
export {
  webLLMEngine,
  type WebLLMLike,
  type WebLLMProgress,
  type WebLLMSettings,
} from './webllm.js';
export {
  type LanguageModelLike,
  type LanguageModelSession,
  promptAPIEngine,
  type PromptAPISettings,
} from './prompt-api.js';
export {
  type TextGenerator,
  transformersEngine,
  type TransformersLike,
  type TransformersProgress,
  type TransformersSettings,
} from './transformers.js';
export type { ModelCapabilities } from '../chat/options.gen.js';
export type {
  ModelCall,
  ModelEngine,
  ModelContent,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
} from '../chat/model-engine.js';
