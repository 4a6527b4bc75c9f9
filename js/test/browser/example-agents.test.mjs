// The example agents give the event logs in a page that they give in Go.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { build } from 'esbuild';

import { example, names, unnamed } from '../agents/examples.mjs';
import { packageUnderTest } from '../smoke/package-folder.mjs';
import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

test('the example agents in a page', async (t) => {
  const files = {
    '/page/index.html': '<!doctype html><script type="module" src="page.mjs"></script>',
    '/page/page.mjs': await bundled(`
      import { loadAgent } from 'turncore/agents';
      import { playAgent, playOn } from './play.mjs';
      globalThis.played = async ({ name, grant, play }) => {
        const file = await (await fetch(name + '.wasm')).arrayBuffer();
        return playAgent(new Uint8Array(file), grant, play);
      };
      globalThis.playedInWorker = async ({ name, grant, play }) => {
        const agent = await loadAgent(name + '.wasm', {
          grant,
          options: play.options,
          worker: () => new Worker('worker.mjs#' + name, { type: 'module' }),
        });
        const log = await playOn(agent.createRunner(), play);
        agent.terminate();
        return log;
      };`),
    '/page/worker.mjs': await bundled(`
      import { serveAgent } from 'turncore/agents';
      import { answersOf, hostOf } from './play.mjs';
      const play = await (await fetch(location.hash.slice(1) + '.json')).json();
      serveAgent(hostOf(play, answersOf(play)));`),
  };
  const examples = {};
  for (const name of names) {
    examples[name] = await example(name);
    files[`/page/${name}.wasm`] = examples[name].file;
    files[`/page/${name}.json`] = JSON.stringify(examples[name].play);
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
      await t.test(`${name} in a worker`, async () => {
        const { grant, play, log } = examples[name];
        const said = await page.evaluate((it) => globalThis.playedInWorker(it), {
          name,
          grant,
          play,
        });
        assert.deepEqual(unnamed(said), unnamed(log));
      });
    }
  } finally {
    await browser.close();
    server.stop();
  }
});

/** A program in one file. @returns its bytes */
async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('../agents/', import.meta.url)) },
    bundle: true,
    format: 'esm',
    write: false,
    plugins: [packageUnderTest],
    logLevel: 'error',
  });
  return outputFiles[0].contents;
}
