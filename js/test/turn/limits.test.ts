/**
 * Lowered limits, where the chat executor sends requests and takes answers.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatExecutor } from '../../src/index.js';
import { codeOf, makeRun, skip, testHost } from './harness.js';

/** A stream that answers with a text, behind 30 KB of comments. */
const answer = (text: string): Response => {
  const comments = `: ${'x'.repeat(100)}\n`.repeat(300);
  const choice = { choices: [{ delta: { content: text }, finish_reason: 'stop' }] };
  const body = `${comments}data: ${JSON.stringify(choice)}\n\ndata: [DONE]\n\n`;
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

describe('lowered limits', { skip }, () => {
  for (const limits of [{ string: 8192 }, { frame: 8192 }]) {
    it(`${JSON.stringify(limits)}: what keeps them goes through, what does not is refused`, async () => {
      const answers = [answer('short'), answer('x'.repeat(9216)), answer('again')];
      const run = await makeRun(() => undefined, {
        executorCallback: new ChatExecutor({ baseURL: 'http://127.0.0.1/v1', model: 'm' }),
        host: await testHost({ limits, fetch: () => Promise.resolve(answers.shift()!) }),
      });
      const play = async (systemPrompt: string): Promise<string> => {
        run.events.length = 0;
        await run.runner.run({ systemPrompt, message: 'hi' });
        const end = run.events.find((e) => e.event === 'dispatchEnd');
        assert.ok(end?.event === 'dispatchEnd');
        const { error } = end as { error?: { cause?: unknown } };
        return end.status === 'ack' ? 'ack' : `${codeOf(error)} ${codeOf(error?.cause ?? error)}`;
      };
      assert.equal(await play('test'), 'ack');
      assert.match(await play('\u0001'.repeat(2000)), /E_ABI_LIMIT_EXCEEDED/);
      assert.equal(answers.length, 2, 'a request that is too large is not sent');
      assert.match(await play('test'), /E_ABI_LIMIT_EXCEEDED/);
      assert.equal(await play('test'), 'ack');
    });
  }
});
