/**
 * Runners without a host of their own share one instance, and nothing else.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createRunner, Host, TurnRunner } from '../../src/index.js';
import { coreModule, recordingCallbacks, skip, testHost } from './harness.js';

const executor = (): void => undefined;

describe('runners without a host of their own', { skip }, () => {
  it('share one', async () => {
    const { host } = createRunner({ executor });
    assert.equal(createRunner({ executor }).host, host);
    const callbacks = recordingCallbacks();
    assert.equal(new TurnRunner({ ...callbacks, executorCallback: executor }).host, host);
    assert.equal(createRunner({ model: { model: 'm' } }).host, host);
    assert.notEqual(createRunner({ executor, host: {} }).host, host);
    const module = await coreModule();
    const own = new TurnRunner({ ...callbacks, executorCallback: executor, module });
    assert.notEqual(own.host, host);
    assert.equal(
      new TurnRunner({ ...callbacks, executorCallback: executor, module }).host,
      own.host,
    );
  });

  it('and share the instance with those that have a key, but not the key', async () => {
    const sent: [string, string | null][] = [];
    const answer = '{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}';
    const { fetch } = globalThis;
    globalThis.fetch = (input, init) => {
      assert.ok(typeof input !== 'object' || input instanceof URL);
      sent.push([input.toString(), new Headers(init?.headers).get('authorization')]);
      return Promise.resolve(new Response(answer));
    };
    try {
      const host = new Host({ module: (await testHost()).module });
      for (const name of ['one', 'two']) {
        const origins = [`https://${name}.example`];
        const key = { header: 'authorization', value: `Bearer ${name}`, origins };
        const runner = createRunner({
          model: {
            model: 'm',
            baseURL: `https://${name}.example/v1`,
            credential: 'key',
            stream: false,
          },
          host: host.withCredentials({ key }),
        });
        const { text, error } = await runner.stream({ message: 'hi' }).result;
        assert.deepEqual([text, error], ['Hi', undefined]);
        assert.equal(runner.host.ready(), host.ready());
      }
      assert.deepEqual(sent, [
        ['https://one.example/v1/chat/completions', 'Bearer one'],
        ['https://two.example/v1/chat/completions', 'Bearer two'],
      ]);
    } finally {
      globalThis.fetch = fetch;
    }
  });

  it('take it with the key that createRunner is given', async () => {
    const model = { model: 'm', apiKey: 'k' };
    const [one, two] = [createRunner({ model }), createRunner({ model })];
    assert.notEqual(one.host, two.host);
    const [first, second] = [one.host.acquire(), two.host.acquire()];
    assert.equal(await first, await second);
  });
});
