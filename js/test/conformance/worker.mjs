// Plays the conformance corpus in a worker.
import * as conformance from '../package/conformance.min.js';
import { loadModule } from '../package/turncore.min.js';
import { fullModuleURL } from '../package/wasm.min.js';
import { playCorpus } from './play.mjs';

self.addEventListener('message', async ({ data: text }) => {
  const module = loadModule(fullModuleURL);
  postMessage(await playCorpus(conformance, JSON.parse(text), { module }));
});
