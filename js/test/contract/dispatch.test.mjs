// Dispatches as the published page on LLM dispatch shapes them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { testHost } from '../../build/test/turn/harness.js';
import { eventsOf, runnerOf, skip, turncore } from './setup.mjs';

const { DispatchRunner, Message, memoryStore, storeCallbacks, ToolCall } = turncore;

/** The functions of a raw context: those of a store, without `Callback` behind their names. */
function rawCallbacks() {
  return Object.fromEntries(
    Object.entries(storeCallbacks(memoryStore())).map(([name, fn]) => [
      name.replace(/Callback$/, ''),
      fn,
    ]),
  );
}

const message = (id, content) =>
  new Message({ id, role: 'assistant', content, createdAt: 1, updatedAt: 1 });

describe('a dispatch', { skip }, () => {
  it('inside a turn shares its collections, events and fate', async () => {
    const seen = [];
    const runner = await runnerOf({
      executorCallback: async (ctx) => ctx.ack(),
      turnInputPipeline: [
        async (turnContext, next) => {
          await DispatchRunner.dispatch({
            source: turnContext,
            executor: async (ctx, helpers) => {
              helpers.reportMessage('plan', 'First look.', { isComplete: true });
              await ctx.storeMessage(message('plan', 'First look.'));
              ctx.ack();
            },
            turnInputPipeline: [
              async (ctx, next) => {
                seen.push(`input ${ctx.iteration}`);
                await next();
              },
            ],
            turnOutputPipeline: [
              async (ctx, next) => {
                seen.push(`output ${ctx.iteration}`);
                await next();
              },
            ],
            hooks: { message: (e) => seen.push(`hook ${e.full}`) },
            observers: {
              dispatchEnd: [
                (e) => seen.push(`first ${e.status}`),
                (e) => seen.push(`second ${e.status}`),
              ],
            },
          });
          seen.push([...turnContext.turnMessages].map((m) => m.id).join());
          await next();
        },
      ],
    });
    const events = await eventsOf(runner);
    assert.deepEqual(seen, [
      'input 0',
      'hook First look.',
      'output 0',
      'first ack',
      'second ack',
      'plan',
    ]);
    assert.equal(events.filter((e) => e.event === 'dispatchEnd').length, 2);
    assert.ok(events.some((e) => e.event === 'message' && e.id === 'plan'));
  });

  it('on its own is put together by its caller; nothing bubbles up', async () => {
    const ended = [];
    const outcome = await DispatchRunner.dispatch({
      raw: {
        ...rawCallbacks(),
        systemPrompt: 'Summarise.',
        messages: [message('a', 'one'), message('b', 'two')],
      },
      executor: async (ctx, helpers) => {
        helpers.reportMessage('s', [...ctx.turnMessages].map((m) => m.content).join(' and '), {
          isComplete: true,
        });
        ctx.ack();
      },
      hooks: { message: (e) => ended.push(e.full) },
      observers: { dispatchEnd: (e) => ended.push(e.status) },
      host: await testHost(),
    });
    assert.deepEqual(ended, ['one and two', 'ack']);
    assert.deepEqual([outcome.status, outcome.iterations], ['ack', 1]);
  });

  it('takes exactly one of source and raw', async () => {
    const executor = async (ctx) => ctx.ack();
    for (const input of [{ executor }, { executor, source: {}, raw: {} }]) {
      await assert.rejects(DispatchRunner.dispatch(input), {
        code: 'E_INVALID_LLM_DISPATCH_INPUT',
      });
    }
    assert.throws(() => new DispatchRunner(), { code: 'E_INVALID_LLM_DISPATCH_INPUT' });
  });
});

describe('the loop', { skip }, () => {
  it('is bounded by a middleware over ctx.iteration', async () => {
    let ran = 0;
    const runner = await runnerOf({
      executorCallback: async () => void ran++,
      dispatchOutputPipeline: [
        async (ctx, next) => {
          if (ctx.iteration >= 9) ctx.nack(new Error('too many iterations'));
          await next();
        },
      ],
    });
    const events = await eventsOf(runner);
    assert.equal(ran, 10);
    assert.equal(events.find((e) => e.event === 'error').error.message, 'too many iterations');
  });

  it('is bounded by a middleware over ctx.toolCallCount', async () => {
    const call = (n) =>
      new ToolCall({
        id: `c${n}`,
        tool: 'search',
        args: { q: 'x' },
        checksum: 'same',
        results: 'nothing',
        isComplete: true,
        isError: false,
        createdAt: n,
        updatedAt: n,
        completedAt: n,
      });
    const counts = [];
    const runner = await runnerOf({
      executorCallback: async (ctx) => ctx.storeToolCall(call(ctx.iteration)),
      dispatchOutputPipeline: [
        async (ctx, next) => {
          counts.push(ctx.toolCallCount('same'));
          if (ctx.toolCallCount('same') >= 3) ctx.nack(new Error('the model repeats itself'));
          await next();
        },
      ],
    });
    const events = await eventsOf(runner);
    assert.deepEqual(counts, [1, 2, 3]);
    assert.equal(events.find((e) => e.event === 'dispatchEnd').status, 'nack');
  });

  it('ends when an output middleware sees the goal met', async () => {
    const runner = await runnerOf({
      executorCallback: async (ctx) =>
        ctx.storeMessage(message(`m${ctx.iteration}`, ctx.iteration === 2 ? 'DONE' : 'not yet')),
      dispatchOutputPipeline: [
        async (ctx, next) => {
          const last = [...ctx.turnMessages].at(-1);
          if (String(last.content) === 'DONE' && !ctx.isSignalled) ctx.ack();
          await next();
        },
      ],
    });
    const events = await eventsOf(runner);
    const end = events.find((e) => e.event === 'dispatchEnd');
    assert.deepEqual([end.status, end.iterations], ['ack', 3]);
  });

  it('takes the first signal; a second one throws', async () => {
    const runner = await runnerOf({
      executorCallback: async (ctx) => {
        const acked = [];
        const stop = ctx.onAck(() => acked.push('taken back'));
        ctx.onAck(() => acked.push('heard'));
        stop();
        ctx.ack();
        assert.deepEqual(acked, ['heard']);
        assert.equal(ctx.isSignalled, true);
        assert.throws(() => ctx.ack(), { code: 'E_LLM_EXECUTION_ALREADY_SIGNALLED' });
        assert.throws(() => ctx.nack(new Error('x')), {
          code: 'E_LLM_EXECUTION_ALREADY_SIGNALLED',
        });
      },
      // The pages' own bound does no harm when the executor has acked.
      dispatchOutputPipeline: [(ctx) => ctx.nack(new Error('bound'))],
    });
    const events = await eventsOf(runner);
    assert.equal(events.find((e) => e.event === 'warning').kind, 'already-signalled');
    assert.equal(events.at(-1).status, 'ack');
  });
});
