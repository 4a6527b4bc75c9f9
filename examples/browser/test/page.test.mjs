// The demo page in headless Chromium. Screenshots go to build/demo.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, suite, test } from 'node:test';

import { startDemo } from './start.mjs';
import { DESKTOP, PHONE, startBrowser, stopBrowser, Visit } from './visit.mjs';

before(startBrowser);
after(stopBrowser);

suite('with the simulated model', () => {
  let demo;
  before(async () => (demo = await startDemo({ args: ['--port', '0', '--pause', '15'] })));
  after(() => demo?.stop());

  test('a conversation with a tool call, streamed, with its events', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const { page } = visit;
    assert.match(
      await page.textContent('#module'),
      /module \d\.\d\d MB \(\d\.\d\d MB compressed\), ready in \d+ ms/,
    );

    // Notes how the answer grows.
    await page.evaluate(() => {
      window.lengths = [];
      new MutationObserver(() => {
        const answer = document.querySelector('.by-agent');
        if (answer !== null) window.lengths.push(answer.textContent.length);
      }).observe(document.getElementById('log'), {
        subtree: true,
        childList: true,
        characterData: true,
      });
    });
    // The tool's pause lasts until this test ends it.
    await page.evaluate(() => {
      const soon = globalThis.setTimeout;
      globalThis.setTimeout = (then, ms, ...rest) => {
        if (ms !== 400) return soon(then, ms, ...rest);
        window.goOn = then;
        return 0;
      };
    });
    await visit.say('What is the weather in Oslo?');
    await visit.turn(0).locator('.tool[data-state="running"]').waitFor();
    await visit.shot('running');
    await page.evaluate(() => window.goOn());
    assert.match(await visit.ended(0), /^ack · 2 iterations · \d+ tokens · /);
    await visit.state('ack');

    assert.equal(
      await visit.turn(0).locator('.by-user').textContent(),
      'What is the weather in Oslo?',
    );
    assert.equal(
      await visit.turn(0).locator('.thought p').textContent(),
      'The text mentions get_weather, so I call it.',
    );
    const card = visit.turn(0).locator('.tool');
    assert.equal(await card.locator('.name').textContent(), 'get_weather');
    assert.match(await card.locator('.badge').textContent(), /^done · \d+ ms$/);
    assert.equal(await card.locator('dd').first().textContent(), '{ "city": "Oslo" }');
    const result = await card.locator('dd').last().textContent();
    assert.match(result, /^Oslo: -?\d+ °C, /);
    const answer = `The tool answered: ${result}`;
    assert.equal(await visit.turn(0).locator('.by-agent').textContent(), answer);
    const lengths = new Set(await page.evaluate('window.lengths'));
    assert.ok(lengths.size > 5, `the answer came in ${lengths.size} pieces`);
    assert.equal(await page.textContent('#announcer'), answer);
    assert.equal(await page.textContent('#iteration'), 'iteration 2');

    const names = await page.$$eval('#events li[data-event]', (rows) =>
      rows.map((row) => row.dataset.event),
    );
    const spans = names.filter((name) => !['message', 'thought', 'generationStats'].includes(name));
    assert.deepEqual(spans, [
      'turnStart',
      'dispatchStart',
      'iterationStart',
      'toolCall',
      'toolExecutionStart',
      'toolExecutionEnd',
      'toolCall',
      'iterationEnd',
      'iterationStart',
      'iterationEnd',
      'dispatchEnd',
      'turnEnd',
    ]);
    const seqs = await page.$$eval('#events .seq', (cells) =>
      cells.map((cell) => Number(cell.textContent)),
    );
    assert.deepEqual(
      seqs,
      seqs.map((_, i) => i + 1),
    );
    assert.equal(await page.textContent('#event-count'), String(names.length));
    await visit.leave();
  });

  test('the next turn knows of the last one, and a new chat of none', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const requests = [];
    visit.page.on('request', (request) => {
      if (request.method() === 'POST') requests.push(request.postDataJSON());
    });
    await visit.say('first');
    await visit.ended(0);
    await visit.say('second');
    await visit.ended(1);
    const texts = requests.at(-1).messages.map(({ role, content }) => [role, content.slice(0, 15)]);
    assert.deepEqual(texts.slice(1), [
      ['user', 'first'],
      ['assistant', 'You said: first'],
      ['user', 'second'],
    ]);
    assert.equal(texts[0][0], 'system');
    assert.equal(await visit.page.locator('.turn-head').count(), 2);

    await visit.page.getByRole('button', { name: 'New chat' }).click();
    await visit.state('ready');
    assert.equal(await visit.page.locator('.turn').count(), 0);
    assert.equal(await visit.page.textContent('#event-count'), '0');
    await visit.say('third');
    await visit.ended(0);
    assert.deepEqual(
      requests.at(-1).messages.map(({ role }) => role),
      ['system', 'user'],
    );
    await visit.leave();
  });

  for (const [how, stop] of [
    ['the stop button', (page) => page.getByRole('button', { name: 'Stop' }).click()],
    ['Escape', (page) => page.keyboard.press('Escape')],
  ]) {
    test(`${how} aborts a turn, and the next one runs`, async () => {
      const visit = await Visit.to(demo.address, DESKTOP);
      await visit.say(`Say ${'these many words '.repeat(60)}`);
      await visit.turn(0).locator('.by-agent').waitFor();
      await stop(visit.page);
      assert.match(await visit.ended(0), /^stopped · 1 iteration/);
      await visit.state('aborted');
      const end = visit.page.locator('#events li[data-event="turnEnd"] .payload');
      assert.match(await end.textContent(), /^aborted, /);
      assert.equal(await visit.page.locator('.streaming').count(), 0);
      assert.ok((await visit.turn(0).locator('.by-agent').textContent()).length < 900);
      if (how === 'Escape') await visit.shot('stopped');
      await visit.say('hello');
      assert.match(await visit.ended(1), /^ack · 1 iteration/);
      await visit.leave();
    });
  }

  for (const [button, said] of [
    ['Approve', 'The note groceries is gone.'],
    ['Refuse', 'The visitor refused: the note groceries stays.'],
  ]) {
    test(`a tool asks, and the visitor presses ${button}`, async () => {
      const visit = await Visit.to(demo.address, DESKTOP);
      await visit.page.getByRole('button', { name: 'A tool that asks' }).click();
      const card = visit.turn(0).locator('.tool[data-state="waiting"]');
      await card.waitFor();
      assert.equal(await card.locator('.question p').textContent(), 'Delete the note "groceries"?');
      assert.equal(await visit.events('turnGateOpen'), 1);
      await visit.shot('asking');
      await card.getByRole('button', { name: button }).click();
      assert.match(await visit.ended(0), /^ack · 2 iterations/);
      assert.equal(await visit.turn(0).locator('.tool dd').last().textContent(), said);
      assert.equal(await visit.turn(0).locator('.question').count(), 0);
      assert.equal(await visit.events('turnGateClosed'), 1);
      await visit.leave();
    });
  }

  test('a turn that waits for the visitor can be stopped', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    await visit.say('Delete the note "groceries"');
    await visit.turn(0).locator('.tool[data-state="waiting"]').waitFor();
    await visit.page.keyboard.press('Escape');
    assert.match(await visit.ended(0), /^stopped/);
    assert.equal(await visit.turn(0).locator('.question').count(), 0);
    await visit.leave();
  });

  test('a tool can be stopped too', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    // The tool's pause gets longer than any delay of this test.
    await visit.page.evaluate(() => {
      const soon = globalThis.setTimeout;
      globalThis.setTimeout = (then, ms, ...rest) => soon(then, ms === 400 ? 60_000 : ms, ...rest);
    });
    await visit.say('What is the weather in Oslo?');
    await visit.turn(0).locator('.tool[data-state="running"]').waitFor();
    await visit.page.keyboard.press('Escape');
    assert.match(await visit.ended(0), /^stopped/);
    assert.match(
      await visit.turn(0).locator('.tool').getAttribute('data-state'),
      /^(stopped|error)$/,
    );
    await visit.leave();
  });

  test('a new chat stops what runs', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    await visit.say(`Say ${'these many words '.repeat(60)}`);
    await visit.turn(0).locator('.by-agent').waitFor();
    await visit.page.getByRole('button', { name: 'New chat' }).click();
    await visit.state('ready');
    assert.equal(await visit.page.locator('.turn').count(), 0);
    assert.equal(await visit.events('turnEnd'), 0);
    assert.ok(await visit.page.getByRole('button', { name: 'Send' }).isEnabled());
    await visit.leave();
  });

  test('every tool answers, also what is wrong', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const calls = [
      ['Calculate (17 + 4) * 2.5', 'calculate', 'done', /^52\.5$/],
      ['What time is it in Tokyo?', 'current_time', 'done', /^Asia\/Tokyo: \w+day, .* GMT\+9$/],
      ['A tool that fails', 'calculate', 'error', /division by zero at character 3$/],
    ];
    for (const [i, [label, tool, state, result]] of calls.entries()) {
      await visit.page.getByRole('button', { name: label, exact: true }).click();
      assert.match(await visit.ended(i), /^ack/);
      const card = visit.turn(i).locator('.tool');
      assert.equal(await card.locator('.name').textContent(), tool);
      assert.equal(await card.getAttribute('data-state'), state);
      assert.match(await card.locator('dd').last().textContent(), result);
    }
    await visit.say('What is the current time in "Nowhere"?');
    await visit.ended(3);
    assert.match(
      await visit.turn(3).locator('.tool dd').last().textContent(),
      /no time zone "Nowhere"/,
    );
    await visit.leave();
  });

  test('a model that fails shows the code and what to do', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    await visit.page.getByRole('button', { name: 'A model that fails' }).click();
    assert.match(await visit.ended(0), /^nack/);
    const error = visit.turn(0).getByRole('alert');
    assert.equal(await error.locator('.name').textContent(), 'E_CHAT_HTTP_ERROR');
    assert.match(await error.textContent(), /status 503; the model is overloaded/);
    assert.ok((await error.locator('.help').textContent()).length > 20);
    await visit.state('nack');
    await visit.say('Are you there now?');
    assert.match(await visit.ended(1), /^ack/);
    await visit.leave();
  });

  test('events are filtered by kind and by text, and open', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const { page } = visit;
    await visit.say('What is the weather in Oslo?');
    await visit.ended(0);
    const shown = () => page.locator('#events li[data-event]:visible').count();
    const all = await shown();
    await page.getByRole('button', { name: /^text/ }).click();
    await page.getByRole('button', { name: /^turn \d/ }).click();
    await page.getByRole('button', { name: /^other/ }).click();
    assert.equal(await shown(), 4);
    await page.fill('#search', 'TOOLEXECUTION');
    assert.equal(await shown(), 2);
    await page.locator('#events li[data-event="toolExecutionStart"] summary').click();
    const whole = JSON.parse(await page.locator('#events [open] pre').textContent());
    assert.deepEqual(whole.args, { city: 'Oslo' });
    await visit.shot('filtered');
    await page.fill('#search', '');
    for (const name of [/^text/, /^turn \d/, /^other/])
      await page.getByRole('button', { name }).click();
    assert.equal(await shown(), all);
    await visit.leave();
  });

  test('keys: Shift and Enter break a line, Enter sends, nothing is not sent', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const { page } = visit;
    await page.locator('#text').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await visit.ended(0);
    assert.equal(await visit.turn(0).locator('.by-user').textContent(), 'one\ntwo');
    assert.equal(await page.locator('.turn').count(), 1);
    assert.equal(await page.inputValue('#text'), '');
    await visit.leave();
  });

  test('text is text: markup is not run', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await visit.say(markup);
    await visit.ended(0);
    assert.ok((await visit.turn(0).locator('.by-agent').textContent()).includes(markup));
    assert.equal(await visit.page.locator('.turn img').count(), 0);
    await visit.leave();
  });

  for (const colorScheme of ['light', 'dark']) {
    for (const [size, options] of Object.entries({
      desktop: DESKTOP,
      phone: PHONE,
    })) {
      test(`${size}, ${colorScheme}: everything fits`, async () => {
        const visit = await Visit.to(demo.address, { ...options, colorScheme });
        const { page } = visit;
        await visit.shot(`${size}-${colorScheme}-welcome`);
        await visit.say('What is the weather in Oslo?');
        await visit.ended(0);
        await visit.shot(`${size}-${colorScheme}-answer`);
        await page.getByRole('button', { name: 'A model that fails' }).click();
        await visit.ended(1);
        await visit.shot(`${size}-${colorScheme}-error`);
        if (size === 'phone') {
          assert.ok(await page.locator('#timeline').isHidden());
          await page.getByRole('button', { name: /^Events/ }).click();
          await visit.shot(`${size}-${colorScheme}-events`);
          await page.getByRole('button', { name: 'Close' }).click();
        }
        assert.ok((await page.locator('#timeline').isVisible()) === (size === 'desktop'));
        const overflow = await page.evaluate(() => {
          const root = document.documentElement;
          return [root.scrollWidth - root.clientWidth, root.scrollHeight - root.clientHeight];
        });
        assert.deepEqual(overflow, [0, 0]);
        await visit.leave();
      });
    }
  }
});

suite('with a live model', () => {
  const KEY = 'sk-the-secret-of-this-test';
  let upstream;
  let demo;
  let answer;

  before(async () => {
    upstream = createServer((request, response) => {
      request.resume().once('end', () => answer(response));
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const baseURL = `http://127.0.0.1:${upstream.address().port}/v1`;
    demo = await startDemo({
      env: {
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: baseURL,
        OPENAI_MODEL: 'the-model',
      },
    });
  });
  after(async () => {
    await demo?.stop();
    upstream?.close();
    upstream?.closeAllConnections();
  });

  test('streams through the proxy, and the key never reaches the page', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta, finish = null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      response.write(chunk({ role: 'assistant', content: 'Live ' }));
      response.end(`${chunk({ content: 'words' }) + chunk({}, 'stop')}data: [DONE]\n\n`);
    };
    const visit = await Visit.to(demo.address, DESKTOP);
    const reads = [];
    // The module closes the request once it has read [DONE]: before the body ends, or after. A body that was closed so
    // cannot be read here.
    visit.page.on('response', (response) => {
      const body = response.text().catch(() => '');
      reads.push(body.then((text) => [JSON.stringify(response.headers()), text]));
    });
    visit.page.on('request', (request) => reads.push([JSON.stringify(request.headers())]));
    const closed = new Promise((resolve) => {
      for (const event of ['requestfinished', 'requestfailed']) {
        visit.page.on(event, (request) => {
          if (request.method() === 'POST') resolve(event);
        });
      }
    });
    assert.match(await visit.page.textContent('#model-note'), /^the-model at 127\.0\.0\.1:\d+$/);
    await visit.say('hi');
    assert.match(await visit.ended(0), /^ack/);
    assert.equal(await visit.turn(0).locator('.by-agent').textContent(), 'Live words');
    const how = await closed;
    const seen = (await Promise.all(reads)).flat();
    assert.ok(seen.length >= 3);
    if (how === 'requestfinished') assert.match(seen.join(), /"Live /);
    assert.ok(!seen.join().includes(KEY) && !(await visit.page.content()).includes(KEY));
    await visit.leave();
  });

  for (const [what, code, reply] of [
    [
      'refuses the key',
      'E_CHAT_HTTP_ERROR',
      (response) => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end('{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}');
      },
    ],
    [
      'fails in the middle',
      'E_CHAT_PROVIDER_ERROR',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end('data: {"error":{"message":"out of capacity","code":503}}\n\n');
      },
    ],
    [
      'cuts the answer off',
      'E_CHAT_STREAM_ERROR',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n');
        setTimeout(() => response.destroy(), 50);
      },
    ],
  ]) {
    test(`a model that ${what} ends the turn with ${code}`, async () => {
      answer = reply;
      const visit = await Visit.to(demo.address, DESKTOP);
      visit.expected.push(/^Failed to load resource: the server responded with a status of 401/);
      visit.expected.push(/^Failed to load resource: net::ERR_INCOMPLETE_CHUNKED_ENCODING/);
      await visit.say('hi');
      assert.match(await visit.ended(0), /^nack/);
      assert.equal(await visit.turn(0).locator('.error .name').textContent(), code);
      const part = what === 'cuts the answer off' ? ['Half (broken off)'] : [];
      assert.deepEqual(await visit.turn(0).locator('.by-agent').allTextContents(), part);
      await visit.leave();
    });
  }
});

test('a module that cannot be had is said, with its code', async () => {
  const demo = await startDemo();
  const visit = await Visit.to(demo.address, DESKTOP, {
    until: 'failed',
    prepare: (page) =>
      page.route('**/turncore.wasm', (route) => route.fulfill({ status: 404, body: '' })),
  });
  visit.expected.push(/status of 404/);
  const error = visit.page.getByRole('alert');
  assert.equal(await error.locator('.name').textContent(), 'E_INVALID_MODULE');
  assert.match(await error.textContent(), /HTTP status 404/);
  assert.ok(await visit.page.getByRole('button', { name: 'Send' }).isDisabled());
  await visit.leave();
  await demo.stop();
});
