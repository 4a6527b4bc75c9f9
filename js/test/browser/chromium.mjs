// Debian's Chromium, headless, for tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Milliseconds for a browser to start: the first time, files from a cold disk can take a minute. */
export const PATIENCE = 180_000;

/** Milliseconds that a page may take to show something: a model in it shares the machine with other tests. */
export const WAIT = 60_000;

const args = [
  '--no-sandbox', // tests run as root in containers
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** V8 does not optimize modules, which costs short programs more than it gives. */
const plainly = '--js-flags=--liftoff-only';

async function check() {
  await access(executablePath).catch(() => {
    throw new Error(`there is no ${executablePath}: run \`make setup\`, or name one by CHROMIUM`);
  });
}

/**
 * Starts it. Close it in the end.
 *
 * @param options `optimized` for a browser that optimizes modules, as those of users do
 */
export async function launchChromium({ optimized = false } = {}) {
  await check();
  const given = optimized ? args : [...args, plainly];
  return chromium.launch({ executablePath, args: given, timeout: PATIENCE });
}

/**
 * Starts one with a profile that stays, whose processes can be killed.
 *
 * @param profile a folder
 * @returns its pages' context, a session of its protocol, and what kills it or its pages' processes, as by kill -9
 */
export async function startChromium(profile) {
  await check();
  const process = spawn(
    executablePath,
    [...args, plainly, '--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exit = once(process, 'exit');
  let address;
  for await (const line of createInterface({ input: process.stderr })) {
    address = /^DevTools listening on (\S+)/.exec(line)?.[1];
    if (address !== undefined) break;
  }
  process.stderr.resume();
  // One that recovers a profile while the machine is busy may leave the first connection unanswered.
  const browser = await chromium
    .connectOverCDP(address, { timeout: 10_000 })
    .catch(() => chromium.connectOverCDP(address));
  const protocol = await browser.newBrowserCDPSession();
  const kill = async () => {
    process.kill('SIGKILL');
    await exit;
  };
  return {
    context: browser.contexts()[0],
    protocol,
    kill,
    async killPages() {
      const pages = async () => {
        const { processInfo } = await protocol.send('SystemInfo.getProcessInfo');
        return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
      };
      const all = await pages();
      for (const id of all) globalThis.process.kill(id, 'SIGKILL');
      // Otherwise a new page may get one of them.
      while ((await pages()).some((id) => all.includes(id))) await setTimeout(5);
    },
    async close() {
      await protocol.send('Browser.close').catch(kill);
      await exit;
    },
  };
}
