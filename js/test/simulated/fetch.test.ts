import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { simulatedFetch } from '../../src/entries/simulated.js';

const URL_OF = 'http://simulated/v1/chat/completions';

/** The body of a request with one message. */
function asking(content: string, more: object = {}): string {
  return JSON.stringify({ messages: [{ role: 'user', content }], ...more });
}

describe('the simulated fetch', () => {
  it('answers whole, from a URL, a string and a Request', async () => {
    const fetch = simulatedFetch();
    const init = { method: 'POST', body: asking('hello') };
    for (const input of [URL_OF, new URL(URL_OF), new Request(URL_OF, init)]) {
      const response = await fetch(input, input instanceof Request ? undefined : init);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/json');
      const { choices } = (await response.json()) as { choices: { message: object }[] };
      assert.deepEqual(choices[0]!.message, { role: 'assistant', content: 'You said: hello' });
    }
  });

  it('streams a part at each read, and the same at every request', async () => {
    const fetch = simulatedFetch({ pauseMs: 1 });
    const texts: string[] = [];
    for (let i = 0; i < 2; i++) {
      const body = asking('hello world', { stream: true });
      const response = await fetch(URL_OF, { method: 'POST', body });
      assert.equal(response.headers.get('content-type'), 'text/event-stream');
      const parts: string[] = [];
      for await (const part of response.body!) parts.push(new TextDecoder().decode(part));
      assert.equal(parts.length, 8);
      assert.ok(
        parts.every((part) => /^data: .*\n\n$/.test(part)),
        parts.join(''),
      );
      assert.equal(parts.at(-1), 'data: [DONE]\n\n');
      texts.push(parts.join(''));
    }
    assert.equal(texts[0], texts[1]);
  });

  it('refuses what is not a request', async () => {
    const fetch = simulatedFetch();
    const ask = async (url: string, init: RequestInit): Promise<[number, string]> => {
      const response = await fetch(url, init);
      return [response.status, await response.text()];
    };
    assert.equal((await ask(URL_OF, {}))[0], 404);
    assert.equal((await ask('http://simulated/v1/models', { method: 'POST' }))[0], 404);
    for (const body of [
      '',
      '{',
      '[]',
      '{"messages":"x"}',
      '{"messages":[7]}',
      '{"stream":"yes"}',
    ]) {
      const [status, text] = await ask(URL_OF, { method: 'POST', body });
      assert.equal(status, 400, body);
      assert.match(text, /^\{"error":\{"code":400,"message":"the request is no JSON: /);
    }
    await assert.rejects(fetch('no address'), TypeError);
    await assert.rejects(fetch(URL_OF, { method: 'GET', body: 'x' }), TypeError);
  });

  it('is aborted before it answers, and at each read of the answer', async () => {
    const why = new Error('enough');
    const body = asking('one two three', { stream: true });
    await assert.rejects(
      simulatedFetch()(URL_OF, { method: 'POST', body, signal: AbortSignal.abort(why) }),
      why,
    );
    const during = new AbortController();
    const answer = simulatedFetch()(URL_OF, { method: 'POST', body, signal: during.signal });
    during.abort(why);
    await assert.rejects(answer, why);
    for (let reads = 0; reads < 8; reads++) {
      const leave = new AbortController();
      const init = { method: 'POST', body, signal: leave.signal };
      const reader = (await simulatedFetch()(URL_OF, init)).body!.getReader();
      for (let i = 0; i < reads; i++) await reader.read();
      leave.abort(why);
      await assert.rejects(reader.read(), why, `after ${reads} reads`);
    }
  });

  it('is aborted in a pause', async () => {
    const why = new Error('enough');
    const leave = new AbortController();
    const init = { method: 'POST', body: asking('x', { stream: true }), signal: leave.signal };
    const reader = (await simulatedFetch({ pauseMs: 60_000 })(URL_OF, init)).body!.getReader();
    await reader.read();
    const pending = reader.read();
    leave.abort(why);
    await assert.rejects(pending, why);
  });

  it('ends its pause when the body is cancelled', async () => {
    const body = asking('one two three', { stream: true });
    const slow = await simulatedFetch({ pauseMs: 60_000 })(URL_OF, { method: 'POST', body });
    const reader = slow.body!.getReader();
    await reader.read();
    const pending = reader.read();
    await reader.cancel();
    assert.equal((await pending).done, true);
  });
});
