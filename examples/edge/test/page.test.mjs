// The page of the example in headless Chromium, with the Worker that `npm start` runs. Screenshots go to build/demo.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launchChromium, WAIT } from '../../../js/test/browser/chromium.mjs';
import { npmStart, start } from './start.mjs';

const shots = fileURLToPath(new URL('../../../build/demo/', import.meta.url));

let browser;
let server;

before(async () => {
  await mkdir(shots, { recursive: true });
  server = await start(npmStart, { PAUSE_MS: '30' });
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Does something in a fresh page, which must not complain. */
async function visit(act) {
  const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  page.setDefaultTimeout(WAIT);
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const say = async (text) => {
    await page.fill('#message', text);
    await page.click('text=Send');
  };
  /** Waits until no turn runs. */
  const ended = () => page.waitForFunction(() => document.getElementById('stop').disabled);
  try {
    await page.goto(server.address);
    await act(page, say, ended);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
  }
}

test('an answer streams, and the next turn follows', () =>
  visit(async (page, say, ended) => {
    await page.evaluate(() => {
      window.lengths = new Set();
      new MutationObserver(() => {
        const answer = document.querySelector('.agent');
        if (answer !== null) window.lengths.add(answer.textContent.length);
      }).observe(document.getElementById('log'), { subtree: true, childList: true });
    });
    await say('one two three four five six');
    await page.waitForSelector('.agent');
    await ended();
    assert.match(await page.textContent('.agent'), /one two three four five six/);
    const pieces = await page.evaluate(() => window.lengths.size);
    assert.ok(pieces > 3, `the answer came in ${pieces} pieces`);
    await say('How is the weather in Oslo?');
    await page.waitForSelector('.tool');
    await ended();
    assert.equal(await page.textContent('.tool'), 'get_weather: 4 degrees in Oslo');
  }));

for (const [button, outcome] of [
  ['Approve', /Grace has the money/],
  ['Refuse', /the visitor refused/],
]) {
  test(`a tool asks, and the visitor presses ${button}`, () =>
    visit(async (page, say, ended) => {
      await say('Please transfer money to Grace.');
      await page.waitForSelector('.gate button');
      assert.match(await page.textContent('.gate'), /Transfer money to Grace\?/);
      await page.screenshot({ path: `${shots}edge-asking.png` });
      await page.getByRole('button', { name: button }).click();
      await ended();
      assert.match(await page.locator('.agent').last().textContent(), outcome);
      assert.equal(await page.locator('.gate button').count(), 0);
      await page.screenshot({ path: `${shots}edge-${button.toLowerCase()}.png` });
    }));
}

test('Stop ends a turn, and the next one runs', () =>
  visit(async (page, say, ended) => {
    const text = 'word '.repeat(200);
    await say(text);
    await page.waitForSelector('.agent');
    await page.click('#stop');
    await ended();
    const { length } = await page.textContent('.agent');
    assert.ok(length < text.length / 2, `${length} characters`);
    await say('hello');
    await page.locator('.agent').nth(1).waitFor();
    await ended();
    assert.match(await page.locator('.agent').nth(1).textContent(), /hello/);
  }));
