// The demo's server, without a browser.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { after, before, suite, test } from 'node:test';

import { startDemo } from './start.mjs';

const CHAT = '/v1/chat/completions';

suite('with the simulated model', () => {
  let demo;
  before(async () => (demo = await startDemo({ args: ['--port', '0', '--pause', '0'] })));
  after(() => demo.stop());

  test('serves the page under a policy that allows no inline script', async () => {
    const response = await fetch(`${demo.address}/`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type'), /^text\/html/);
    const policy = response.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval'(;|$)/);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'/);
    assert.doesNotMatch(await response.text(), /<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/i);
  });

  test('serves the module as application/wasm, compressed, and not again when it is known', async () => {
    const url = `${demo.address}/turncore/turncore.wasm`;
    const response = await fetch(url, { headers: { 'accept-encoding': 'br' } });
    assert.equal(response.headers.get('content-type'), 'application/wasm');
    assert.equal(response.headers.get('content-encoding'), 'br');
    const bytes = new Uint8Array(await response.arrayBuffer());
    assert.deepEqual([...bytes.subarray(0, 4)], [0x00, 0x61, 0x73, 0x6d]);
    const etag = response.headers.get('etag');
    const again = await fetch(url, {
      headers: { 'accept-encoding': 'br', 'if-none-match': etag },
    });
    assert.equal(again.status, 304);
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal((await plain.arrayBuffer()).byteLength, bytes.length);
  });

  const hidden = [
    '/../server.mjs',
    '/%2e%2e/server.mjs',
    '/..%2fserver.mjs',
    '/turncore/..%2f..%2fpackage.json',
    '/turncore/index.d.ts',
    '/%00',
    '/%ff',
    '/nothing.js',
  ];
  for (const path of hidden) {
    test(`has no ${path}`, async () => {
      const { status } = await send(demo.address, { path });
      assert.equal(status, 404);
    });
  }

  test('answers only POST on the chat path, and nothing else takes POST', async () => {
    for (const [method, path, allow] of [
      ['GET', CHAT, 'POST'],
      ['PUT', CHAT, 'POST'],
      ['POST', '/', 'GET, HEAD'],
      ['POST', '/v1/models', 'GET, HEAD'],
    ]) {
      const { status, headers } = await send(demo.address, { method, path });
      assert.deepEqual([status, headers.allow], [405, allow], `${method} ${path}`);
    }
  });

  test('refuses requests of other pages and under other names', async () => {
    const { host, port } = new URL(demo.address);
    const from = (headers) => send(demo.address, { method: 'POST', path: CHAT, headers });
    assert.equal((await from({ origin: 'https://example.org' })).status, 403);
    assert.equal((await from({ origin: 'null' })).status, 403);
    assert.equal((await from({ host: `example.org:${port}` })).status, 403);
    assert.equal((await from({ host: 'localhost:1' })).status, 403);
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] });
    const own = await send(demo.address, {
      method: 'POST',
      path: CHAT,
      headers: { origin: `http://${host}` },
      body,
    });
    assert.equal(own.status, 200);
    assert.match(own.body, /You said: hi/);
  });

  test('stops on Ctrl+C', async () => {
    const other = await startDemo();
    assert.equal(await other.stop(), 0);
  });
});

suite('with a live model', () => {
  const KEY = 'sk-the-secret-of-this-test';
  const seen = [];
  let answer;
  let upstream;
  let demo;

  before(async () => {
    upstream = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      seen.push({ url: request.url, headers: request.headers, body: JSON.parse(body) });
      answer(response, request);
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    demo = await startDemo({
      env: {
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: `http://127.0.0.1:${upstream.address().port}/api/v1/`,
        OPENAI_MODEL: 'the-model',
      },
    });
  });
  after(async () => {
    await demo.stop();
    upstream.close();
    upstream.closeAllConnections();
  });

  const chat = (body, options = {}) =>
    fetch(`${demo.address}${CHAT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...options,
    });

  test('adds the key and the model, and streams the answer as it comes', async () => {
    let finish;
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-internal': 'secret' });
      response.write('data: 1\n\n');
      finish = () => response.end('data: 2\n\n');
    };
    const response = await chat({ model: 'another', stream: true, messages: [] });
    const { url, headers, body } = seen.at(-1);
    assert.equal(url, `/api/v1/chat/completions`);
    assert.equal(headers.authorization, `Bearer ${KEY}`);
    assert.deepEqual(body, { model: 'the-model', stream: true, messages: [] });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    assert.equal(response.headers.get('x-internal'), null);

    const reader = response.body.getReader();
    const text = async () => new TextDecoder().decode((await reader.read()).value);
    assert.equal(await text(), 'data: 1\n\n');
    finish();
    assert.equal(await text(), 'data: 2\n\n');
    assert.equal((await reader.read()).done, true);
  });

  test('passes errors on', async () => {
    answer = (response) => {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end('{"error":{"message":"slow down"}}');
    };
    const response = await chat({ messages: [] });
    assert.equal(response.status, 429);
    assert.equal(response.headers.get('retry-after'), '7');
    assert.deepEqual(await response.json(), { error: { message: 'slow down' } });
  });

  test('follows no redirect, which could carry the key elsewhere', async () => {
    answer = (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    const response = await chat({ messages: [] });
    assert.equal(response.status, 502);
    assert.match((await response.json()).error.message, /cannot reach/);
  });

  test('lets go of the model when the page lets go', async () => {
    const closed = deferred();
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      response.once('close', () => closed.resolve());
    };
    const gone = new AbortController();
    const response = await chat({ messages: [] }, { signal: gone.signal });
    await response.body.getReader().read();
    gone.abort();
    await closed.promise;
  });

  test('takes JSON objects of a bounded size only', async () => {
    const before = seen.length;
    assert.equal((await chat('not JSON')).status, 400);
    assert.equal((await chat('[]')).status, 400);
    assert.equal((await chat({ messages: ['x'.repeat(5 << 20)] })).status, 413);
    assert.equal(seen.length, before);
  });

  test('shows the key nowhere', async () => {
    for (const path of ['/', '/config.json', '/app.js', '/agent.js']) {
      assert.doesNotMatch(await (await fetch(demo.address + path)).text(), new RegExp(KEY), path);
    }
    assert.doesNotMatch(demo.printed(), new RegExp(KEY));
    assert.match(demo.printed(), /the-model at 127\.0\.0\.1/);
  });
});

suite('ports', () => {
  test('a port that was asked for and is taken is an error', async () => {
    const first = await startDemo();
    const { port } = new URL(first.address);
    await assert.rejects(startDemo({ args: ['--port', port] }), /port \d+ is taken/);
    await assert.rejects(startDemo({ args: [], env: { PORT: port } }), /port \d+ is taken/);
    await first.stop();
  });

  test('the default gives way to a free port', async () => {
    const demos = [await startDemo({ args: [] }), await startDemo({ args: [] })];
    const addresses = demos.map(({ address }) => address);
    await Promise.all(demos.map((demo) => demo.stop()));
    assert.notEqual(addresses[0], addresses[1]);
  });

  test('anything that is not a port is refused', async () => {
    for (const port of ['65536', '-1', 'x', '1e3']) {
      await assert.rejects(
        startDemo({ args: [`--port=${port}`] }),
        /--port must be a whole number/,
      );
    }
  });

  test('an address that is none is refused', async () => {
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'file:///etc' };
    await assert.rejects(startDemo({ env }), /OPENAI_BASE_URL must begin with/);
  });
});

/** A request whose path and headers are sent as they are, which fetch would not do. */
function send(address, { method = 'GET', path, headers = {}, body }) {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path, headers }, async (response) => {
      let text = '';
      for await (const part of response) text += part;
      resolve({ status: response.statusCode, headers: response.headers, body: text });
    });
    request.once('error', reject);
    request.end(body);
  });
}

function deferred() {
  let resolve;
  const promise = new Promise((r) => (resolve = r));
  return { promise, resolve };
}
