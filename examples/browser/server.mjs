#!/usr/bin/env node
// Serves the demo page on loopback, with the package, the module and a model to talk to.
//
//   node server.mjs [--port N] [--pause MS]
//
// The model is a simulated one, or with OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL) a live one.
import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { createDemoServer } from './serve/demo-server.mjs';
import { listen } from './serve/listen.mjs';
import { liveModel } from './serve/live-model.mjs';
import { simulatedModel } from './serve/simulated-model.mjs';

const DEFAULT_PORT = 8787;
/** Milliseconds between two words of the simulated model. */
const DEFAULT_PAUSE = 30;

const page = fileURLToPath(new URL('./page/', import.meta.url));
const dist = fileURLToPath(new URL('../../js/dist/', import.meta.url));
const libraries = fileURLToPath(new URL('./node_modules/', import.meta.url));
const modules = fileURLToPath(new URL('../../build/agents/', import.meta.url));
/** The example agents that the page offers. */
const AGENTS = ['research'];

try {
  const { port, pause } = settings();
  const needs = [
    `${dist}turncore.wasm`,
    `${libraries}@wllama/wllama/esm/index.js`,
    ...AGENTS.map((name) => `${modules}${name}.wasm`),
  ];
  for (const needed of needs) {
    await access(needed).catch(() => {
      throw new Error(
        'the package, the libraries or the agents are missing: run `make demo` in the project, which gets them first',
      );
    });
  }
  const model = liveModel(process.env) ?? (await simulatedModel(pause));
  const agents = await Promise.all(
    AGENTS.map(async (name) => ({ name, grant: await grantOf(name) })),
  );
  const server = createDemoServer({ page, dist, libraries, modules, agents, model });
  await listen(server, port ?? DEFAULT_PORT, { orFree: port === undefined });
  // These listeners stand before the address is printed: a reader of it may stop the server at once.
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
  console.log(`model   ${model.description}`);
  console.log(`demo    http://127.0.0.1:${server.address().port}/   (Ctrl+C stops it)`);
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
}

/** The grant of an example agent. */
async function grantOf(name) {
  const file = new URL(`../agents/${name}/grant.json`, import.meta.url);
  return JSON.parse(await readFile(file, 'utf8'));
}

/** What the command line and the environment ask for. */
function settings() {
  const { values } = parseArgs({
    options: { port: { type: 'string' }, pause: { type: 'string' } },
  });
  return {
    port: wholeNumber('--port', values.port ?? process.env.PORT, 65535),
    pause: wholeNumber('--pause', values.pause, 60_000) ?? DEFAULT_PAUSE,
  };
}

function wholeNumber(name, text, most) {
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) <= most) return Number(text);
  throw new Error(`${name} must be a whole number from 0 to ${most}`);
}
