// Models that run in the demo page, in headless Chromium: real llama.cpp on the scripted model, stand-ins of the other
// libraries, and what a device lacks.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';

import { scriptedGGUF } from '../model/scripted.mjs';
import { startDemo } from './start.mjs';
import { DESKTOP, PHONE, startBrowser, stopBrowser, Visit } from './visit.mjs';

before(startBrowser);
after(stopBrowser);

suite('with the scripted model, which llama.cpp runs in the page', () => {
  let demo;
  before(async () => (demo = await startDemo()));
  after(() => demo?.stop());

  const scripted = { model: null };
  const GGUF = '**/models/scripted.gguf';

  test('it is there without a key, and says that it is scripted', async () => {
    const visit = await Visit.to(demo.address, DESKTOP, scripted);
    assert.equal(await visit.page.inputValue('#choice'), 'scripted');
    assert.match(await visit.page.textContent('#model-note'), /^Scripted: real llama\.cpp runs/);
    await visit.say('Who are you?');
    assert.match(await visit.ended(0), /^ack · 1 iteration · \d+ tokens/);
    const answer = await visit.turn(0).locator('.by-agent').textContent();
    assert.match(answer, /^I am scripted: .* To talk freely, choose another model\.$/);
    assert.ok((await visit.events('message')) > 20, 'it streams');
    await visit.leave();
  });

  test('a conversation longer than its context goes on without its oldest part', async () => {
    const visit = await Visit.to(demo.address, DESKTOP, { model: 'scripted&context=12288' });
    for (let i = 0; i < 2; i++) {
      await visit.say(`Remember this: ${'long '.repeat(700)}`);
      assert.match(await visit.ended(i), /^ack/, `turn ${i}`);
    }
    await visit.say('What is the weather in Oslo?');
    assert.match(await visit.ended(2), /^ack · 2 iterations/);
    assert.ok((await visit.events('log')) > 0, 'the budget says what it left out');
    await visit.leave();
  });

  test('each button is answered with its tool', async () => {
    const visit = await Visit.to(demo.address, DESKTOP, scripted);
    const { page } = visit;
    const turns = [
      ['What is the weather in Oslo?', 'get_weather', 'done', /sky of Oslo/],
      ['Calculate (17 + 4) * 2.5', 'calculate', 'done', /^It makes 52\.5\.$/],
      ['What time is it in Tokyo?', 'current_time', 'done', /^Tokyo has the time/],
      ['A tool that fails', 'calculate', 'error', /divide by zero/],
    ];
    for (const [i, [label, tool, state, answer]] of turns.entries()) {
      await page.getByRole('button', { name: label, exact: true }).click();
      assert.match(await visit.ended(i), /^ack · 2 iterations/);
      const card = visit.turn(i).locator('.tool');
      assert.equal(await card.locator('.name').textContent(), tool);
      assert.equal(await card.getAttribute('data-state'), state);
      assert.match(await visit.turn(i).locator('.by-agent').textContent(), answer);
    }
    await visit.shot('scripted');
    await visit.leave();
  });

  for (const [button, said] of [
    ['Approve', 'Done: that note is gone.'],
    ['Refuse', 'As you wish: your note stays.'],
  ]) {
    test(`its tool asks, and the visitor presses ${button}`, async () => {
      const visit = await Visit.to(demo.address, DESKTOP, scripted);
      await visit.page.getByRole('button', { name: 'A tool that asks' }).click();
      await visit.turn(0).getByRole('button', { name: button }).click();
      assert.match(await visit.ended(0), /^ack · 2 iterations/);
      assert.equal(await visit.turn(0).locator('.by-agent').textContent(), said);
      await visit.leave();
    });
  }

  test('a song without end is stopped, and the next turn runs', async () => {
    const visit = await Visit.to(demo.address, DESKTOP, scripted);
    await visit.page.getByRole('button', { name: 'A song to stop' }).click();
    await visit.turn(0).locator('.by-agent').waitFor();
    await visit.page.keyboard.press('Escape');
    assert.match(await visit.ended(0), /^stopped · 1 iteration/);
    await visit.say('hello');
    assert.match(await visit.ended(1), /^ack/);
    await visit.leave();
  });

  test('another model goes on with the conversation, and the way back is open', async () => {
    const visit = await Visit.to(demo.address, DESKTOP, scripted);
    const { page } = visit;
    await page.getByRole('button', { name: 'A song to stop' }).click();
    await visit.turn(0).locator('.by-agent').waitFor();
    await page.selectOption('#choice', 'server');
    assert.match(await visit.ended(0), /^stopped/);
    await visit.state('ready');
    assert.equal(new URL(page.url()).search, '?model=server');
    await visit.say('hello');
    await visit.ended(1);
    assert.match(await visit.turn(1).locator('.by-agent').textContent(), /^You said: hello/);
    await page.selectOption('#choice', 'scripted');
    await visit.state('ready');
    await visit.say('hello');
    await visit.ended(2);
    assert.match(await visit.turn(2).locator('.by-agent').textContent(), /^I am scripted/);
    await visit.leave();
  });

  test('an address that names no model begins with the first', async () => {
    const visit = await Visit.to(demo.address, DESKTOP, { model: 'nothing' });
    assert.equal(await visit.page.inputValue('#choice'), 'scripted');
    await visit.leave();
  });

  test('loading is shown and can be cancelled, then begun again', async () => {
    let arrived;
    const asked = new Promise((resolve) => (arrived = resolve));
    const visit = await Visit.to(demo.address, DESKTOP, {
      model: 'scripted',
      until: 'loading',
      prepare: (page) => page.route(GGUF, () => arrived()), // no answer comes
    });
    const { page } = visit;
    await asked;
    assert.ok(await page.locator('#progress').isVisible());
    assert.ok(await page.getByRole('button', { name: 'Send' }).isDisabled());
    await visit.shot('loading');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await visit.state('no model');
    assert.ok(await page.locator('#loading').isHidden());
    await page.unroute(GGUF);
    await page.getByRole('button', { name: 'Load' }).click();
    await visit.state('ready');
    await visit.say('hello');
    assert.match(await visit.ended(0), /^ack/);
    await visit.leave();
  });

  for (const path of ['/models/scripted.gguf', '/libraries/wllama/wasm/wllama.wasm']) {
    test(`${path}, when it does not come, is an error with a way on`, async () => {
      const visit = await Visit.to(demo.address, DESKTOP, {
        model: 'scripted',
        until: 'failed',
        prepare: (page) => page.route(`**${path}`, (route) => route.fulfill({ status: 500 })),
      });
      const { page } = visit;
      visit.expected.push(/status of 500/);
      const error = page.getByRole('alert');
      assert.equal(
        await error.textContent(),
        `Loading failed: the server answers ${path} with 500`,
      );
      await visit.shot('load-failed');
      await page.unroute(`**${path}`);
      await page.getByRole('button', { name: 'Try again' }).click();
      await visit.state('ready');
      assert.ok(await page.locator('#model-error').isHidden());
      await visit.leave();
    });
  }

  test('on a phone everything fits', async () => {
    const visit = await Visit.to(demo.address, PHONE, scripted);
    await visit.say('What is the weather in Oslo?');
    await visit.ended(0);
    await visit.shot('scripted-phone');
    const overflow = await visit.page.evaluate(() => {
      const root = document.documentElement;
      return [root.scrollWidth - root.clientWidth, root.scrollHeight - root.clientHeight];
    });
    assert.deepEqual(overflow, [0, 0]);
    await visit.leave();
  });
});

const standIn = (name) => readFile(new URL(`stand-ins/${name}.js`, import.meta.url), 'utf8');

/** The libraries that have a stand-in, and the file of theirs that it replaces. */
const LIBRARIES = {
  webllm: ['web-llm', '/libraries/web-llm/index.js'],
  transformers: ['transformers', '/libraries/transformers/transformers.min.js'],
  'prompt-api': ['prompt-api'],
};

/** Puts a stand-in into the page, and a graphics card. */
async function prepare(page, model) {
  const [name, path] = LIBRARIES[model];
  await page.addInitScript(await standIn('answers'));
  const content = await standIn(name);
  if (path === undefined) await page.addInitScript(content);
  else {
    await page.route(`**${path}`, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: content }),
    );
  }
}

for (const model of Object.keys(LIBRARIES)) {
  suite(`with a stand-in: ${model}`, () => {
    let demo;
    before(async () => (demo = await startDemo()));
    after(() => demo?.stop());

    test('is downloaded when the visitor wants it, can be cancelled, and runs a tool turn', async () => {
      const visit = await Visit.to(demo.address, DESKTOP, {
        model,
        until: 'no model',
        prepare: (page) => prepare(page, model),
      });
      const { page } = visit;
      const download = page.getByRole('button', { name: /^Download/ });
      await download.click();
      await page.getByText(/^25 %/).waitFor();
      assert.equal(await page.getAttribute('#progress', 'value'), '0.25');
      await visit.shot(`download-${model}`);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await visit.state('no model');
      assert.equal(await page.evaluate('standIn.cancelled'), 1);
      await page.getByRole('button', { name: 'Load' }).click();
      await download.click();
      await page.evaluate('standIn.release()');
      await visit.state('ready');

      await page.getByRole('button', { name: 'What is the weather in Oslo?' }).click();
      assert.match(await visit.ended(0), /^ack · 2 iterations/);
      assert.equal(
        await visit.turn(0).locator('.tool dd').first().textContent(),
        '{ "city": "Oslo" }',
      );
      assert.equal(
        await visit.turn(0).locator('.thought p').first().textContent(),
        'I need the tool.',
      );
      assert.equal(await visit.turn(0).locator('.by-agent').textContent(), 'It is fine in Oslo.');
      await visit.leave();
    });

    test('is stopped, and the next turn runs', async () => {
      const visit = await Visit.to(demo.address, DESKTOP, {
        model,
        prepare: async (page) => {
          await prepare(page, model);
          await page.addInitScript('standIn.stored = true; standIn.release();');
        },
      });
      await visit.say('Sing!');
      await visit.turn(0).locator('.by-agent').waitFor();
      await visit.page.keyboard.press('Escape');
      assert.match(await visit.ended(0), /^stopped · 1 iteration/);
      await visit.say('hello');
      assert.match(await visit.ended(1), /^ack/);
      assert.equal(await visit.turn(1).locator('.by-agent').textContent(), 'You said: hello');
      await visit.leave();
    });
  });
}

suite('with wllama on a model from the hub', () => {
  let demo;
  before(async () => (demo = await startDemo()));
  after(() => demo?.stop());

  /** Answers for the hub, with the scripted model. */
  async function hub(page, answer) {
    await page.route('https://huggingface.co/**', (route) => {
      const body = Buffer.from(scriptedGGUF());
      const headers = {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': '*',
        'content-length': String(body.length),
      };
      if (route.request().method() === 'HEAD') return route.fulfill({ headers });
      return answer(route, { headers, body });
    });
  }
  const fromHub = { model: 'wllama', allowed: 'https://huggingface.co/Qwen/' };

  test('it is downloaded, runs a tool turn, and is there the next time', async () => {
    const visit = await Visit.to(demo.address, DESKTOP, {
      ...fromHub,
      until: 'no model',
      prepare: (page) => hub(page, (route, file) => route.fulfill(file)),
    });
    const { page } = visit;
    await page.getByRole('button', { name: 'Download 640 MB' }).click();
    await visit.state('ready');
    await page.getByRole('button', { name: 'What is the weather in Oslo?' }).click();
    assert.match(await visit.ended(0), /^ack · 2 iterations/);
    assert.match(await visit.turn(0).locator('.by-agent').textContent(), /sky of Oslo/);
    await page.unroute('https://huggingface.co/**');
    await page.route('https://huggingface.co/**', (route) => route.abort());
    await page.reload();
    await visit.state('ready');
    await visit.say('hello');
    assert.match(await visit.ended(1), /^ack/);
    await visit.leave();
  });

  test('its download can be cancelled', async () => {
    let asked;
    const begun = new Promise((resolve) => (asked = resolve));
    let answers = false;
    const visit = await Visit.to(demo.address, DESKTOP, {
      ...fromHub,
      until: 'no model',
      prepare: (page) => hub(page, (route, file) => (answers ? route.fulfill(file) : asked())),
    });
    const { page } = visit;
    await page.getByRole('button', { name: /^Download/ }).click();
    await begun;
    await page.getByRole('button', { name: 'Cancel' }).click();
    await visit.state('no model');
    answers = true;
    await page.getByRole('button', { name: 'Load' }).click();
    await page.getByRole('button', { name: /^Download/ }).click();
    await visit.state('ready');
    await visit.leave();
  });
});

suite('a device that lacks something', () => {
  let demo;
  before(async () => (demo = await startDemo()));
  after(() => demo?.stop());

  const lacks = {
    'WebGPU, for WebLLM': [
      'webllm',
      "Object.defineProperty(navigator, 'gpu', { value: undefined })",
      'this browser has no WebGPU',
    ],
    'the features, for transformers.js': [
      'transformers',
      `Object.defineProperty(navigator, 'gpu', {
        value: { requestAdapter: async () => ({ features: new Set() }) },
      })`,
      'the graphics adapter lacks shader-f16',
    ],
    'the Prompt API': [
      'prompt-api',
      'delete globalThis.LanguageModel',
      'this browser has no Prompt API (LanguageModel)',
    ],
    'a model behind the Prompt API': [
      'prompt-api',
      "globalThis.LanguageModel = { availability: async () => 'unavailable' }",
      "the browser's own model is unavailable",
    ],
    memory: [
      'wllama',
      "Object.defineProperty(navigator, 'deviceMemory', { value: 1 })",
      'the model needs 2.0 GB of memory, the device has 1.1 GB',
    ],
    storage: [
      'wllama',
      'navigator.storage.estimate = async () => ({ quota: 1e9, usage: 900e6 })',
      'the model needs 640 MB of storage, the browser leaves 100 MB',
    ],
  };
  for (const [what, [model, script, missing]] of Object.entries(lacks)) {
    test(`${what}: the page says so, and another model still answers`, async () => {
      const visit = await Visit.to(demo.address, PHONE, {
        model,
        until: 'failed',
        prepare: (page) => page.addInitScript(script),
      });
      const { page } = visit;
      assert.equal(
        await page.getByRole('alert').textContent(),
        `This device cannot run the model: ${missing}. Choose another model.`,
      );
      await visit.shot(`lacks-${model}`);
      await page.selectOption('#choice', 'server');
      await visit.state('ready');
      await visit.leave();
    });
  }
});
