// Turns in a worker of a page, in headless Chromium: what the page does while they load and stream, and workers that
// die.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

/** A task of a page that takes longer than this is a long one, in ms: people notice it. */
const LONG = 50;
/** A task can be long because the machine is busy. What is long by itself is so each time. */
const ATTEMPTS = 5;

let browser;
let server;

before(async () => {
  server = await startPackageServer();
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  server?.stop();
});

/** Runs a function in a fresh page, with an argument. @param complains whether the page may write to its console */
async function inPage(run, given, { complains = false } = {}) {
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${server.address}/`);
  try {
    return await page.evaluate(run, given);
  } finally {
    await page.close();
    if (!complains) assert.deepEqual(complaints, []);
  }
}

test('the page has no long task of ours while a worker loads and streams five thousand deltas', async () => {
  const seen = [];
  do {
    seen.push(
      await inPage(async () => {
        const tasks = [];
        const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
        observer.observe({ type: 'longtask', buffered: true });
        const { createWorkerRunner } = await import('/package/worker.min.js');
        const runner = createWorkerRunner(
          new Worker('/browser/agent-worker.mjs', { type: 'module' }),
        );
        const stream = runner.stream({ message: 'stream' });
        let deltas = 0;
        for await (const { event } of stream) if (event === 'message') deltas++;
        const { status, text } = await stream.result;
        const ours = tasks.splice(0).concat(observer.takeRecords());
        // The observer sees a task that is long on purpose.
        for (const from = performance.now(); performance.now() - from < 80;);
        while (tasks.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
        const loads = performance.getEntriesByType('resource').map(({ name }) => name);
        return {
          deltas,
          status,
          length: text.length,
          long: ours.map(({ duration }) => duration),
          loads: loads.filter((name) => name.endsWith('.wasm')).length,
        };
      }),
    );
    const { deltas, status, length, loads } = seen.at(-1);
    assert.deepEqual({ deltas, status, loads }, { deltas: 5001, status: 'ack', loads: 0 });
    assert.ok(length > 40_000);
  } while (seen.at(-1).long.some((ms) => ms > LONG) && seen.length < ATTEMPTS);
  assert.ok(
    seen.at(-1).long.every((ms) => ms <= LONG),
    `long tasks, in ms, at each attempt: ${seen.map(({ long }) => long.join(' ')).join('; ')}`,
  );
});

test('a model in the worker calls a tool of the page', async () => {
  const seen = await inPage(async () => {
    const { createWorkerRunner, PageTool } = await import('/package/worker.min.js');
    document.title = 'the title of the page';
    const title = new PageTool({
      name: 'page_title',
      description: 'Title of the page',
      inputSchema: { type: 'object', properties: {} },
      handler: () => document.title,
    });
    const worker = new Worker('/browser/agent-worker.mjs', { type: 'module', name: 'model' });
    const runner = createWorkerRunner(worker, { tools: [title] });
    const { status, text, toolCalls } = await runner.stream({
      message: 'What is the page_title?',
    }).result;
    runner.terminate();
    return { status, text, results: toolCalls.map(({ results }) => results) };
  });
  assert.deepEqual(seen, {
    status: 'ack',
    text: 'The tool answered: the title of the page',
    results: ['the title of the page'],
  });
});

test('a gate is answered, a turn is aborted', async () => {
  const seen = await inPage(async () => {
    const { createWorkerRunner } = await import('/package/worker.min.js');
    const runner = createWorkerRunner(new Worker('/browser/agent-worker.mjs', { type: 'module' }));
    runner.observe('turnGateOpen', ({ id, digest }) => runner.gate(id).resolve('yes', { digest }));
    const answered = await runner.stream({ message: 'gate' }).result;
    const stream = runner.stream({ message: 'wait' });
    for await (const { event } of stream) if (event === 'message') stream.abort();
    const aborted = await stream.result;
    runner.terminate();
    return [answered.text, aborted.status, String(aborted.error)];
  });
  assert.deepEqual(seen, ['said yes', 'aborted', 'undefined']);
});

/** A turn whose worker dies: by the page's hand, by its own, and as platforms that tell of no port's end see it. */
const DEATHS = ['terminate', 'close', 'terminate, known by the lock'];

for (const how of DEATHS) {
  test(`a worker that ends by ${how} fails its turn, and the next turn gets a new one`, async () => {
    const seen = await inPage(async (how) => {
      const { createWorkerRunner } = await import('/package/worker.min.js');
      if (how.endsWith('lock')) {
        const listen = MessagePort.prototype.addEventListener;
        MessagePort.prototype.addEventListener = function (type, ...more) {
          if (type !== 'close') listen.call(this, type, ...more);
        };
      }
      const workers = [];
      const runner = createWorkerRunner(() => {
        workers.push(new Worker('/browser/agent-worker.mjs', { type: 'module' }));
        return workers.at(-1);
      });
      const stream = runner.stream({ message: how === 'close' ? 'close' : 'wait' });
      let thrown;
      try {
        for await (const { event } of stream) {
          if (event === 'message' && how !== 'close') workers[0].terminate();
        }
      } catch (error) {
        thrown = error.code;
      }
      const { status } = await stream.result;
      const next = await runner.stream({ message: 'stream' }).result;
      runner.terminate();
      return { thrown, status, next: next.status, workers: workers.length };
    }, how);
    assert.deepEqual(seen, { thrown: 'E_WORKER_ENDED', status: 'failed', next: 'ack', workers: 2 });
  });
}

test('a worker whose script is missing is told as an error', async () => {
  const seen = await inPage(
    async () => {
      const { createWorkerRunner } = await import('/package/worker.min.js');
      const runner = createWorkerRunner(new Worker('/browser/missing.mjs', { type: 'module' }));
      const { status, error } = await runner.stream({ message: 'x' }).result;
      return { status, code: error.code, message: error.message };
    },
    undefined,
    { complains: true },
  );
  assert.equal(seen.status, 'failed');
  assert.equal(seen.code, 'E_WORKER_FAILED');
  assert.match(seen.message, /its script cannot be loaded/);
});
