// llama.cpp in a page of headless Chromium, by way of wllama, with models that are made here.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { randomModel } from '../../../examples/browser/model/tiny-llama.mjs';
import { ANSWER, weatherModel, WORDS } from '../models/weather.mjs';
import { launchChromium } from './chromium.mjs';
import { startPackageServer } from './package-server.mjs';

let browser;
let server;
let page;
const complaints = [];

before(async () => {
  server = await startPackageServer({
    folders: {
      wllama: new URL(
        '../../../examples/browser/node_modules/@wllama/wllama/esm/',
        import.meta.url,
      ),
    },
    files: { '/models/weather.gguf': weatherModel(), '/models/random.gguf': randomModel(7) },
    policy: '; worker-src blob:',
  });
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

test('a scripted model streams a tool call and the answer to its result', async () => {
  const seen = await page.evaluate(async () => {
    const { loadEngine, collect } = await import('/browser/wllama-page.mjs');
    const phases = [];
    const engine = loadEngine('weather', { onProgress: ({ phase }) => phases.push(phase) });
    const user = { role: 'user', content: 'How is the weather in Oslo?' };
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Oslo","days":3}' },
    };
    const tools = [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Weather in a city',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' }, days: { type: 'integer' } },
          },
        },
      },
    ];
    const options = { temperature: 0, max_tokens: 100 };
    const native = await collect(engine, { messages: [user], tools, options });
    const text = await collect(engine, { messages: [user], options });
    const done = await collect(engine, {
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', content: '4 degrees', tool_call_id: 'c1' },
      ],
      tools,
      options,
    });
    await engine.dispose();
    return { native, text, done, phases };
  });
  assert.deepEqual(seen.phases, ['loading', 'ready', 'disposed']);
  assert.deepEqual(seen.native.calls, [
    { name: 'get_weather', arguments: '{"city": "Oslo", "days": 3}' },
  ]);
  assert.equal(seen.native.finish, 'tool_calls');
  assert.ok(seen.native.parts > 4, `${seen.native.parts} parts`);
  assert.equal(
    seen.text.text,
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>',
  );
  assert.equal(seen.done.text, ANSWER);
  assert.equal(seen.done.finish, 'stop');
  assert.ok(seen.done.usage.promptTokens > 50 && seen.done.usage.completionTokens === 7);
});

test('an answer that is stopped ends soon, and the engine answers the next one', async () => {
  const seen = await page.evaluate(async () => {
    const { loadEngine, collect } = await import('/browser/wllama-page.mjs');
    const engine = loadEngine('weather');
    const messages = [{ role: 'user', content: 'a poem' }];
    const options = { temperature: 0, max_tokens: 500 };
    const stopped = await collect(engine, { messages, options }, 5);
    const whole = await collect(engine, { messages, options });
    await engine.dispose();
    return { stopped, whole };
  });
  assert.ok(seen.stopped.parts < 10, `${seen.stopped.parts} parts after a stop at 5`);
  assert.equal(seen.whole.text.split(' ').length - 1, WORDS);
});

test('a grammar makes an answer of random weights', async () => {
  const grammar = 'root ::= "{\\"name\\":\\"" ("sun" | "rain") "\\",\\"days\\":" [1-9] "}"';
  const seen = await page.evaluate(async (given) => {
    const { loadEngine, collect } = await import('/browser/wllama-page.mjs');
    const engine = loadEngine('random');
    const answers = [];
    for (let seed = 1; seed <= 5; seed++) {
      const options = { temperature: 1, seed, max_tokens: 100 };
      const messages = [{ role: 'user', content: 'hi' }];
      answers.push(await collect(engine, { messages, options, grammar: given }));
    }
    await engine.dispose();
    return answers;
  }, grammar);
  for (const { text, finish } of seen) {
    const { name, days } = JSON.parse(text);
    assert.ok(['sun', 'rain'].includes(name) && days >= 1 && days <= 9, text);
    assert.equal(finish, 'stop');
  }
});

for (const tools of ['text', 'native']) {
  test(`a turn with ${tools} tools: the model calls one, and answers when it has the result`, async () => {
    const seen = await page.evaluate(async (kind) => {
      const { loadEngine, weatherTurn } = await import('/browser/wllama-page.mjs');
      const engine = loadEngine('weather', { capabilities: { tools: kind } });
      const turn = await weatherTurn(
        { engine, temperature: 0, max_tokens: 100 },
        'How is the weather in Oslo?',
      );
      await engine.dispose();
      return turn;
    }, tools);
    assert.equal(seen.status, 'ack', JSON.stringify(seen));
    assert.equal(seen.text, ANSWER);
    assert.deepEqual(seen.args, [{ city: 'Oslo', days: 3 }]);
    assert.ok(seen.deltas > 4, `${seen.deltas} deltas`);
  });
}

test('a turn that is aborted stops the model, and the next turn runs', async () => {
  const seen = await page.evaluate(async () => {
    const { loadEngine, weatherTurn } = await import('/browser/wllama-page.mjs');
    const engine = loadEngine('weather');
    const model = { engine, temperature: 0, max_tokens: 500 };
    const stopped = await weatherTurn(model, 'a poem', 5);
    const next = await weatherTurn(model, 'How is the weather in Oslo?');
    await engine.dispose();
    return { stopped, next };
  });
  assert.equal(seen.stopped.status, 'aborted');
  assert.ok(seen.stopped.deltas < 20, `${seen.stopped.deltas} deltas after a stop at 5`);
  assert.equal(seen.next.text, ANSWER);
});

test('random weights under the grammar of the tools call one each time, with valid arguments', async () => {
  const turns = await page.evaluate(async () => {
    const { loadEngine, weatherTurn } = await import('/browser/wllama-page.mjs');
    const engine = loadEngine('random');
    const list = [];
    for (let seed = 1; seed <= 6; seed++) {
      const model = { engine, toolChoice: 'required', temperature: 1, seed, max_tokens: 400 };
      list.push(await weatherTurn(model, `hi ${seed}`, Infinity, 1));
    }
    await engine.dispose();
    return list;
  });
  for (const { calls, args } of turns) {
    assert.ok(calls.length >= 1, 'no call');
    assert.ok(
      calls.every(({ isError }) => !isError),
      JSON.stringify(calls),
    );
    assert.equal(args.length, calls.length);
    for (const { city, days } of args) {
      assert.ok(city.length <= 12 && Number.isInteger(days) && days >= 1 && days <= 9);
    }
  }
});

test('the console stayed empty', () => assert.deepEqual(complaints, []));
