/**
 * Conversations with each provider of models. Go's tests play the same ones.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { baseURLOf, providerNames } from '../../src/chat/providers.js';
import { createRunner, memoryStore, Tool, TurncoreError } from '../../src/index.js';
import { providerKey } from '../../src/entries/models.js';
import { cases, common, serve } from './conversations.js';
import { coreModule, fullModule, skip, testHost } from './harness.js';

describe('providers of models', { skip }, () => {
  for (const c of cases) {
    it(c.name, async () => {
      await serve(c.replies, async (url, requests) => {
        const store = memoryStore();
        const runner = createRunner({
          model: {
            ...c.options,
            ...{ model: c.model, provider: c.provider, baseURL: url + c.base, apiKey: common.key },
          },
          system: common.system,
          tools: [
            new Tool({
              ...common.tool,
              handler: ({ city }: { city: string }) => `4 degrees in ${city}`,
            }),
          ],
          store,
          host: await testHost({ module: await fullModule() }),
        });
        const result = await runner.stream({ message: common.message }).result;
        assert.deepEqual([result.status, result.error], ['ack', undefined]);
        assert.deepEqual(
          requests.map(({ body }) => body),
          c.requests,
        );
        for (const request of requests) {
          assert.equal(request.url, c.path);
          assert.equal(request.headers[c.key[0]], c.key[1] + common.key);
        }
        assert.equal(result.text, c.expect.text);
        assert.deepEqual(result.usage, c.expect.usage);
        assert.deepEqual(
          result.toolCalls.map(({ id, tool, args, results }, i) => {
            const given = c.expect.toolCalls[i]?.id !== ''; // by the provider
            return { id: given ? id : '', tool, args, results };
          }),
          c.expect.toolCalls,
        );
        const { thoughts } = await store.load('default');
        assert.deepEqual(
          [...thoughts].map(({ content }) => String(content)),
          c.expect.thoughts,
        );
      });
    });
  }

  it('the module that is loaded by default says which one has a provider', async () => {
    const runner = createRunner({
      model: { model: 'm', provider: 'anthropic' },
      host: await testHost({ module: await coreModule() }),
    });
    const { error } = await runner.stream({ message: 'hi' }).result;
    assert.match(String(error), /`provider` anthropic is not in this module, but in turncore-full/);
  });

  it('who names a provider gets the module that has it', async () => {
    const { module: _, ...host } = await testHost();
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (url) => {
      asked.push(new Request(url).url);
      return Promise.reject(new Error('no network'));
    };
    const model = { model: 'm', provider: 'gemini' } as const;
    const runner = createRunner({ model, host: { ...host, fetch } });
    const { error } = await runner.stream({ message: 'hi' }).result;
    assert.match(String(error), /E_HTTP_TRANSPORT.*no network/); // the core module knows no Gemini
    assert.match(asked.join(), /^https:\/\/generativelanguage\.googleapis\.com\//);
  });

  it('are known to hosts and to the module', async () => {
    const runner = createRunner({
      model: { model: 'm', provider: 'other' as 'openai' },
      host: await testHost({ module: await fullModule() }),
    });
    const { error } = await runner.stream({ message: 'hi' }).result;
    const [, names = ''] = /`provider` must be one of (.*)$/m.exec(String(error)) ?? [];
    assert.deepEqual(
      names
        .split(', ')
        .filter((name) => name !== 'model')
        .sort(),
      [...providerNames].sort(),
    );
  });

  it('want a key in headers of their own', () => {
    const origins = ['https://api.anthropic.com'];
    assert.deepEqual(providerKey('anthropic', 'k', origins), {
      header: 'x-api-key',
      value: 'k',
      origins,
    });
    assert.equal(providerKey('ollama', 'k', origins).value, 'Bearer k');
    assert.throws(() => providerKey('anthropc' as 'anthropic', '', ['api.anthropic.com']), {
      code: 'E_INVALID_VALUE',
      details: [
        `\`provider\` must be one of ${providerNames.map((name) => `"${name}"`).join(', ')}`,
        '`key` must be a non-empty string',
        '`origins` must have origins such as https://example.com',
      ],
    });
    assert.equal(baseURLOf('other'), undefined);
    assert.equal(baseURLOf('toString'), undefined);
  });

  it('have an address unless another is given', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      const key = [...headers].find(([, value]) => value.endsWith(common.key));
      asked.push(`${new Request(url).url} ${key?.[0] ?? ''}`);
      return Promise.resolve(new Response('', { status: 418 }));
    };
    for (const provider of providerNames) {
      const { model, base, path, key } = cases.find((c) => c.provider === provider)!;
      const runner = createRunner({
        model: { model, provider, apiKey: common.key },
        host: await testHost({ module: await fullModule(), fetch }),
      });
      const { error } = await runner.stream({ message: 'hi' }).result;
      assert.ok(error instanceof TurncoreError);
      assert.equal(asked.pop(), `${baseURLOf(provider)}${path.slice(base.length)} ${key[0]}`);
    }
    assert.deepEqual(asked, []);
  });
});
