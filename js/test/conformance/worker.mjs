// Plays the conformance corpus in a worker.
import * as conformance from '../package/conformance/index.js';
import { playCorpus } from './play.mjs';

self.addEventListener('message', async ({ data: text }) => {
  postMessage(await playCorpus(conformance, JSON.parse(text), {}));
});
