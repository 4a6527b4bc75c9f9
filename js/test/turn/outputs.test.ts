/**
 * Structured output with each provider of models, and objects while they come. Go's tests play the same cases.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { z } from 'zod';

import { ChatExecutor, createRunner, memoryStore, Tool, TurncoreError } from '../../src/index.js';
import { type ModelPart, type ProviderName } from '../../src/entries/models.js';
import { type JSONSchema } from '../../src/entries/runners.js';
import { root } from '../instance/go-guest.js';
import { serve } from './conversations.js';
import { fullModule, skip, testHost } from './harness.js';

interface Case {
  readonly name: string;
  readonly provider: ProviderName;
  readonly model: string;
  readonly base: string;
  readonly path: string;
  readonly tools: boolean;
  readonly schema?: JSONSchema;
  readonly options: Readonly<Record<string, unknown>>;
  readonly replies: readonly { readonly type: string; readonly body: string }[];
  readonly requests: readonly unknown[];
  readonly expect: {
    readonly status: string;
    readonly object?: unknown;
    readonly code?: string;
    readonly message?: string;
    readonly text?: string;
    readonly usage: Readonly<Record<string, number>>;
    readonly partials: readonly unknown[];
  };
}

interface Outputs {
  readonly system: string;
  readonly message: string;
  readonly key: string;
  readonly schema: JSONSchema;
  readonly tool: { name: string; description: string; inputSchema: { type: 'object' } };
  readonly cases: readonly Case[];
  readonly objects: readonly {
    readonly name: string;
    readonly deltas: readonly string[];
    readonly objects: readonly unknown[];
  }[];
}

const file = new URL('runtime/testdata/providers/outputs.json', root);
const { cases, objects, ...common } = JSON.parse(await readFile(file, 'utf8')) as Outputs;

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** An engine that gives one answer after another. */
function saying(...answers: string[]) {
  return {
    async *generate(): AsyncGenerator<ModelPart> {
      await Promise.resolve();
      yield { text: answers.shift() ?? '', finish: 'stop' };
    },
  };
}

describe('structured output', { skip }, () => {
  for (const c of cases) {
    it(c.name, async () => {
      await serve(c.replies, async (url, requests) => {
        const store = memoryStore();
        const { provider, model } = c;
        const runner = createRunner({
          model: { ...c.options, model, provider, baseURL: url + c.base, apiKey: common.key },
          schema: c.schema ?? common.schema,
          system: common.system,
          tools: !c.tools
            ? []
            : [
                new Tool({
                  ...common.tool,
                  handler: ({ city }: { city: string }) => `4 degrees in ${city}`,
                }),
              ],
          store,
          host: await testHost({ module: await fullModule() }),
        });
        const stream = runner.stream({ message: common.message });
        const partials: unknown[] = [];
        const collecting = (async () => {
          for await (const object of stream.partialObjects()) partials.push(object);
        })();
        const result = await stream.result;
        if (result.status === 'ack') await collecting;
        else await assert.rejects(collecting, (thrown) => thrown === result.error);
        assert.deepEqual(partials, c.expect.partials);
        assert.deepEqual(
          requests.map(({ body }) => body),
          c.requests,
        );
        assert.equal(result.status, c.expect.status);
        assert.deepEqual(result.object, c.expect.object);
        assert.deepEqual(result.usage, c.expect.usage);
        const messages = [...(await store.load('default')).messages];
        if (c.expect.code === undefined) {
          assert.equal(result.error, undefined);
          assert.deepEqual([messages.length, String(messages[1]?.content)], [2, result.text]);
          return;
        }
        assert.ok(result.error instanceof TurncoreError);
        assert.equal(result.error.code, c.expect.code);
        assert.ok(result.error.message.endsWith(c.expect.message ?? ''), result.error.message);
        if (c.expect.text !== undefined) {
          const details = result.error.details as { text: string; violations: unknown[] };
          assert.deepEqual([details.text, details.violations.length], [c.expect.text, 1]);
        }
        assert.equal(messages.length, 1);
      });
    });
  }

  for (const c of objects) {
    it(`objects while they come: ${c.name}`, async () => {
      const runner = createRunner({
        executor: (ctx, helpers) => {
          for (const delta of c.deltas) helpers.reportMessage('m', delta);
          helpers.reportMessage('m', '', { isComplete: true });
          ctx.ack();
        },
        host: await testHost(),
      });
      const stream = runner.stream({ message: 'hi' });
      assert.deepEqual(await collect(stream.partialObjects()), c.objects);
      for await (const _ of stream.partialObjects()) break; // does not abort the turn
      const { status, object } = await stream.result;
      assert.deepEqual([status, object], ['ack', undefined]);
    });
  }

  it('is typed and converted by a schema of Zod', async () => {
    const schema = z.object({ city: z.string(), at: z.string().transform((s) => new Date(s)) });
    const runner = createRunner({
      model: saying('{"city":"Oslo"}', '{"city":"Oslo","at":"2026-01-01","more":1}'),
      schema,
      host: await testHost({ module: await fullModule() }),
    });
    const stream = runner.stream({ message: 'hi' });
    const cities: (string | undefined)[] = [];
    for await (const part of stream.partialObjects()) cities.push(part.city);
    const { object, status } = await stream.result;
    const at: Date | undefined = object?.at;
    assert.deepEqual([status, object?.city, at?.getUTCFullYear()], ['ack', 'Oslo', 2026]);
    assert.equal(cities.at(-1), 'Oslo');
  });

  it('is refused by what a schema checks beyond JSON Schema', async () => {
    const schema = z.object({ city: z.string().refine((s) => s !== 'Oslo', 'another city') });
    const runner = createRunner({
      model: saying('{"city":"Oslo"}'),
      schema,
      host: await testHost({ module: await fullModule() }),
    });
    const { status, object, error } = await runner.stream({ message: 'hi' }).result;
    assert.deepEqual([status, object], ['ack', undefined]);
    assert.ok(error instanceof TurncoreError);
    assert.equal(error.code, 'E_CHAT_INVALID_OUTPUT');
    assert.deepEqual(error.details, {
      text: '{"city":"Oslo"}',
      violations: [{ path: '/city', message: 'another city' }],
    });
  });

  it('needs a schema that can be told', () => {
    const invalid = (config: object, message: RegExp): void => {
      assert.throws(() => createRunner(config as never), message);
    };
    invalid({ executor: () => undefined, schema: {} }, /`schema` needs a `model`/);
    invalid({ model: { model: 'm', schema: {} }, schema: {} }, /exclude each other/);
    invalid({ model: { model: 'm' }, schema: z.date() }, /`schema` has no JSON Schema: /);
    const mute = { '~standard': { version: 1, vendor: 'mute', validate: () => ({ value: 1 }) } };
    invalid(
      { model: { model: 'm' }, schema: mute },
      /`schema` has no JSON Schema: mute gives none/,
    );
    assert.deepEqual(new ChatExecutor({ model: 'm', schema: z.string() }).options['schema'], {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'string',
    });
  });
});
