// Browsers, each opened for one page.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { launchChromium, PATIENCE } from '../browser/chromium.mjs';
import { importInstalled } from './installed.mjs';
import { startServer } from './processes.mjs';

/** Each launches a browser. @returns functions that open an address, evaluate an expression and close the browser */
export const browsers = {
  async Chromium() {
    const browser = await launchChromium({ optimized: true });
    return onePage(browser);
  },

  /** @param secret whether its windows are private */
  async Firefox({ secret = false } = {}) {
    const { default: puppeteer } = await importInstalled('puppeteer-core');
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
      headless: true,
      timeout: PATIENCE,
      extraPrefsFirefox: {
        'app.update.enabled': false,
        'network.captive-portal-service.enabled': false,
        'network.connectivity-service.enabled': false,
        'browser.privatebrowsing.autostart': secret,
      },
    });
    return onePage(browser);
  },

  async WebKitGTK() {
    const home = await mkdtemp(join(tmpdir(), 'turncore-webkit-'));
    // It chooses a free display, and tells which.
    const screen = await startServer(
      'Xvfb',
      ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'],
      /^(\d+)\n/,
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
    );
    const port = await freePort();
    const driver = await startServer(
      'bash',
      // The driver says nothing when it begins: the loop does.
      [
        '-c',
        `WebKitWebDriver --port=${port} & until (: </dev/tcp/127.0.0.1/${port}); do sleep 0.05; done 2>/dev/null; echo port=${port}; wait`,
      ],
      /^port=(\d+)\n/,
      {
        env: {
          ...process.env,
          DISPLAY: `:${screen.address.split(':').at(-1)}`,
          HOME: home,
          XDG_RUNTIME_DIR: home,
          GDK_BACKEND: 'x11',
          LIBGL_ALWAYS_SOFTWARE: '1',
          NO_AT_BRIDGE: '1',
          WEBKIT_DISABLE_COMPOSITING_MODE: '1',
          WEBKIT_DISABLE_DMABUF_RENDERER: '1',
          WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
        },
      },
    );
    const call = async (method, path, body) => {
      const response = await fetch(`${driver.address}${path}`, {
        method,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const { value } = await response.json();
      if (value?.error !== undefined) throw new Error(`${value.error}: ${value.message}`);
      return value;
    };
    const close = async () => {
      await driver.stop();
      await screen.stop();
      await rm(home, { recursive: true, force: true });
    };
    try {
      const browser =
        process.env.MINIBROWSER ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';
      const { sessionId } = await call('POST', '/session', {
        capabilities: {
          alwaysMatch: { 'webkitgtk:browserOptions': { binary: browser, args: ['--automation'] } },
        },
      });
      const session = `/session/${sessionId}`;
      return {
        open: (url) => call('POST', `${session}/url`, { url }),
        evaluate: (expression) =>
          call('POST', `${session}/execute/sync`, { script: `return (${expression})`, args: [] }),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  },
};

/** The one page of a browser that Playwright or Puppeteer has started. */
async function onePage(browser) {
  const page = await browser.newPage();
  return {
    open: (url) => page.goto(url, { timeout: PATIENCE }),
    evaluate: (expression) => page.evaluate(expression),
    close: () => browser.close(),
  };
}

/**
 * A port that nothing listens on, of those that the system gives to nobody who asks for any. One of the others could be
 * given away before the driver takes it.
 */
async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const listens = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!listens) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
