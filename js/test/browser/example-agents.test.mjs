// The example agents give the event logs in a page that they give in Go.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { build } from 'esbuild';

import { example, names } from '../agents/examples.mjs';
import { packageUnderTest } from '../smoke/package-folder.mjs';
import { launchChromium } from './chromium.mjs';

test('the example agents in a page', async (t) => {
  const bundle = await build({
    stdin: {
      contents: `
        import { playAgent } from './play.mjs';
        globalThis.played = async ({ name, grant, play }) => {
          const file = await (await fetch('/' + name)).arrayBuffer();
          return playAgent(new Uint8Array(file), grant, play);
        };`,
      resolveDir: fileURLToPath(new URL('../agents/', import.meta.url)),
    },
    bundle: true,
    format: 'esm',
    write: false,
    plugins: [packageUnderTest],
    logLevel: 'error',
  });
  const files = {
    '/': ['text/html', '<!doctype html><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', bundle.outputFiles[0].contents],
  };
  const examples = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await example(name)])),
  );
  for (const name of names) files[`/${name}`] = ['application/wasm', examples[name].file];
  const server = createServer((request, response) => {
    const [type, body] = files[request.url] ?? [];
    if (body === undefined) return response.writeHead(404).end();
    return response.writeHead(200, { 'Content-Type': type }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.waitForFunction(() => globalThis.played !== undefined);
    for (const name of names) {
      await t.test(name, async () => {
        const { grant, play, log } = examples[name];
        const said = await page.evaluate((it) => globalThis.played(it), { name, grant, play });
        assert.equal(said, log);
      });
    }
  } finally {
    await browser.close();
    server.close();
    server.closeAllConnections();
  }
});
