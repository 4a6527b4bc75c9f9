// The same agent with the same grants in a page as in Node: the same refusals, the same events, the same limits.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { build } from 'esbuild';

import { agentFile, inNode } from '../smoke/agent-file.mjs';
import { playAgent } from '../smoke/granted-agent.mjs';
import { packageUnderTest } from '../smoke/package-folder.mjs';
import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

test('an agent in a page is held to its grant as in Node', async () => {
  const file = await agentFile();
  const bundle = await build({
    stdin: {
      contents: `
        import * as agents from 'turncore/agents';
        import { playAgent } from './granted-agent.mjs';
        globalThis.said = playAgent(agents, '/page/agent.wasm');`,
      resolveDir: fileURLToPath(new URL('../smoke/', import.meta.url)),
    },
    bundle: true,
    format: 'esm',
    write: false,
    plugins: [packageUnderTest],
    logLevel: 'error',
  });
  const server = await startPackageServer({
    files: {
      '/page/index.html': '<!doctype html><script type="module" src="page.mjs"></script>',
      '/page/page.mjs': bundle.outputFiles[0].contents,
      '/page/agent.wasm': file,
    },
  });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${server.address}/page/index.html`);
    await page.waitForFunction(() => globalThis.said !== undefined);
    const said = await page.evaluate(() => globalThis.said);
    assert.deepEqual(said, await inNode(playAgent, file));
    assert.ok(
      said.some((line) => line.startsWith('aborted E_AGENT_LIMIT')),
      said.join('\n'),
    );
  } finally {
    await browser.close();
    server.stop();
  }
});
