/**
 * A token budget for the chat executor measures the request itself. Go's tests play the same.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createRunner, Message, tokenBudget } from '../../src/index.js';
import { skip, testHost } from './harness.js';

const size = (text: string): number => new TextEncoder().encode(text).length;

/** The request of a turn with a history, when it may have so many bytes: a token is a byte. */
async function requestWithin(limit: number): Promise<{ body: string; error: unknown }> {
  let body = '';
  const runner = createRunner({
    model: { model: 'm', baseURL: 'http://127.0.0.1/v1', stream: false },
    tokenizers: { bytes: (texts) => texts.map(size) },
    dispatchInputPipeline: [tokenBudget({ encoding: 'bytes', limit })],
    turnInputPipeline: [
      async (ctx, next) => {
        for (let i = 0; i < 20; i++) {
          const at = { createdAt: 1000 + i, updatedAt: 1000 + i };
          const role = i % 2 === 0 ? 'user' : 'assistant';
          ctx.turnMessages.add(
            new Message({ id: `m${i}`, role, content: '"é" '.repeat(20), ...at }),
          );
        }
        await next();
      },
    ],
    host: await testHost({
      fetch: (_input, init) => {
        body = new TextDecoder().decode(init?.body as Uint8Array<ArrayBuffer>);
        const choices = [{ message: { content: 'ok' }, finish_reason: 'stop' }];
        return Promise.resolve(Response.json({ choices }));
      },
    }),
  });
  const { error } = await runner.stream({ message: 'And?' }).result;
  return { body, error };
}

describe('a token budget for the chat executor', { skip }, () => {
  it('measures the request', async () => {
    const { body } = await requestWithin(1e6);
    const whole = size(body);
    assert.equal(size((await requestWithin(whole)).body), whole);
    for (const limit of [whole - 1, Math.floor(whole / 2)]) {
      const cut = size((await requestWithin(limit)).body);
      assert.ok(cut <= limit && cut > limit - 200, `${cut} of ${limit}`);
    }
    const { error } = await requestWithin(50);
    assert.equal((error as { code?: string }).code, 'E_TOKEN_BUDGET');
  });
});
