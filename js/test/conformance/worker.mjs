// Plays the conformance corpus in a worker.
import * as conformance from '../package/conformance/index.js';
import { loadModule } from '../package/index.js';
import { fullModuleURL } from '../package/wasm.js';
import { playCorpus } from './play.mjs';

self.addEventListener('message', async ({ data: text }) => {
  const module = loadModule(fullModuleURL);
  postMessage(await playCorpus(conformance, JSON.parse(text), { module }));
});
