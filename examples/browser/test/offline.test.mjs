// The demo page without its server, in headless Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startDemo } from './start.mjs';
import { DESKTOP, PHONE, startBrowser, stopBrowser, Visit } from './visit.mjs';

before(startBrowser);
after(stopBrowser);

/** The caches of a page, by name, with the paths in them. */
const cachesOf = (page) =>
  page.evaluate(async () => {
    const found = {};
    for (const name of await caches.keys()) {
      const requests = await (await caches.open(name)).keys();
      found[name] = requests.map(({ url }) => url.replace(location.origin, ''));
    }
    return found;
  });

/**
 * Waits until the page's service worker of a version has taken all copies, and serves the page or waits for its turn.
 * The browser drops a worker that could not be installed and tries again when the page is next loaded; so does this,
 * twice.
 */
const copied = async (page, version, { waits = false } = {}) => {
  for (let loads = 0; !(await hasCopied(page, version, waits)); loads++) {
    const found = JSON.stringify([await workersOf(page), await cachesOf(page)]);
    if (loads === 2) throw new Error(`no worker of version ${version}: ${found}`);
    console.warn(`loading once more, as there is no worker of version ${version}: ${found}`);
    await page.reload();
  }
};

/** Waits for that on the page as it is, and reports whether it came. (Playwright waits for no promise of a predicate.) */
const hasCopied = (page, version, waits) =>
  page.evaluate(
    async ([wanted, waits, patience]) => {
      const { serviceWorker } = navigator;
      for (const end = performance.now() + patience; performance.now() < end;) {
        const { waiting } = (await serviceWorker.getRegistration()) ?? {};
        const { scriptURL, state } = (waits ? waiting : serviceWorker.controller) ?? {};
        if (state === (waits ? 'installed' : 'activated') && scriptURL.endsWith(wanted))
          return true;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return false;
    },
    [version, waits, 30_000],
  );

/** The addresses and states of a page's service workers. */
const workersOf = (page) =>
  page.evaluate(async () => {
    const { installing, waiting, active } = (await navigator.serviceWorker.getRegistration()) ?? {};
    const told = (worker) => worker && `${worker.scriptURL} ${worker.state}`;
    const { controller } = navigator.serviceWorker;
    return [installing, waiting, active, controller].map(told);
  });

const versionOf = async ({ address }) =>
  (await (await fetch(`${address}/config.json`)).json()).version;

test('the page runs a whole turn with a tool when its server is gone', async () => {
  const demo = await startDemo();
  const visit = await Visit.to(demo.address, DESKTOP, { model: null, offline: true });
  const { page } = visit;
  visit.expected.push(/Failed to load resource.*ERR_(CONNECTION_REFUSED|FAILED)/);
  try {
    assert.equal(await page.isVisible('#offline'), false);
    await copied(page, await versionOf(demo));
  } finally {
    await demo.stop();
  }
  await page.goto(`${demo.address}/`);
  await visit.state('ready');
  assert.equal(await page.isVisible('#offline'), true);
  await page.getByRole('button', { name: 'What is the weather in Oslo?' }).click();
  assert.match(await visit.ended(0), /^ack · 2 iterations/);
  assert.equal(await visit.turn(0).locator('.tool').getAttribute('data-state'), 'done');
  assert.match(await visit.turn(0).locator('.by-agent').textContent(), /sky of Oslo/);
  await visit.shot('offline');
  await page.setViewportSize(PHONE.viewport);
  await visit.shot('offline-phone');
  await page.selectOption('#choice', 'server');
  await visit.state('ready');
  assert.equal(await page.textContent('#model-note'), 'The server cannot be reached.');
  await visit.leave();
});

test('a new version takes the place of the old one as a whole, with the libraries that were used', async () => {
  const first = await startDemo();
  const visit = await Visit.to(first.address, DESKTOP, { model: null, offline: true });
  const { page } = visit;
  const library = '/libraries/wllama-compat/wllama.js';
  const old = await versionOf(first);
  try {
    await copied(page, old);
    await page.evaluate(async (path) => (await fetch(path)).text(), library);
    const before = await cachesOf(page);
    assert.deepEqual(Object.keys(before), [`turncore-demo-${old}`]);
    assert.ok(before[`turncore-demo-${old}`].includes(library));
  } finally {
    await first.stop();
  }
  const { port } = new URL(first.address);
  const second = await startDemo({
    args: ['--port', port],
    env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'another' },
  });
  try {
    const version = await versionOf(second);
    assert.notEqual(version, old);
    await page.reload();
    await visit.state('ready');
    assert.equal(await page.isVisible('#offline'), false);
    // The worker of the new version waits while a page is open that has the old one.
    await copied(page, version, { waits: true });
    assert.ok((await workersOf(page)).at(-1).includes(old));
    await page.goto('about:blank');
    await page.goto(`${second.address}/`);
    await visit.state('ready');
    await copied(page, version);
    const { [`turncore-demo-${version}`]: paths, ...others } = await cachesOf(page);
    assert.deepEqual(others, {});
    for (const path of ['/', '/app.js', '/models/scripted.gguf', library]) {
      assert.ok(paths?.includes(path), path);
    }
  } finally {
    await second.stop();
  }
  await visit.leave();
});
