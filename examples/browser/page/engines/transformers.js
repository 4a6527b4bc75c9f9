// transformers.js in the page: ONNX models on WebGPU.
import { transformersEngine } from '/turncore/models.min.js';

const TASK = 'text-generation';
const MODEL = 'onnx-community/Qwen3-0.6B-ONNX';
const OPTIONS = { dtype: 'q4f16', device: 'webgpu' };

/** The library. Nothing of it comes from elsewhere. */
async function library() {
  const transformers = await import('/libraries/transformers/transformers.min.js');
  const { env } = transformers;
  env.allowLocalModels = false;
  env.useWasmCache = false; // the server has the file
  env.backends.onnx.wasm.wasmPaths = '/libraries/onnxruntime/';
  return transformers;
}

/** Whether the model is on the device. */
export async function storedTransformers() {
  const { ModelRegistry } = await library();
  return ModelRegistry.is_pipeline_cached(TASK, MODEL, OPTIONS);
}

/** An engine on it. */
export async function qwenOnTransformers(onProgress) {
  const transformers = await library();
  return transformersEngine({
    onProgress,
    transformers,
    needs: { webGPU: true },
    load(progress_callback, signal) {
      transformers.env.fetch = (url, init) => fetch(url, { ...init, signal }); // cancels the download
      return transformers.pipeline(TASK, MODEL, { ...OPTIONS, progress_callback });
    },
  });
}
