/**
 * Where the module's requests may go when the program gives no list of origins.
 */
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';

import { createRunner, fetchTool } from '../../src/index.js';
import { codeOf, fullModule, skip } from './harness.js';

const ANSWER =
  'data: {"choices":[{"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

async function serve(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('requests stay where the program has said that they go', { skip }, async () => {
  let reached = 0;
  const other = await serve((_, response) => {
    reached += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  const api = await serve((_, response) => {
    response.writeHead(307, { location: `${other.url}/v1/chat/completions` }).end();
  });
  try {
    const model = { baseURL: `${api.url}/v1`, model: 'm' };
    const module = await fullModule();
    const narrow = createRunner({ model, host: { module } });
    const refused = await narrow.stream({ message: 'Hi!' }).result;
    assert.equal(codeOf(refused.error), 'E_HTTP_NOT_ALLOWED');
    assert.equal(reached, 0);

    const wide = createRunner({ model, host: { module, allowedOrigins: [api.url, other.url] } });
    assert.equal((await wide.stream({ message: 'Hi!' }).result).text, 'Hello.');
    // What a fetch tool may fetch is named by the program, too.
    const tools = [fetchTool({ allow: [`${other.url}/docs`] })];
    const fetching = createRunner({ model, tools, host: { module } });
    const { text, error } = await fetching.stream({ message: 'Hi!' }).result;
    assert.equal(error, undefined);
    assert.equal(text, 'Hello.');
    assert.equal(reached, 2);
  } finally {
    api.server.close();
    other.server.close();
  }
});

/** The platform's requests, as in a page at an address. */
async function inPage(address: string, run: () => Promise<void>): Promise<void> {
  const { Request } = globalThis;
  globalThis.Request = class extends Request {
    constructor(input: RequestInfo | URL, init?: RequestInit) {
      super(typeof input === 'string' ? new URL(input, address) : input, init);
    }
  };
  try {
    await run();
  } finally {
    globalThis.Request = Request;
  }
}

it('a relative address is that of the page, and the key goes there', { skip }, async () => {
  const module = await fullModule();
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const { authorization } = Object.fromEntries(new Headers(init?.headers));
    asked.push(`${url as string} ${authorization}`);
    const headers = { 'content-type': 'text/event-stream' };
    return Promise.resolve(new Response(ANSWER, { headers }));
  };
  const model = { baseURL: '/api/v1', model: 'm', apiKey: 'opensesame' };
  await inPage('https://page.example/app/', async () => {
    const runner = createRunner({ model, host: { module, fetch } });
    const { text, error } = await runner.stream({ message: 'Hi!' }).result;
    assert.deepEqual([text, error], ['Hello.', undefined]);
  });
  assert.deepEqual(asked, ['https://page.example/api/v1/chat/completions Bearer opensesame']);
});

it('a key for an unknown provider is refused, with those that are known', () => {
  const model = { provider: 'opnai', model: 'm', apiKey: 'opensesame' };
  assert.throws(() => createRunner({ model: model as never }), {
    code: 'E_INVALID_TURN_RUNNER_CONFIG',
    message: /`model.provider` must be one of openai, .*anthropic/,
  });
});

it('a relative address is refused where there is no page', { skip }, async () => {
  const model = { baseURL: '/api/v1', model: 'm' };
  assert.throws(() => createRunner({ model: { ...model, apiKey: 'opensesame' } }), {
    code: 'E_INVALID_TURN_RUNNER_CONFIG',
    message: /`model.baseURL` must be a URL/,
  });
  const runner = createRunner({ model, host: { module: await fullModule() } });
  const { error } = await runner.stream({ message: 'Hi!' }).result;
  assert.equal(codeOf(error), 'E_CHAT_INVALID_OPTIONS');
  assert.match(String(error), /`baseURL` must be an http or https URL/);
});
