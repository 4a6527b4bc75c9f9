// The demo page as a visitor sees it. Screenshots go to build/demo.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { launchChromium, WAIT } from '../../../js/test/browser/chromium.mjs';

const shots = fileURLToPath(new URL('../../../build/demo/', import.meta.url));

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

let browser;

/** Starts the browser of all visits of a test file. */
export async function startBrowser() {
  await mkdir(shots, { recursive: true });
  browser = await launchChromium();
}

/** Ends it. */
export async function stopBrowser() {
  await browser?.close();
}

/** The page as a visitor sees it, and everything it complained about. */
export class Visit {
  /** Requests that left for anything but the demo's server and what is allowed. */
  strayRequests = [];
  /** Errors and warnings of the console, uncaught errors, violations of the policy. */
  complaints = [];
  /** Failed requests that the browser logs by itself and that a test expects. */
  expected = [];

  /**
   * Opens the page.
   *
   * @param path of the page
   * @param model that the address names, null for none
   * @param until the state to wait for
   * @param prepare gets the page before it is opened
   * @param allowed begins the addresses elsewhere that the page may ask
   * @param offline whether the page may have its service worker, whose requests no test can answer
   */
  static async to(
    address,
    options,
    {
      path = '',
      model = 'server',
      until = 'ready',
      prepare,
      allowed = address,
      offline = false,
    } = {},
  ) {
    const visit = new Visit();
    visit.context = await browser.newContext({
      ...options,
      serviceWorkers: offline ? 'allow' : 'block',
    });
    if (!offline) visit.expected.push(/^Service Worker registration blocked/);
    visit.page = await visit.context.newPage();
    visit.page.setDefaultTimeout(WAIT);
    visit.page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) visit.complaints.push(message.text());
    });
    visit.page.on('pageerror', (error) => visit.complaints.push(String(error)));
    visit.page.on('request', (request) => {
      const url = request.url().replace(/^blob:/, ''); // made by the page itself
      if (!url.startsWith(`${address}/`) && !url.startsWith(allowed)) visit.strayRequests.push(url);
    });
    await visit.page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    await prepare?.(visit.page);
    await visit.page.goto(`${address}/${path}${model === null ? '' : `?model=${model}`}`);
    await visit.state(until);
    return visit;
  }

  state(name) {
    return this.page.locator(`#state[data-state="${name}"]`).waitFor();
  }

  async say(text) {
    await this.page.fill('#text', text);
    await this.page.press('#text', 'Enter');
  }

  /** The nth turn, from 0. */
  turn(n) {
    return this.page.locator('.turn').nth(n);
  }

  /** Waits for the end of the nth turn. @returns its last line */
  async ended(n) {
    return this.turn(n).locator('.facts').textContent();
  }

  async events(name) {
    return this.page.locator(`#events li[data-event="${name}"]`).count();
  }

  async shot(name) {
    await this.page.screenshot({ path: `${shots}${name}.png` });
  }

  async leave() {
    await this.context.close();
    const complaints = this.complaints.filter((text) => !this.expected.some((e) => e.test(text)));
    assert.deepEqual(complaints, []);
    assert.deepEqual(this.strayRequests, []);
  }
}
