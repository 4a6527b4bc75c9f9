// The same handler on other hosts: Node, and Vercel's edge-runtime. The lane `hosts` plays Deno and Bun.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { EdgeRuntime } from 'edge-runtime';
import { build } from 'esbuild';

import { clientOf } from './client.mjs';
import { plays } from './plays.mjs';
import { start } from './start.mjs';

const folder = fileURLToPath(new URL('..', import.meta.url));

test('Node', async () => {
  const server = await start(() => [process.execPath, 'hosts/node.js']);
  try {
    await plays(clientOf(`${server.address}/conversations/a/turns`));
  } finally {
    await server.stop();
  }
});

test("Vercel's edge-runtime", async () => {
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
  const runtime = new EdgeRuntime({
    initialCode: outputFiles[0].text,
    extend: (context) =>
      Object.assign(context, { GIVEN: modules, process: { env: { PAUSE_MS: '5' } } }),
    codeGeneration: { strings: false, wasm: false },
  });
  const send = (url, init) => runtime.dispatchFetch(url, init);
  await plays(clientOf('http://127.0.0.1/conversations/a/turns', send));
});

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
