// Conversations in IndexedDB when the tab or the browser is killed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { startChromium } from '../browser/chromium.mjs';
import { startPackageServer } from '../browser/package-server.mjs';

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

describe('a conversation in IndexedDB', () => {
  let server;
  let profile;
  let browser;
  before(async () => {
    const page = '<!doctype html><link rel="icon" href="data:,"><title>stores</title>';
    server = await startPackageServer({
      files: {
        '/page/index.html': `${page}<script type="module" src="killed.mjs"></script>`,
        '/page/killed.mjs': await readFile(new URL('killed-page.mjs', import.meta.url)),
      },
    });
    profile = await mkdtemp(join(tmpdir(), 'turncore-profile-'));
    browser = await startChromium(profile);
  });
  after(async () => {
    await browser.close();
    server.stop();
    await rm(profile, { recursive: true, force: true });
  });

  const open = async (tries = 5) => {
    try {
      const page = await browser.context.newPage();
      await page.goto(`${server.address}/page/index.html`);
      return page;
    } catch (error) {
      // The browser may start a page in a process that is being killed.
      if (tries === 1 || !/crashed/.test(error.message)) throw error;
      return open(tries - 1);
    }
  };

  it(`is there in whole iterations, and goes on, when the tab is killed: ${KILLS} times`, async () => {
    const next = random(1);
    let page = await open();
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
      page = await open();
      const committed = lines.filter((each) => each === 'commit done').length;
      const wrong = await page.evaluate(
        ([id, count]) => globalThis.survived(id, count),
        [session, committed],
      );
      assert.equal(wrong, undefined, `kill ${n} after line ${line}: ${wrong}`);
    }
    await page.close();
  });
});
