// llama.cpp in the page: GGUF files, on WebAssembly.
import { wllamaEngine } from '/turncore/models.min.js';

const silent = () => undefined;
/** The library tells much. Only what goes wrong is for the console. */
const logger = { debug: silent, log: silent, warn: silent, error: console.error };

const LIBRARY = '/libraries/wllama/index.js';
const WASM = '/libraries/wllama/wasm/wllama.wasm';

/** Makes the library's object. Nothing of it comes from elsewhere. */
async function makeWllama(signal) {
  const { Wllama } = await import(LIBRARY);
  // The library waits for ever for a module that does not come, so that is found out before.
  await get(WASM, signal);
  const wllama = new Wllama({ default: WASM }, { logger });
  // For browsers without JSPI or 64-bit memories.
  wllama.setCompat({
    worker: '/libraries/wllama-compat/wllama.js',
    wasm: '/libraries/wllama-compat/wllama.wasm',
  });
  return wllama;
}

/** Tokens that a model of the page reads and writes at a time. More take more memory; WebLLM has as many. */
export const CONTEXT = 4096;
/** The same for the scripted model, which takes little: as many as it can, or `?context=` in the address. */
export const SCRIPTED_CONTEXT = Number(new URL(location.href).searchParams.get('context')) || 32768;

const QWEN = 'https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/resolve/main/Qwen3-0.6B-Q8_0.gguf';

/** Whether the model is on the device. */
export async function storedWllama() {
  const { ModelManager } = await import(LIBRARY);
  const models = await new ModelManager({ logger }).getModels();
  return models.some(({ url }) => url === QWEN);
}

/** An engine on it. */
export function qwenOnWllama(onProgress) {
  return wllamaEngine({
    onProgress,
    async load(tell, signal) {
      const wllama = await makeWllama(signal);
      await wllama.loadModelFromUrl(QWEN, {
        n_ctx: CONTEXT,
        n_parallel: 1,
        signal,
        progressCallback: ({ loaded, total }) => {
          tell({ phase: loaded < total ? 'loading' : 'compiling', progress: loaded / total });
        },
      });
      return wllama;
    },
  });
}

/** An engine on the file that the server makes: it is small, so it is not stored. */
export function scriptedEngine(onProgress) {
  return wllamaEngine({
    onProgress,
    async load(tell, signal) {
      const [wllama, file] = await Promise.all([
        makeWllama(signal),
        get('/models/scripted.gguf', signal),
      ]);
      tell({ phase: 'compiling', detail: 'starting llama.cpp' });
      const context = { n_ctx: SCRIPTED_CONTEXT, n_threads: 1, n_gpu_layers: 0, n_parallel: 1 };
      await wllama.loadModel([file], { ...context, warmup: false });
      return wllama;
    },
  });
}

async function get(path, signal) {
  const response = await fetch(path, { signal });
  if (!response.ok) throw new Error(`the server answers ${path} with ${response.status}`);
  return response.blob();
}
