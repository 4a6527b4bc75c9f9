// Modules that want to harm their host, in a page: each in a worker of its own, as in Node. Each ends within its limits
// with an error that names the limit, and the page goes on.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';

import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

const root = new URL('../../../', import.meta.url);
const modules = new URL('build/hostile/', root);
const table = JSON.parse(await readFile(new URL('host/testdata/hostile/table.json', root), 'utf8'));
/** Fuel of a start, and of a step. */
const units = 5_000_000;

const PAGE = `
  import { createWorkerRunner } from '/package/worker.min.js';
  import { ending } from '/hostile/ending.mjs';

  globalThis.play = async (name, { units, stepTimeout }) => {
    const address = '/browser/hostile-worker.mjs#name=' + name + '&units=' + units;
    const start = () => {
      const worker = new Worker(address, { type: 'module' });
      return { runner: createWorkerRunner(worker, { stepTimeout }) };
    };
    const { status, error } = await ending(start, name);
    const { code, message, cause } = error ?? {};
    return { status, code, message, limit: cause?.limit };
  };`;

describe('a hostile module in a page', { concurrency: 2 }, () => {
  let server;
  let browser;
  let page;
  before(async () => {
    server = await startPackageServer({
      folders: { hostile: new URL('../hostile/', import.meta.url), modules },
      files: {
        '/page/index.html': '<!doctype html><script type="module" src="page.mjs"></script>',
        '/page/page.mjs': PAGE,
        '/modules/core.wasm': await readFile(new URL('js/dist/turncore.wasm', root)),
      },
    });
    browser = await launchChromium();
    page = await browser.newPage();
    await page.goto(`${server.address}/page/index.html`);
    await page.waitForFunction(() => globalThis.play !== undefined);
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });

  const play = (name, options = {}) =>
    page.evaluate(
      ([what, how]) => globalThis.play(what, how),
      [name, { units, stepTimeout: 60_000, ...options }],
    );

  assert.ok(table.length >= 120, `${table.length} modules`);
  for (const row of table) {
    it(`that ${row.does}`, async () => {
      const { status, code, message } = await play(row.name);
      assert.equal(status, 'failed');
      const wanted = { ...row, ...row.js };
      assert.equal(code, wanted.code, message);
      const { says } = wanted;
      assert.ok(message.toLowerCase().includes(says.toLowerCase()), `${message}: no ${says}`);
    });
  }

  it('that spins with all the fuel that there is ends when its thread has not answered in time', async () => {
    const fuel = Number.MAX_SAFE_INTEGER;
    const { status, code, limit } = await play('spin-step', { units: fuel, stepTimeout: 500 });
    assert.deepEqual([status, code, limit], ['failed', 'E_WORKER_ENDED', 'stepTimeout']);
  });

  it('leaves a page in which others work', async () => {
    const { status, message } = await play('core');
    assert.equal(status, 'ack', message);
  });
});
