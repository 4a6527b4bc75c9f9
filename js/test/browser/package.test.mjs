// The package in headless Chromium: in a page, and in a dedicated worker.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { expected } from '../smoke/expected.mjs';
import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

let browser;
let server;
let page;
const complaints = [];

before(async () => {
  server = await startPackageServer({ files: { '/browser/readme.mjs': await readmeProgram() } });
  browser = await launchChromium();
  page = await browser.newPage();
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${server.address}/`);
});
after(async () => {
  await browser?.close();
  server?.stop();
});

test('a page makes a runner before anything is loaded, and its turn is the one of Node', async () => {
  const seen = await page.evaluate(async () => {
    const turncore = await import('/package/turncore.min.js');
    const host = await import('/package/host.min.js');
    const { fixedSeams, makeRunner, runTurn } = await import('/smoke/one-turn.mjs');
    const loads = () =>
      performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.wasm')).length;
    const runner = makeRunner(turncore, fixedSeams(host));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = loads();
    const run = await runTurn(runner);
    const again = await runTurn(runner);
    return { before, run, again: again.result, loads: loads() };
  });
  assert.equal(seen.before, 0);
  assert.equal(seen.loads, 1);
  assert.deepEqual(seen.run, expected);
  assert.deepEqual(seen.again, expected.result);
});

test('a page runs turns side by side in one instance', async () => {
  const runs = await page.evaluate(async () => {
    const turncore = await import('/package/turncore.min.js');
    const { makeRunner, runTurn } = await import('/smoke/one-turn.mjs');
    const host = new turncore.Host();
    return Promise.all(Array.from({ length: 20 }, () => runTurn(makeRunner(turncore, host))));
  });
  for (const { result, streamed, heard } of runs) {
    assert.deepEqual(result, expected.result);
    assert.deepEqual(heard, streamed);
    assert.deepEqual(streamed.map(nameOf), expected.streamed.map(nameOf));
  }
});

/** Runs the turn in a worker. @param compile whether the page compiles the module and sends it */
function inWorker(compile) {
  return page.evaluate(async (compiled) => {
    const worker = new Worker('/browser/turn-worker.mjs', { type: 'module' });
    const module = compiled
      ? await WebAssembly.compileStreaming(fetch('/package/turncore.wasm'))
      : null;
    try {
      return await new Promise((resolve, reject) => {
        worker.addEventListener('message', ({ data }) => resolve(data));
        worker.addEventListener('error', ({ message }) => reject(new Error(message)));
        worker.postMessage(module);
      });
    } finally {
      worker.terminate();
    }
  }, compile);
}

test('a worker that makes its runner when it starts runs the same turn', async () => {
  const { run, scope, loads, error } = await inWorker(false);
  assert.equal(error, undefined);
  assert.equal(scope, 'DedicatedWorkerGlobalScope');
  assert.equal(loads, 1);
  assert.deepEqual(run, expected);
});

test('a worker takes a module that the page has compiled', async () => {
  const { run, loads, error } = await inWorker(true);
  assert.equal(error, undefined);
  assert.equal(loads, 0);
  assert.deepEqual(run, expected);
});

test('the program of the README with a model and a tool runs in a page as it stands', async () => {
  const own = await browser.newPage();
  const said = [];
  own.on('console', (message) => said.push(message.text()));
  own.on('pageerror', (error) => said.push(String(error)));
  await own.goto(`${server.address}/`);
  await own.evaluate(() => import('/browser/readme.mjs'));
  await own.close();
  assert.deepEqual(said, ['get_weather -> The tool answered: 4 degrees in Oslo']);
});

test('a page whose server lacks the engine is told so, and its next turn tries again', async () => {
  const poor = await browser.newPage();
  await poor.route('**/engine.min.js', (route) => route.abort(), { times: 1 });
  await poor.goto(`${server.address}/`);
  const seen = await poor.evaluate(async () => {
    const turncore = await import('/package/turncore.min.js');
    const { makeRunner, runTurn } = await import('/smoke/one-turn.mjs');
    const runner = makeRunner(turncore, {});
    const { code, message, help } = await runTurn(runner).catch((error) => error);
    const again = await runTurn(runner).then(
      ({ result }) => result.status,
      (error) => error.message,
    );
    return { code, message, help, again };
  });
  await poor.close();
  assert.equal(seen.code, 'E_INVALID_MODULE');
  assert.match(seen.message, /^A part of this package cannot be loaded: .*engine\.min\.js/);
  assert.match(seen.help, /all files of the bundle/);
  assert.equal(seen.again, 'ack');
});

test('an error before the first turn of a page gets its remedy when it is loaded', async () => {
  const fresh = await browser.newPage();
  await fresh.goto(`${server.address}/`);
  const { at, later } = await fresh.evaluate(async () => {
    const { TurncoreError } = await import('/package/turncore.min.js');
    const error = TurncoreError.of('E_OVERLOADED');
    const at = error.help ?? null;
    while (error.help === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    return { at, later: error.help };
  });
  await fresh.close();
  assert.equal(at, null);
  assert.match(later, /\.$/);
});

test('a policy without wasm-unsafe-eval is told as an error with a code', async () => {
  const strict = await browser.newPage();
  await strict.route(`${server.address}/`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      headers: { 'Content-Security-Policy': "script-src 'self'" },
      body: '<!doctype html><link rel="icon" href="data:,">',
    }),
  );
  await strict.goto(`${server.address}/`);
  const error = await strict.evaluate(async () => {
    const turncore = await import('/package/turncore.min.js');
    const { makeRunner, runTurn } = await import('/smoke/one-turn.mjs');
    return runTurn(makeRunner(turncore, {})).then(
      () => undefined,
      ({ code, message }) => ({ code, message }),
    );
  });
  await strict.close();
  assert.equal(error?.code, 'E_INVALID_MODULE');
  assert.match(error.message, /Add 'wasm-unsafe-eval' to script-src in the page's/);
});

test('the console stayed empty', () => assert.deepEqual(complaints, []));

/** The README's second program, with the package's entry points at the addresses of the page's server. */
async function readmeProgram() {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const programs = Array.from(readme.matchAll(/^```js\n(.*?)^```$/gms), ([, code]) => code);
  return programs[1]
    .replace("'turncore'", "'/package/turncore.min.js'")
    .replace("'turncore/simulated'", "'/package/simulated.min.js'");
}

function nameOf(line) {
  return JSON.parse(line).event;
}
