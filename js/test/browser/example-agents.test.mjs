// The example agents give the event logs in a page that they give in Go.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { build } from 'esbuild';

import { example, names } from '../agents/examples.mjs';
import { packageUnderTest } from '../smoke/package-folder.mjs';
import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

test('the example agents in a page', async (t) => {
  const bundle = await build({
    stdin: {
      contents: `
        import { playAgent } from './play.mjs';
        globalThis.played = async ({ name, grant, play }) => {
          const file = await (await fetch(name + '.wasm')).arrayBuffer();
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
    '/page/index.html': '<!doctype html><script type="module" src="page.mjs"></script>',
    '/page/page.mjs': bundle.outputFiles[0].contents,
  };
  const examples = {};
  for (const name of names) {
    examples[name] = await example(name);
    files[`/page/${name}.wasm`] = examples[name].file;
  }
  const server = await startPackageServer({ files });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${server.address}/page/index.html`);
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
    server.stop();
  }
});
