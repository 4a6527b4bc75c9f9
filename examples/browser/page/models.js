// The models that the visitor can choose from.
import { scriptedEngine } from './engines/wllama.js';

/**
 * @typedef {object} Choice
 * @property {string} id in the page's address
 * @property {string} where heading in the list
 * @property {string} label in the list
 * @property {string} note what the visitor should know
 * @property {(onProgress: Function) => object} [engine] makes the engine; without one the server has the model
 * @property {object} [options] of requests
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
    note: config.live
      ? config.description
      : 'No model at all: the server answers as an API would, and calls the tools that your text mentions.',
  };
  const scripted = {
    id: 'scripted',
    where: 'In this page',
    label: 'Scripted · llama.cpp',
    note: 'Scripted: real llama.cpp runs in this tab, on a file that holds a few fixed answers.',
    engine: scriptedEngine,
    options: { temperature: 0, max_tokens: 1500 },
  };
  return config.live ? [server, scripted] : [scripted, server];
}
