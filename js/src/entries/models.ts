/**
 * Models: the options of each provider, the interface of a model that the host runs itself, and adapters for libraries
 * that run models on the device, as engines of the chat executor. The libraries are not dependencies: install the one
 * you use and pass in what it gives. An adapter checks the device, loads the model at its first request, tells the
 * progress, and is released with `dispose()`, which also cancels a download.
 *
 * @packageDocumentation
 */
export type { EngineOptions } from '../chat/chat-executor.js';
export { providerKey } from '../chat/provider-key.js';
export type * from '../chat/options.gen.js';
export type {
  ModelCall,
  ModelContent,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
} from '../chat/model-engine.js';
export type {
  EngineProgress,
  EngineSettings,
  PageEngine,
  TellProgress,
} from '../local-models/page-engine.js';
export {
  checkDevice,
  type DeviceLike,
  type DeviceNeeds,
  type GPUAdapterLike,
} from '../local-models/device.js';
export { wllamaEngine, type WllamaLike, type WllamaSettings } from '../local-models/wllama.js';
export {
  webLLMEngine,
  type WebLLMLike,
  type WebLLMProgress,
  type WebLLMSettings,
} from '../local-models/webllm.js';
export {
  type LanguageModelLike,
  type LanguageModelParams,
  type LanguageModelSession,
  promptAPIEngine,
  type PromptAPISettings,
} from '../local-models/prompt-api.js';
export {
  type TextGenerator,
  transformersEngine,
  type TransformersLike,
  type TransformersProgress,
  type TransformersSettings,
} from '../local-models/transformers.js';
