/**
 * Options of the chat executor: the module checks them, all at once.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  ChatExecutor,
  createRunner,
  isTurncoreError,
  Memory,
  Retrievable,
} from '../../src/index.js';
import { type Bucket, type EngineOptions } from '../../src/entries/models.js';
import { type ChatModel } from '../../src/entries/runners.js';
import { skip, testHost } from './harness.js';

describe('options of the chat executor', { skip }, () => {
  it('that break a rule are named, all of them', async () => {
    const wrong = {
      model: 'm',
      ...{ thoughts: 'loud', thoughtSurfacing: 'none', replayCompatibility: 1, bucketOrder: [] },
      ...{ media: ['picture'], maxMediaBytes: -1, unsupportedMedia: 'drop' },
    };
    const runner = createRunner({
      executor: new ChatExecutor(wrong as never),
      host: await testHost({}),
    });
    const { error } = await runner.stream({ message: 'hi' }).result;
    assert.ok(isTurncoreError(error, 'E_CHAT_INVALID_OPTIONS'), String(error));
    for (const name of Object.keys(wrong).slice(1)) {
      assert.ok(error.message.includes(`\`${name}\``), `${name} in ${error.message}`);
    }
  });

  it('order the system text', async () => {
    const texts: string[] = [];
    for (const order of [undefined, ['retrievables', 'memories', 'standingInstructions']]) {
      const runner = createRunner({
        model: {
          ...{ model: 'm', baseURL: 'http://127.0.0.1/v1', trust: 'off', stream: false },
          bucketOrder: order as Bucket[] | undefined,
        },
        system: 'Be kind.',
        turnInputPipeline: [
          async (ctx, next) => {
            const at = { createdAt: 1, updatedAt: 1 };
            const about = { confidence: 1, importance: 1 };
            const document = { id: 'r', content: 'Tea is hot.', inline: true } as const;
            ctx.turnRetrievables.add(
              new Retrievable({ ...document, trustTier: 'third-party-public', ...at }),
            );
            ctx.turnMemories.add(new Memory({ id: 'm', content: 'Likes tea.', ...about, ...at }));
            await next();
          },
        ],
        host: await testHost({
          fetch: (_input, init) => {
            const body = new TextDecoder().decode(init?.body as Uint8Array<ArrayBuffer>);
            const { messages } = JSON.parse(body) as { messages: { content: string }[] };
            texts.push(messages[0]!.content);
            const choices = [{ message: { content: 'ok' }, finish_reason: 'stop' }];
            return Promise.resolve(Response.json({ choices }));
          },
        }),
      });
      assert.equal((await runner.stream({ message: 'hi' }).result).status, 'ack');
    }
    const places = texts.map((text) => text.indexOf('Likes tea.') < text.indexOf('Tea is hot.'));
    assert.deepEqual(places, [true, false], texts.join('\n---\n'));
  });

  it('are known to the compiler by name and value', () => {
    const engine = { generate: () => Promise.reject(new Error('nobody asks')) };
    const right: (ChatModel | EngineOptions)[] = [
      { model: 'm', temperature: 0.5, toolFormat: 'hermes' },
      { engine, temperature: 0.5, parallel: 2 },
    ];
    const wrong: (ChatModel | EngineOptions)[] = [
      // @ts-expect-error The name is misspelt.
      { model: 'm', temprature: 0.5 },
      // @ts-expect-error An engine has no such option either.
      { engine, temprature: 0.5 },
      // @ts-expect-error No format has this name.
      { model: 'm', toolFormat: 'hermès' },
    ];
    assert.equal(right.length + wrong.length, 5);
  });
});
