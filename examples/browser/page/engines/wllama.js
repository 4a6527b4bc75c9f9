// llama.cpp in the page: GGUF files, on WebAssembly.
import { wllamaEngine } from '/turncore/models.min.js';

const silent = () => undefined;
/** The library tells much. Only what goes wrong is for the console. */
const logger = { debug: silent, log: silent, warn: silent, error: console.error };

const WASM = '/libraries/wllama/wasm/wllama.wasm';

/** Makes the library's object. Nothing of it comes from elsewhere. */
async function makeWllama(signal) {
  const { Wllama } = await import('/libraries/wllama/index.js');
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
      const context = { n_ctx: 32768, n_threads: 1, n_gpu_layers: 0, n_parallel: 1, warmup: false };
      await wllama.loadModel([file], context);
      return wllama;
    },
  });
}

async function get(path, signal) {
  const response = await fetch(path, { signal });
  if (!response.ok) throw new Error(`the server answers ${path} with ${response.status}`);
  return response.blob();
}
