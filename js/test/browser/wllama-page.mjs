// In the page: engines on wllama, and what they answer.
import { Wllama } from '../wllama/index.js';
import { createRunner, Host, Tool } from '../package/turncore.min.js';
import { wllamaEngine } from '../package/models.min.js';
import { fullModuleURL } from '../package/wasm.min.js';

/** Engines are in the module with all providers. */
const host = new Host({ module: fullModuleURL });
const silent = () => undefined;
const logger = { debug: silent, log: silent, warn: silent, error: silent };

/** An engine with one of the models of the tests. It uses one thread, as pages without isolation do. */
export function loadEngine(model, settings = {}) {
  return wllamaEngine({
    ...settings,
    load: async () => {
      const wllama = new Wllama({ default: '/wllama/wasm/wllama.wasm' }, { logger });
      wllama.setCompat(null); // or it would look for resources elsewhere
      const response = await fetch(`/models/${model}.gguf`);
      const context = { n_ctx: 4096, n_threads: 1, n_gpu_layers: 0, n_parallel: 1, warmup: false };
      await wllama.loadModel([await response.blob()], context);
      return wllama;
    },
  });
}

/** Reads an answer, up to a number of parts. */
export async function collect(engine, request, stopAt = Infinity) {
  const controller = new AbortController();
  const seen = { parts: 0, text: '', calls: [] };
  try {
    for await (const part of engine.generate({ ...request, signal: controller.signal })) {
      seen.parts++;
      seen.text += part.text ?? '';
      const { toolCall } = part;
      if (toolCall !== undefined) {
        const call = (seen.calls[toolCall.index] ??= { name: '', arguments: '' });
        call.name += toolCall.name ?? '';
        call.arguments += toolCall.arguments ?? '';
      }
      seen.finish = part.finish ?? seen.finish;
      seen.usage = part.usage ?? seen.usage;
      if (seen.parts === stopAt) controller.abort();
    }
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  }
  return seen;
}

/** Runs a turn with a tool, up to a number of deltas of the message. */
export async function weatherTurn(model, message, stopAt = Infinity, maxIterations = 4) {
  const seen = { args: [], deltas: 0 };
  const weather = new Tool({
    name: 'get_weather',
    description: 'Weather in a city',
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string', maxLength: 12 },
        days: { type: 'integer', minimum: 1, maximum: 9 },
      },
      required: ['city', 'days'],
      additionalProperties: false,
    },
    handler: (args) => {
      seen.args.push(args);
      return '4 degrees';
    },
  });
  const controller = new AbortController();
  const runner = createRunner({ model, tools: [weather], bounds: { maxIterations }, host });
  runner.on('message', ({ aDelta }) => {
    if (aDelta !== '' && ++seen.deltas === stopAt) controller.abort();
  });
  const stream = runner.stream({ message, signal: controller.signal });
  const { status, text, toolCalls, error } = await stream.result;
  return { ...seen, status, text, calls: toolCalls, error: error && String(error) };
}
