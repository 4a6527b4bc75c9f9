// Conversations in IndexedDB in two tabs, when the tab or the browser is killed, and when the browser takes space or
// data away.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { startChromium } from '../browser/chromium.mjs';
import { servePage } from './page.mjs';

/** How often the tab is killed; each fifth time the browser is. */
const KILLS = 20;
/** How many lines a conversation says. */
const LINES = 27;

/** The generator mulberry32: each call returns a number from 0 up to 1. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('a conversation in IndexedDB', { timeout: 150_000 }, () => {
  let server;
  let profile;
  let browser;
  before(async () => {
    const page = '<!doctype html><link rel="icon" href="data:,"><title>stores</title>';
    server = await servePage({
      '/page/kill.html': `${page}<script type="module" src="killed.mjs"></script>`,
      '/page/killed.mjs': await readFile(new URL('killed-page.mjs', import.meta.url)),
    });
    profile = await mkdtemp(join(tmpdir(), 'turncore-profile-'));
    browser = await startChromium(profile);
  });
  after(async () => {
    await browser.close();
    server.stop();
    await rm(profile, { recursive: true, force: true });
  });

  const open = async (name, tries = 5) => {
    try {
      const page = await browser.context.newPage();
      await page.goto(`${server.address}/page/${name}.html`);
      return page;
    } catch (error) {
      // The browser may start a page in a process that is being killed.
      if (tries === 1 || !/crashed/.test(error.message)) throw error;
      return open(name, tries - 1);
    }
  };

  it(`is there in whole iterations, and goes on, when the tab is killed: ${KILLS} times`, async () => {
    const next = random(1);
    let page = await open('kill');
    for (let n = 0; n < KILLS; n++) {
      const [line, delay] = [1 + Math.floor(next() * LINES), next() * 3];
      const session = `killed ${n}`;
      const lines = [];
      const here = page;
      const reached = new Promise((resolve, reject) => {
        here.on('console', (message) => {
          lines.push(message.text());
          if (message.text().startsWith('failed')) reject(new Error(message.text()));
          else if (lines.length === line || message.text() === 'ended') resolve();
        });
      });
      const crash = once(here, 'crash', { signal: AbortSignal.timeout(30_000) });
      crash.catch(() => undefined); // where the browser is killed
      here.evaluate((id) => globalThis.runUntilKilled(id), session).catch(() => undefined);
      await reached;
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (n % 5 === 4) {
        await browser.kill();
        browser = await startChromium(profile);
      } else {
        await browser.killPages();
        await crash;
      }
      page = await open('kill');
      const committed = lines.filter((each) => each === 'commit done').length;
      const wrong = await page.evaluate(
        ([id, count]) => globalThis.survived(id, count),
        [session, committed],
      );
      assert.equal(wrong, undefined, `kill ${n} after line ${line}: ${wrong}`);
    }
    await page.close();
  });

  it('of two tabs keeps what both add, each once', async () => {
    const pages = [await open('index'), await open('index')];
    const add = ([name, from, to]) => globalThis.calls.add(name, from, to);
    // The second tab also makes commits of the first again.
    await Promise.all([
      pages[0].evaluate(add, ['tabs', 0, 40]),
      pages[1].evaluate(add, ['tabs', 20, 60]),
    ]);
    const there = await pages[0].evaluate((name) => globalThis.calls.look(name), 'tabs');
    const ids = there.map((each) => Number.parseInt(each, 10)).sort((a, b) => a - b);
    assert.deepEqual(
      ids,
      Array.from({ length: 60 }, (_, n) => n),
    );
    for (const page of pages) await page.close();
  });

  it('of two tabs that change one record keeps that of the first', async () => {
    const pages = [await open('index'), await open('index')];
    const revision = await pages[0].evaluate(() => globalThis.calls.begin('shared'));
    const change = ([revision, text]) => globalThis.calls.change('shared', revision, text);
    const results = await Promise.all(
      pages.map((page, n) => page.evaluate(change, [revision, `tab ${n}`])),
    );
    assert.deepEqual(results.toSorted(), ['E_SESSION_CONFLICT', 'stored']);
    const won = `tab ${results.indexOf('stored')}`;
    const there = await pages[0].evaluate(() => globalThis.calls.look('shared'));
    assert.deepEqual(there, [`shared=${won}`, `${won}=text`]);
    for (const page of pages) await page.close();
  });

  it('is told where the browser gives no more space, and loses nothing', async () => {
    const page = await open('index');
    const protocol = await browser.context.newCDPSession(page);
    const origin = server.address;
    const put = (id, size, opfs) =>
      page.evaluate(
        ([id, size, opfs]) => globalThis.calls.put('full', id, size, opfs),
        [id, size, opfs],
      );
    assert.equal(await put('x', 1e6, true), 'stored');
    await protocol.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1e6 });
    // Of a database Chromium checks the quota late, and not always.
    const text = await put('x', 30e6, true);
    assert.match(text, /^E_STORE_FAILED .*session "s": .*no more space QuotaExceededError$/);
    await page.evaluate(() => globalThis.calls.read('full', 'x', 1e6));
    await protocol.send('Storage.overrideQuotaForOrigin', { origin });
    for (const opfs of [true, false]) assert.equal(await put('y', 3e6, opfs), 'stored');
    await page.evaluate(() => globalThis.calls.read('full', 'x', 1e6));
    await page.close();
  });

  it('begins anew where the browser takes its data away', async () => {
    const page = await open('index');
    const protocol = await browser.context.newCDPSession(page);
    const clear = () =>
      protocol.send('Storage.clearDataForOrigin', {
        origin: server.address,
        storageTypes: 'all',
      });
    const call = (name, ...args) =>
      page.evaluate(([name, args]) => globalThis.calls[name](...args), [name, args]);
    const wait = (least) =>
      page.waitForFunction((least) => globalThis.calls.calls() >= least, least);
    await call('write', 'cleared', 60_000);
    await wait(3);
    assert.deepEqual(await call('end'), []);
    await clear();
    assert.deepEqual(await call('again'), { left: '', there: 'again' });

    // While it writes: Chromium may then open no database for the page until it is loaded again.
    await call('write', 'cleared', 500);
    await wait(3);
    await clear();
    await wait((await call('calls')) + 5);
    for (const each of await call('end')) assert.match(each, /^E_STORE_FAILED .*session "s": /);
    await page.reload();
    const { left, there } = await call('again', 'cleared');
    assert.ok(!left.split(' ').includes('0'), 'what was there before is gone');
    assert.equal(there, `${left} again`.trim());
    await page.close();
  });
});
