// Writes, streams and tools as the published pages on the executor's facts shape them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { eventsOf, runnerOf, skip, turncore } from './setup.mjs';

const { memoryStore, Message, Tool } = turncore;

const message = (id) =>
  new Message({ id, role: 'assistant', content: id, createdAt: 1, updatedAt: 1 });

describe('writes of an iteration', { skip }, () => {
  it('flush before iterationEnd; the parent sees them then, not before', async () => {
    const told = [];
    let turn;
    const runner = await runnerOf({
      executorCallback: async (ctx) => {
        await ctx.storeMessage(message('m'));
        told.push([[...ctx.turnMessages].length, [...turn.turnMessages].length]);
        ctx.ack();
      },
      turnInputPipeline: [
        async (ctx, next) => {
          turn = ctx;
          await next();
        },
      ],
    });
    runner.observe('iterationEnd', () => told.push([...turn.turnMessages].map((m) => m.id)));
    await eventsOf(runner);
    assert.deepEqual(told, [[1, 0], ['m']]);
  });

  it('are discarded by a nack in the middle', async () => {
    const stored = [];
    const store = memoryStore();
    const runner = await runnerOf(
      {
        storeMessageCallback: (_ctx, record) => void stored.push(record.id),
        executorCallback: async (ctx) => {
          await ctx.storeMessage(message('m'));
          ctx.nack(new Error('half done'));
        },
      },
      store,
    );
    const events = await eventsOf(runner);
    assert.deepEqual(stored, []);
    const end = events.find((e) => e.event === 'iterationEnd');
    assert.deepEqual(
      end.discarded.map(({ op, kind, id }) => [op, kind, id]),
      [['store', 'message', 'm']],
    );
  });
});

describe('helpers', { skip }, () => {
  it('add deltas up: a running total in the place of a delta doubles', async () => {
    const runner = await runnerOf({
      executorCallback: async (ctx, helpers) => {
        helpers.reportMessage('deltas', 'It ');
        helpers.reportMessage('deltas', 'rains', { isComplete: true });
        helpers.reportMessage('totals', 'It ');
        helpers.reportMessage('totals', 'It rains', { isComplete: true });
        ctx.ack();
      },
    });
    const events = await eventsOf(runner);
    const full = events.filter((e) => e.event === 'message' && e.isComplete).map((e) => e.full);
    assert.deepEqual(full, ['It rains', 'It It rains']);
  });

  it('keep their streams across iterations', async () => {
    const runner = await runnerOf({
      executorCallback: async (ctx, helpers) => {
        helpers.reportMessage('m', `${ctx.iteration} `, { isComplete: ctx.iteration === 2 });
        if (ctx.iteration === 2) ctx.ack();
      },
    });
    const events = await eventsOf(runner);
    assert.equal(events.findLast((e) => e.event === 'message').full, '0 1 2 ');
  });
});

describe('a tool', { skip }, () => {
  it('is entered by tool.executor(ctx)(args): checked, announced, its error wrapped', async () => {
    const broken = new Error('out of order');
    const tool = new Tool({
      name: 'lift',
      description: 'Goes to a floor.',
      inputSchema: {
        type: 'object',
        properties: { floor: { type: 'integer' } },
        required: ['floor'],
      },
      handler: async ({ floor }) => {
        if (floor === 13) throw broken;
        return `at ${floor}`;
      },
    });
    const got = [];
    const runner = await runnerOf({
      tools: [tool],
      executorCallback: async (ctx) => {
        for (const args of [{ floor: 2 }, { floor: 'two' }, { floor: 13 }]) {
          got.push(
            await tool
              .executor(ctx)(args)
              .catch((error) => error),
          );
        }
        ctx.ack();
      },
    });
    const events = await eventsOf(runner);
    assert.equal(got[0], 'at 2');
    assert.equal(got[1].code, 'E_INVALID_TOOL_ARGS');
    assert.equal(got[2].code, 'E_TOOL_DOWNSTREAM_ERROR');
    assert.equal(got[2].cause, broken);
    const starts = events.filter((e) => e.event === 'toolExecutionStart');
    const ends = events.filter((e) => e.event === 'toolExecutionEnd');
    assert.equal(starts.length, 2);
    assert.deepEqual(
      ends.map((e) => [e.callId, e.isError]),
      starts.map((e, i) => [e.callId, i === 1]),
    );
  });
});
