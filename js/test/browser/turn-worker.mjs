// Runs the turn in a worker. The runner is made when the script is, before anything is loaded.
import * as host from '../package/host.min.js';
import * as turncore from '../package/turncore.min.js';
import { fixedSeams, makeRunner, runTurn } from '../smoke/one-turn.mjs';

const runner = makeRunner(turncore, fixedSeams(host));

/** Data is a WebAssembly.Module to use in place of the package's own, or null. */
self.addEventListener('message', async ({ data: module }) => {
  const own = module === null;
  try {
    const used = own ? runner : makeRunner(turncore, { ...fixedSeams(host), module });
    const run = await runTurn(used);
    const loads = performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.wasm'));
    postMessage({ run, scope: self.constructor.name, loads: loads.length });
  } catch (error) {
    postMessage({ error: `${error.name}: ${error.message}\n${error.stack}` });
  }
});
