// Debian's Chromium, headless, for tests.
import { access } from 'node:fs/promises';

import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Starts it. Close it in the end. */
export async function launchChromium() {
  await access(executablePath).catch(() => {
    throw new Error(`there is no ${executablePath}: run \`make setup\`, or name one by CHROMIUM`);
  });
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox', // tests run as root in containers
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
