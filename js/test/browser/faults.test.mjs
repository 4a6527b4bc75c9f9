// What goes wrong when a page loads the module, in headless Chromium: what the server sends, a service worker without a
// network, a second copy of the package; and what looks wrong and is not.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { dist } from '../smoke/package-folder.mjs';
import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

/** A service worker that has a network only after it was told so. */
const SERVICE_WORKER = `let online = false;
addEventListener('install', (event) => event.waitUntil(skipWaiting()));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('message', ({ ports: [port] }) => {
  online = true;
  port.postMessage('online');
});
addEventListener('fetch', (event) => {
  const { request } = event;
  if (!request.url.endsWith('.wasm')) return;
  event.respondWith(online ? fetch(request) : Promise.resolve(Response.error()));
});
`;
const PAGE = '<!doctype html><link rel="icon" href="data:,"><title>faults</title>';

let browser;
let server;
let wasm;

before(async () => {
  wasm = await readFile(new URL('turncore.wasm', dist));
  server = await startPackageServer({
    folders: { copy: dist },
    files: { '/offline/worker.js': SERVICE_WORKER, '/offline/page.html': PAGE },
  });
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  server?.stop();
});

/**
 * Runs a function in a fresh page.
 *
 * @param answer what the server answers to the request of the module; as it is if there is none
 */
async function inPage(run, { path = '/', answer, given } = {}) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    if (answer !== undefined) await page.route('**/*.wasm', (route) => route.fulfill(answer));
    await page.goto(server.address + path);
    return await page.evaluate(run, given);
  } finally {
    await context.close();
  }
}

/** A turn of the package as it stands. */
async function turn() {
  const { createRunner } = await import('/package/turncore.min.js');
  const runner = createRunner({ executor: (ctx) => ctx.ack() });
  const { status, error } = await runner.stream({ message: 'x' }).result;
  return { status, code: error?.code, message: error?.message };
}

const SPA = '<!doctype html><div id="app"></div>';
/** What servers send in the place of the module, and what the error says of it. */
const answers = {
  nothing: [{ status: 404, body: 'not found' }, /HTTP status 404/],
  'the page of an app': [{ contentType: 'text/html', body: SPA }, /it is a page, not a module/],
  'a page as a module': [
    { contentType: 'application/wasm', body: SPA },
    /it is a page, not a module/,
  ],
  'half of the module': [
    { contentType: 'application/wasm', body: () => wasm.subarray(0, wasm.length / 2) },
    /the file may be cut off/,
  ],
};

for (const [name, [answer, why]] of Object.entries(answers)) {
  test(`a server that sends ${name}`, async () => {
    const body = typeof answer.body === 'function' ? answer.body() : answer.body;
    const { status, code, message } = await inPage(turn, { answer: { ...answer, body } });
    assert.deepEqual([status, code], ['failed', 'E_INVALID_MODULE']);
    assert.match(message, why);
    assert.match(message, /\/package\/turncore\.wasm/);
    assert.match(message, /`host: \{ module \}` takes its URL/);
  });
}

test('a server that does not know the type of modules', async () => {
  for (const contentType of ['text/plain', 'application/octet-stream', 'text/html']) {
    const { status } = await inPage(turn, { answer: { contentType, body: wasm } });
    assert.equal(status, 'ack', contentType);
  }
});

test('a service worker without a network, and with one at the next turn', async () => {
  const seen = await inPage(
    async () => {
      const registration = await navigator.serviceWorker.register('/offline/worker.js');
      await navigator.serviceWorker.ready;
      while (navigator.serviceWorker.controller === null) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const { createRunner } = await import('/package/turncore.min.js');
      const runner = createRunner({ executor: (ctx) => ctx.ack() });
      const { status, error } = await runner.stream({ message: 'x' }).result;
      const { port1, port2 } = new MessageChannel();
      await new Promise((resolve) => {
        port1.onmessage = resolve;
        registration.active.postMessage('online', [port2]);
      });
      const next = await runner.stream({ message: 'x' }).result;
      return { status, code: error.code, message: error.message, next: next.status };
    },
    { path: '/offline/page.html' },
  );
  assert.deepEqual([seen.status, seen.code, seen.next], ['failed', 'E_INVALID_MODULE', 'ack']);
  assert.match(seen.message, /cannot fetch \S+\/turncore\.wasm: Failed to fetch/);
  assert.match(seen.message, /`host: \{ module \}` takes its URL/);
});

test('two copies of the package play side by side, share tools, and tell what is of the other one', async () => {
  const seen = await inPage(async () => {
    const one = await import('/package/turncore.min.js');
    const two = await import('/copy/turncore.min.js');
    const errors = await import('/package/errors.min.js');
    const executor = (ctx) => ctx.ack();
    const tool = new two.Tool({
      name: 'day',
      description: 'Day of the week',
      inputSchema: { type: 'object', properties: {} },
      handler: () => 'Monday',
    });
    const calls = async (ctx, helpers) => {
      helpers.reportMessage('m', await ctx.tools.get('day').executor(ctx)({}), {
        isComplete: true,
      });
      ctx.ack();
    };
    const { text } = await one
      .createRunner({ executor: calls, tools: [tool] })
      .stream({ message: 'x' }).result;
    const ends = await Promise.all(
      [one, two].map(
        ({ createRunner }) => createRunner({ executor }).stream({ message: 'x' }).result,
      ),
    );
    const refused = [
      { host: new two.Host() },
      { executor: new two.ChatExecutor({ model: 'm' }) },
    ].map((config) => {
      try {
        return one.createRunner({ executor, ...config });
      } catch (error) {
        return error.message;
      }
    });
    const { error } = await two
      .createRunner({ executor, host: { module: '/nothing.wasm' } })
      .stream({ message: 'x' }).result;
    return {
      differ: one.Tool !== two.Tool,
      ends: ends.map(({ status }) => status),
      refused,
      text,
      told: [error instanceof errors.E_INVALID_MODULE, one.isTurncoreError(error)],
    };
  });
  assert.ok(seen.differ);
  assert.deepEqual([...seen.ends, seen.text], ['ack', 'ack', 'Monday']);
  assert.deepEqual(seen.told, [true, true]);
  for (const [i, field] of ['`host` must be', 'executor: must be'].entries()) {
    assert.ok(seen.refused[i].includes(field), seen.refused[i]);
    assert.match(seen.refused[i], /another copy of turncore: load the package once/);
  }
});

test('a page that a bundler gave a process is no Node', async () => {
  const seen = await inPage(async () => {
    globalThis.process = {
      browser: true,
      env: {},
      argv: [],
      version: 'v20.0.0',
      versions: { node: '20.0.0' },
      platform: 'linux',
      nextTick: (call) => queueMicrotask(call),
      cwd: () => '/',
      getBuiltinModule: () => {
        throw new Error('there are no modules');
      },
    };
    const { createRunner } = await import('/package/turncore.min.js');
    const runner = createRunner({ executor: (ctx) => ctx.ack() });
    const { status } = await runner.stream({ message: 'x' }).result;
    const loads = performance.getEntriesByType('resource').map(({ name }) => name);
    return { status, loads: loads.filter((name) => name.endsWith('.wasm')).length };
  });
  assert.deepEqual(seen, { status: 'ack', loads: 1 });
});
