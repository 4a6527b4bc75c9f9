// The same agent with the same grants in a page as in Node: the same refusals, the same events, the same limits.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { build } from 'esbuild';

import { agentFile, inNode } from '../smoke/agent-file.mjs';
import { playAgent } from '../smoke/granted-agent.mjs';
import { packageUnderTest } from '../smoke/package-folder.mjs';
import { launchChromium } from './chromium.mjs';

test('an agent in a page is held to its grant as in Node', async () => {
  const file = await agentFile();
  const bundle = await build({
    stdin: {
      contents: `
        import * as agents from 'turncore/agents';
        import { playAgent } from './granted-agent.mjs';
        globalThis.said = playAgent(agents, '/agent.wasm');`,
      resolveDir: fileURLToPath(new URL('../smoke/', import.meta.url)),
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
    '/agent.wasm': ['application/wasm', file],
  };
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
    await page.waitForFunction(() => globalThis.said !== undefined);
    const said = await page.evaluate(() => globalThis.said);
    assert.deepEqual(said, await inNode(playAgent, file));
    assert.ok(
      said.some((line) => line.startsWith('aborted E_AGENT_LIMIT')),
      said.join('\n'),
    );
  } finally {
    await browser.close();
    server.close();
    server.closeAllConnections();
  }
});
