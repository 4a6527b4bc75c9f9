import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { simulatedProvider } from '../../src/simulated/provider.js';

const weather = {
  function: { name: 'get_weather', parameters: { properties: { city: { type: 'string' } } } },
};

describe('the simulated provider', () => {
  let server: Server;
  let url: string;

  before(async () => {
    server = createServer(simulatedProvider());
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function ask(body: unknown): Promise<string> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return (await fetch(url, { method: 'POST', body: text })).text();
  }

  it('streams a call of a tool that the text mentions', async () => {
    const request = {
      stream: true,
      messages: [{ role: 'user', content: 'weather in Oslo' }],
      tools: [weather],
    };
    const head = (delta: string, finish = 'null'): string =>
      `data: {"choices":[{"delta":${delta},"finish_reason":${finish},"index":0}],"id":"sim-1","model":"simulated","object":"chat.completion.chunk"}`;
    const thought = 'The text mentions get_weather, so I call it.'.split(/(?<= )/);
    const args = ['{"city":', '"Oslo"}'].map((part) => JSON.stringify(part));
    const want = [
      head('{"content":"","role":"assistant"}'),
      ...thought.map((word) => head(`{"reasoning_content":"${word}"}`)),
      head(
        '{"tool_calls":[{"function":{"arguments":"","name":"get_weather"},"id":"call_1","index":0,"type":"function"}]}',
      ),
      ...args.map((part) => head(`{"tool_calls":[{"function":{"arguments":${part}},"index":0}]}`)),
      head('{}', '"tool_calls"'),
      'data: {"choices":[],"id":"sim-1","model":"simulated","object":"chat.completion.chunk","usage":{"completion_tokens":15,"prompt_tokens":4,"total_tokens":19}}',
      'data: [DONE]',
      '',
    ];
    assert.deepEqual((await ask(request)).split('\n\n'), want);
    assert.equal(await ask(request), await ask(request));
  });

  it('tells what tools answered', async () => {
    const one = [
      { role: 'user', content: 'x' },
      { role: 'tool', content: '4 degrees' },
    ];
    assert.match(await ask({ messages: one }), /"content":"The tool answered: 4 degrees"/);
    const two = [...one, { role: 'tool', content: [{ type: 'text', text: 'rain' }] }];
    assert.match(await ask({ messages: two }), /"content":"The tools answered: 4 degrees; rain"/);
  });

  it('says back what it was told', async () => {
    const messages = [{ role: 'user', content: 'hello' }];
    assert.match(await ask({ model: 'm', messages }), /"content":"You said: hello".*"model":"m"/);
    assert.match(await ask({ messages, tools: [weather] }), /I can also use tools: get_weather\./);
    assert.match(await ask({}), /There is no message to answer/);
  });

  it('splits arguments between characters', async () => {
    const messages = [{ role: 'user', content: 'weather in "€€€€"' }];
    const text = await ask({ stream: true, messages, tools: [weather] });
    const parts = Array.from(
      text.matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g),
      (m) => JSON.parse(m[1]!) as string,
    );
    assert.deepEqual(parts, ['', '{"city":', '"€€€', '€"}']);
  });

  it('refuses anything that is not a request', async () => {
    assert.match(await ask('{'), /"code":400,"message":"the request is no JSON: /);
    assert.match(await ask({ messages: 'x' }), /messages is of another type/);
    assert.equal((await fetch(url)).status, 404);
  });

  it('survives a client that goes away', async () => {
    const slow = createServer(simulatedProvider({ pauseMs: 50 }));
    await new Promise<void>((ready) => slow.listen(0, '127.0.0.1', ready));
    const at = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/chat/completions`;
    const leave = new AbortController();
    const response = await fetch(at, {
      method: 'POST',
      body: '{"stream":true}',
      signal: leave.signal,
    });
    leave.abort();
    await assert.rejects(response.text());
    // Closes only when the handler has let go of the connection.
    await new Promise((closed) => slow.close(closed));
  });
});
