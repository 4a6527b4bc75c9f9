// The page of examples/page, bundled with the package and played in headless Chromium.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';

import { build } from 'esbuild';

import { dist, packageUnderTest } from '../smoke/package-folder.mjs';
import { launchChromium, WAIT } from './chromium.mjs';

const source = new URL('../../../examples/page/', import.meta.url);
const { simulatedProvider } = await import(new URL('simulated/provider.js', dist));
const provider = simulatedProvider();

let browser;
let server;
let page;
const complaints = [];
const asked = []; // the paths of all requests

before(async () => {
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL('page.js', source))],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    plugins: [packageUnderTest],
    logLevel: 'warning',
  });
  assert.deepEqual(bundle.warnings, []);
  const files = {
    '/': ['text/html', await readFile(new URL('index.html', source))],
    '/page.js': ['text/javascript', bundle.outputFiles[0].contents],
    '/turncore.wasm': ['application/wasm', await readFile(new URL('turncore.wasm', dist))],
  };
  server = createServer((request, response) => {
    asked.push(request.url);
    if (request.url === '/v1/chat/completions') return provider(request, response);
    const [type, body] = files[request.url] ?? [];
    if (body === undefined) return response.writeHead(404).end();
    return response.writeHead(200, { 'Content-Type': type }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  browser = await launchChromium();
  page = await browser.newPage();
  page.setDefaultTimeout(WAIT);
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});
after(async () => {
  await browser?.close();
  server?.close();
  server?.closeAllConnections();
});

/** Sends a message. @returns the line in which the answer appears */
async function say(message) {
  await page.fill('input[name=message]', message);
  await page.click('#ask button');
  return page.locator('li.agent').last();
}

/** Waits for the end of the turn. @returns its status and text */
async function answered(line) {
  await line.and(page.locator('[data-status]')).waitFor();
  return [await line.getAttribute('data-status'), await line.textContent()];
}

test('the page streams an answer', async () => {
  const [status, text] = await answered(await say('good morning'));
  assert.equal(status, 'ack');
  assert.match(text, /good morning/);
});

for (const [button, expected] of [
  ['Yes', /20 euros are with/],
  ['No', /the visitor refused/],
]) {
  test(`a transfer waits for the visitor, who says ${button}`, async () => {
    const line = await say('Please transfer 20 euros to Grace.');
    await page.locator('#gate').waitFor({ state: 'visible' });
    assert.match(await page.locator('#gate p').textContent(), /^Transfer 20 euros to /);
    assert.equal(await line.getAttribute('data-status'), null);
    await page.click(`#gate button >> text="${button}"`);
    const [status, text] = await answered(line);
    assert.equal(status, 'ack');
    assert.match(text, expected);
    assert.ok(await page.locator('#gate').isHidden());
  });
}

test('the page asks for one module and its model, and complains about nothing', () => {
  assert.deepEqual([...new Set(asked)].sort(), [
    '/',
    '/page.js',
    '/turncore.wasm',
    '/v1/chat/completions',
  ]);
  assert.equal(asked.filter((path) => path.endsWith('.wasm')).length, 1);
  assert.deepEqual(complaints, []);
});
