// The models that the visitor can choose from.
import { browserModel, storedPromptAPI } from './engines/prompt-api.js';
import { qwenOnTransformers, storedTransformers } from './engines/transformers.js';
import { qwenOnWebLLM, storedWebLLM } from './engines/webllm.js';
import {
  CONTEXT,
  qwenOnWllama,
  SCRIPTED_CONTEXT,
  scriptedEngine,
  storedWllama,
} from './engines/wllama.js';

const HERE = 'In this page';
const MB = 1e6;

/**
 * @typedef {object} Choice
 * @property {string} id in the page's address
 * @property {string} where heading in the list
 * @property {string} label in the list
 * @property {string} note what the visitor should know
 * @property {(onProgress: Function) => object} [engine] makes the engine, or promises it; without one the server has the model
 * @property {object} [options] of requests
 * @property {object} [context] tokens that the model can read and write at a time, bytes of text that one stands for, and
 *   tokens of an answer
 * @property {() => Promise<boolean>} [stored] whether nothing must be downloaded; without it nothing must
 * @property {number} [bytes] of the download, if known
 * @property {object} [needs] what the device must have, beside storage for the download
 */

/**
 * All of them.
 *
 * @param config what the server says of its own model
 * @returns {Choice[]} the first one is what the page begins with
 */
export function modelsOf(config) {
  const server = {
    id: 'server',
    where: 'On the server',
    label: config.live ? config.model : 'Simulated',
    note: config.offline
      ? 'The server cannot be reached.'
      : config.live
        ? config.description
        : 'No model at all: the server answers as an API would, and calls the tools that your text mentions.',
  };
  const scripted = {
    id: 'scripted',
    where: HERE,
    label: 'Scripted · llama.cpp',
    note: 'Scripted: real llama.cpp runs in this tab, on a file that holds a few fixed answers.',
    engine: scriptedEngine,
    options: { temperature: 0, max_tokens: 1500 },
    // It knows its own answers by word, and everything else by byte.
    context: { tokens: SCRIPTED_CONTEXT, bytesPerToken: 1, answer: 1500 },
  };
  const downloaded = [
    {
      id: 'wllama',
      label: 'Qwen3 0.6B · wllama',
      note: 'llama.cpp on WebAssembly, for any machine. The model comes from huggingface.co and stays here.',
      engine: qwenOnWllama,
      stored: storedWllama,
      bytes: 640 * MB,
      needs: { memory: 2000 * MB },
    },
    {
      id: 'webllm',
      label: 'Qwen3 0.6B · WebLLM',
      note: 'On your graphics card. The model comes from huggingface.co and stays here.',
      engine: qwenOnWebLLM,
      stored: storedWebLLM,
      bytes: 350 * MB,
      needs: { webGPU: ['shader-f16'], memory: 2000 * MB },
    },
    {
      id: 'transformers',
      label: 'Qwen3 0.6B · transformers.js',
      note: 'On your graphics card. The model comes from huggingface.co and stays here.',
      engine: qwenOnTransformers,
      stored: storedTransformers,
      bytes: 570 * MB,
      needs: { webGPU: ['shader-f16'], memory: 2000 * MB },
    },
    {
      id: 'prompt-api',
      label: "The browser's own · Prompt API",
      note: 'The model that came with the browser, or that the browser downloads.',
      engine: browserModel,
      stored: storedPromptAPI,
      options: {}, // it takes none
    },
  ].map((choice) => ({
    options: { max_tokens: 1024 },
    ...choice,
    where: HERE,
    context: { tokens: CONTEXT, bytesPerToken: 3, answer: 1024 },
  }));
  return config.live && !config.offline
    ? [server, scripted, ...downloaded]
    : [scripted, ...downloaded, server];
}
