// The same handler on other hosts: Node, and Vercel's edge-runtime. The lane `hosts` plays Deno and Bun.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { before, describe, it, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { EdgeRuntime } from 'edge-runtime';
import { build } from 'esbuild';

import { clientOf } from './client.mjs';
import { plays } from './plays.mjs';
import { start } from './start.mjs';

const folder = fileURLToPath(new URL('..', import.meta.url));

test('Node', async () => {
  const server = await start([process.execPath, 'hosts/node.js']);
  try {
    await plays(clientOf(`${server.address}/conversations/a/turns`));
  } finally {
    await server.stop();
  }
});

describe("Vercel's edge-runtime", () => {
  /** What ends the intervals of a request, as the platform does when the request is gone. */
  const enders = [];
  let client;

  before(async () => {
    const runtime = await startEdgeRuntime((context) => {
      const { setInterval, clearInterval } = context;
      context.setInterval = (...args) => {
        const id = setInterval(...args);
        enders.push(() => clearInterval(id));
        return id;
      };
    });
    const send = (url, init) => runtime.dispatchFetch(url, init);
    client = clientOf('http://127.0.0.1/conversations/a/turns', send);
  });

  it('plays', () => plays(client));

  it('refuses to attach to a turn whose request is gone', async () => {
    const { post } = client;
    const turn = { message: 'Please transfer money to Grace.', turnId: 'gone' };
    const first = await post('', turn);
    for await (const piece of first.body.pipeThrough(new TextDecoderStream())) {
      if (piece.includes('turnGateOpen')) break;
    }
    const live = await post('', turn);
    assert.equal(live.status, 200);
    await live.body.cancel();
    for (const end of enders) end();
    const refusals = await Promise.all([
      post('', turn),
      post('/gone/gates/transfer', { value: true }),
    ]);
    for (const refusal of refusals) {
      assert.equal(refusal.status, 410);
      assert.equal((await refusal.json()).error.code, 'E_TURN_ABANDONED');
    }
  });
});

/** @param extend changes the globals of the function */
async function startEdgeRuntime(extend) {
  const modules = {};
  const { outputFiles } = await build({
    absWorkingDir: folder,
    stdin: {
      contents: `import handler from './hosts/edge-runtime.js';
addEventListener('fetch', (event) => event.respondWith(handler(event.request, event)));`,
      resolveDir: folder,
    },
    write: false,
    bundle: true,
    format: 'iife',
    conditions: ['edge-light', 'worker', 'browser'],
    plugins: [givenModules(modules)],
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return new EdgeRuntime({
    initialCode: outputFiles[0].text,
    extend: (context) => {
      extend(context);
      const env = { PAUSE_MS: '5', ON_DISCONNECT: 'continue' };
      return Object.assign(context, { GIVEN: modules, process: { env } });
    },
    codeGeneration: { strings: false, wasm: false },
  });
}

/** Gives modules to the script, as the platform does when a function is deployed. */
function givenModules(modules) {
  return {
    name: 'modules that are given',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path.replace('?module', '')),
        namespace: 'given',
      }));
      onLoad({ filter: /./, namespace: 'given' }, async ({ path }) => {
        const name = basename(path);
        modules[name] = new WebAssembly.Module(await readFile(path));
        return { contents: `export default GIVEN[${JSON.stringify(name)}];` };
      });
    },
  };
}
