// Every recorded conversation leaves the same log in a page of Chromium as the command does in Node, and asks for what
// was recorded.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';

import { launchChromium } from '../../js/test/browser/chromium.mjs';
import { startPackageServer } from '../../js/test/browser/package-server.mjs';
import { dist } from '../../js/test/smoke/package-folder.mjs';
import { recordings, reproducible, turncore } from './engines.mjs';

const { Answers, calledTools } = await import(new URL('recording/answers.js', dist));
const { conversationOf } = await import(new URL('recording/conversation.js', dist));
const { chatOptionsOf } = await import(new URL('recording/options.js', dist));
const { threadOf } = await import(new URL('recording/thread.js', dist));
const { RecordingServer } = await import(new URL('recording/server.js', dist));
const { readRecording } = await import(new URL('recording/recording.js', dist));

const SEED = 1; // that of `reproducible`

let browser;
let server;
before(async () => {
  browser = await launchChromium();
  server = await startPackageServer({
    folders: { recordings: new URL('./', import.meta.url) },
  });
});
after(async () => {
  await browser?.close();
  server?.stop();
});

for (const { name, path, content } of recordings()) {
  test(`${name} in a page leaves the log of Node`, async () => {
    const recording = threadOf(readRecording(content));
    const conversation = conversationOf(recording);
    const options = chatOptionsOf(conversation, recording);
    const provider = await startProvider(recording);
    try {
      const page = await browser.newPage({ bypassCSP: true });
      const problems = [];
      page.on('pageerror', (error) => problems.push(error.message));
      await page.goto(`${server.address}/`);
      const log = await page.evaluate(inPage, [
        JSON.stringify({ conversation, options, called: calledTools(recording) }),
        provider.address,
        SEED,
      ]);
      await page.close();
      assert.deepEqual(problems, []);
      const args = ['--recording', path, '--json', ...reproducible];
      const { stdout } = await turncore('node', 'run', args);
      const [lines, others] = [log.split('\n'), stdout.split('\n')];
      lines.forEach((line, i) => assert.equal(line, others[i], `line ${i + 1} of the log`));
      assert.equal(lines.length, others.length);
      const wrong = provider.recorded.differences.filter(({ why }) => why === '');
      assert.deepEqual(wrong, []);
      assert.equal(provider.recorded.requests, recording.interactions.length);
    } finally {
      provider.stop();
    }
  });
}

async function inPage([what, provider, seed]) {
  const { play } = await import('/recordings/page.mjs');
  return play(JSON.parse(what), provider, seed);
}

/** Plays the provider, and answers the tool calls, for pages of another origin. */
async function startProvider(recording) {
  const recorded = new RecordingServer(recording, SEED);
  const answers = new Answers(recording);
  let asked = 0; // the requests before the answers that were asked for last
  let said = []; // behind them
  const http = createServer(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') {
      response.end();
    } else if (request.url === '/answer') {
      const { name, args } = JSON.parse(await text(request));
      const n = recorded.requests;
      const result = answers.take(n, name, args) ?? null;
      if (asked !== n) said = answers.said(n);
      asked = n;
      response.end(JSON.stringify({ result, last: n >= recording.interactions.length, said }));
    } else recorded.handler(request, response);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    address: `http://127.0.0.1:${http.address().port}`,
    recorded,
    stop() {
      http.closeAllConnections();
      http.close();
    },
  };
}
