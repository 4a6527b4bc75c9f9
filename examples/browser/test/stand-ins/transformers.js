// Stands in for @huggingface/transformers: no runtime, no weights.
const { standIn } = globalThis;

export const env = {
  allowLocalModels: true,
  useWasmCache: true,
  backends: { onnx: { wasm: {} } },
  fetch,
};

export const ModelRegistry = { is_pipeline_cached: async () => standIn.stored };

export class TextStreamer {
  constructor(tokenizer, options) {
    Object.assign(this, options);
  }
}

export class InterruptableStoppingCriteria {
  interrupted = false;
  interrupt() {
    this.interrupted = true;
  }
}

/** What a model is downloaded from, by env.fetch and no other way. */
const WEIGHTS = 'https://huggingface.co/model.onnx';
let report;
const { fetch: fetchOfPage } = globalThis;
globalThis.fetch = (url, init) =>
  url === WEIGHTS ? standIn.download(report, init.signal) : fetchOfPage(url, init);

export async function pipeline(task, model, { progress_callback }) {
  report = (part) => {
    const progress = part * 100;
    progress_callback({ status: 'progress_total', progress });
    progress_callback({ status: 'progress', file: 'model.onnx', progress });
    if (part === 1) progress_callback({ status: 'done', file: 'model.onnx' });
  };
  await env.fetch(WEIGHTS);
  const generate = async (messages, { streamer, stopping_criteria }) => {
    for await (const text of standIn.answer(messages)) {
      if (stopping_criteria.interrupted) break;
      streamer.token_callback_function([1n]);
      streamer.callback_function(text);
    }
  };
  return Object.assign(generate, { tokenizer: {}, dispose: async () => undefined });
}
