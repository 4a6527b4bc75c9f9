/**
 * The tools that come with the module.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  artifactsTool,
  calculatorTool,
  type DispatchContext,
  Memory,
  memoryTools,
  Retrievable,
  retrievablesTool,
  timeTool,
} from '../../src/index.js';
import { codeOf, runTurn, skip } from './harness.js';

/** An instant for records whose time does not matter. */
const at = { createdAt: 1, updatedAt: 1 };

describe('the tool catalogue', { skip }, () => {
  it('calculates, and says what is wrong where', async () => {
    const tool = calculatorTool();
    const { names } = await runTurn(
      async (ctx) => {
        const calculate = tool.executor(ctx);
        assert.equal(await calculate({ expression: '2 + 3 * sqrt(16) ^ 2' }), 50);
        await assert.rejects(calculate({ expression: '1 / 0' }), (error: Error) => {
          assert.equal(codeOf(error), 'E_TOOL_DOWNSTREAM_ERROR');
          assert.equal(codeOf(error.cause), 'E_TOOL_CALCULATION');
          assert.match(String(error.cause), /division by zero at character 3/);
          return true;
        });
        await assert.rejects(calculate({ expression: '' }), { code: 'E_INVALID_TOOL_ARGS' });
        ctx.ack();
      },
      { tools: [tool] },
    );
    assert.deepEqual(names.slice(3, 7), ['xS', 'xE(false)', 'xS', 'xE(true)']);
  });

  it('tells the time of the clock at an offset', async () => {
    const tool = timeTool();
    await runTurn(async (ctx) => {
      const utc = await tool.executor(ctx)({});
      assert.match(utc, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00, [A-Z][a-z]+day$/);
      const east = await tool.executor(ctx)({ offset: '+02:00' });
      assert.equal(Date.parse(east.split(',')[0]!), Date.parse(utc.split(',')[0]!));
      await assert.rejects(tool.executor(ctx)({ offset: 'CET' }), { code: 'E_INVALID_TOOL_ARGS' });
      ctx.ack();
    });
  });

  it('keeps memories through the storage callbacks', async () => {
    const [remember, recall, forget] = memoryTools();
    const { writes } = await runTurn(
      async (ctx) => {
        const { id } = await remember.executor(ctx)({ content: 'Owns a cat', importance: 0.9 });
        assert.deepEqual(await recall.executor(ctx)({}), [
          { id, content: 'Owns a cat' },
          { id: 'old', content: 'Likes tea' },
        ]);
        assert.deepEqual(await recall.executor(ctx)({ query: 'TEA likes' }), [
          { id: 'old', content: 'Likes tea' },
        ]);
        assert.equal(await forget.executor(ctx)({ id: 'old' }), 'forgotten');
        await assert.rejects(forget.executor(ctx)({ id: 'old' }), /no memory with the id old/);
        assert.deepEqual(
          [...ctx.turnMemories].map((m) => m.id),
          [id],
        );
        ctx.ack();
      },
      {
        turnInputPipeline: [
          (ctx, next) => {
            const content = 'Likes tea';
            const memory = { id: 'old', content, confidence: 1, importance: 0.1, ...at };
            ctx.turnMemories.add(new Memory(memory));
            return next();
          },
        ],
      },
    );
    assert.match(writes[0]!, /^storeMemory /);
    assert.equal(writes[1], 'deleteMemory old');
  });

  it('searches documents, spooled or not, and artifacts', async () => {
    const documents = retrievablesTool();
    const artifacts = artifactsTool();
    const found: unknown[] = [];
    await runTurn(
      async (ctx: DispatchContext) => {
        found.push(await documents.executor(ctx)({ query: 'two' }));
        found.push(await documents.executor(ctx)({ query: 'THINGS two', limit: 1 }));
        found.push(await artifacts.executor(ctx)({ query: 'two' }));
        found.push(await artifacts.executor(ctx)({ query: 'nowhere' }));
        ctx.ack();
      },
      {
        turnInputPipeline: [
          async (ctx, next) => {
            const tier = { trustTier: 'first-party', ...at } as const;
            const content = 'one\nTwo things\nthree';
            await ctx.storeRetrievable(
              new Retrievable({ id: 'in', content, inline: true, ...tier }),
            );
            await ctx.storeRetrievable(new Retrievable({ id: 'out', content, ...tier }));
            return next();
          },
        ],
      },
    );
    const line = (id: string): unknown => ({ id, line: 1, text: 'Two things' });
    assert.deepEqual(found, [[line('in'), line('out')], [line('in')], [line('out')], []]);
  });

  it('gives tools that are described to models like any other', () => {
    const [remember] = memoryTools();
    const { name, description, inputSchema } = remember.describe();
    assert.equal(name, 'remember');
    assert.ok(description.length > 0);
    assert.equal(inputSchema.type, 'object');
    assert.equal(remember.trusted, false);
    assert.equal(calculatorTool().trusted, true);
  });
});
