// WebLLM in the page: models compiled for WebGPU.
import { webLLMEngine } from '/turncore/models.min.js';

const MODEL = 'Qwen3-0.6B-q4f16_1-MLC';
const library = () => import('/libraries/web-llm/index.js');

/** Whether the model is on the device. */
export async function storedWebLLM() {
  const { hasModelInCache } = await library();
  return hasModelInCache(MODEL);
}

/** An engine on it. */
export function qwenOnWebLLM(onProgress) {
  return webLLMEngine({
    onProgress,
    async load(initProgressCallback, signal) {
      const { MLCEngine } = await library();
      const engine = new MLCEngine({ initProgressCallback });
      signal.addEventListener('abort', () => engine.unload()); // cancels the download
      await engine.reload(MODEL);
      return engine;
    },
  });
}
