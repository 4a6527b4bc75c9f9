// Turns as the published overview of the loop shapes them, with the names that it uses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { eventsOf, runnerOf, skip, turncore } from './setup.mjs';

const { memoryStore, storeCallbacks, TurnRunner } = turncore;

describe('one turn', { skip }, () => {
  it('goes through its stages in order, with the older names of the pipelines', async () => {
    const stages = [];
    const stage = (name) => async (ctx, next) => {
      stages.push(name);
      await next();
      stages.push(`after ${name}`);
    };
    const runner = await runnerOf({
      executorCallback: async (ctx) => {
        stages.push(`executor ${ctx.iteration}`);
        if (ctx.iteration === 1) ctx.ack();
      },
      turnInputPipeline: [
        async (ctx, next) => {
          for (const text of await ctx.refreshStandingInstructions())
            ctx.standingInstructions.add(text);
          for (const memory of await ctx.fetchMemories()) ctx.turnMemories.add(memory);
          ctx.stash.set('policy.level', 2);
          await next();
        },
        stage('turn input'),
      ],
      turnOutputPipeline: [stage('turn output')],
      llmInputMiddleware: [stage('iteration input')],
      llmOutputMiddleware: [stage('iteration output')],
    });
    const events = await eventsOf(runner);
    assert.deepEqual(stages, [
      'turn input',
      'after turn input',
      'iteration input',
      'after iteration input',
      'executor 0',
      'iteration output',
      'after iteration output',
      'iteration input',
      'after iteration input',
      'executor 1',
      'iteration output',
      'after iteration output',
      'turn output',
      'after turn output',
    ]);
    assert.deepEqual(
      events.map((e) => e.event),
      [
        'turnStart',
        'dispatchStart',
        'iterationStart',
        'iterationEnd',
        'iterationStart',
        'iterationEnd',
        'dispatchEnd',
        'turnEnd',
      ],
    );
  });

  it('is refused before any callback when its input is broken', async () => {
    const runner = await runnerOf({ executorCallback: async (ctx) => ctx.ack() });
    for (const input of [
      { systemPrompt: '' },
      { systemPrompt: undefined },
      { turnAbortController: {} },
      { standingInstructions: ['fine', ''] },
      { surprise: 1 },
    ]) {
      const events = [];
      runner.observeOnce('turnStart', (e) => events.push(e));
      await assert.rejects(runner.run({ systemPrompt: 'x', ...input }), (error) => {
        assert.equal(error.code, 'E_INVALID_TURN_CONTEXT');
        assert.match(error.message, new RegExp(Object.keys(input)[0]));
        return true;
      });
      assert.deepEqual(events, []);
    }
  });

  it('a configuration is checked at once, and everything that is wrong is said', () => {
    const config = {
      ...storeCallbacks(memoryStore()),
      executorCallback: async () => undefined,
      storeMessageCallback: undefined,
      fetchToolsCallback: (ctx, one, more) => [ctx, one, more],
      tools: [{}],
      turnInputPipeline: [5],
      llmInputMiddleware: [],
      dispatchInputPipeline: [],
      sureprise: 1,
    };
    assert.throws(
      () => new TurnRunner(config),
      (error) => {
        assert.equal(error.code, 'E_INVALID_TURN_RUNNER_CONFIG');
        for (const field of [
          'storeMessageCallback',
          'fetchToolsCallback',
          'tools[0]',
          'turnInputPipeline[0]',
          'llmInputMiddleware',
          'sureprise',
        ]) {
          assert.ok(error.message.includes(field), `${field} in ${error.message}`);
        }
        assert.equal(error.details.length, 6);
        return true;
      },
    );
  });

  it('both buses have the same surface, and each method returns the runner', async () => {
    const runner = await runnerOf({
      executorCallback: async (ctx, helpers) => {
        helpers.reportMessage('m', 'a');
        helpers.reportMessage('m', 'b', { isComplete: true });
        ctx.ack();
      },
    });
    const heard = [];
    const first = () => {
      heard.push('first');
      // Neither of these shows in the event that is being told.
      runner.off('message', second).on('message', third);
    };
    const second = () => heard.push('second');
    const third = () => heard.push('third');
    const once = () => heard.push('once');
    assert.equal(runner.once('message', once), runner);
    assert.equal(runner.on('message', first), runner);
    assert.equal(runner.on('message', second), runner);
    const starts = [];
    const start = () => starts.push('start');
    assert.equal(runner.observe('turnStart', start), runner);
    assert.equal(
      runner.observeOnce('turnStart', () => starts.push('once')),
      runner,
    );
    await runner.run({ systemPrompt: 'x' });
    assert.deepEqual(heard, ['once', 'first', 'second', 'first', 'third']);
    assert.equal(runner.unobserve('turnStart', start), runner);
    await runner.run({ systemPrompt: 'x' });
    assert.deepEqual(starts, ['start', 'once']);
  });

  it('any number of turns run at once on one runner', async () => {
    const runner = await runnerOf({
      executorCallback: async (ctx, helpers) => {
        await new Promise((resolve) => setImmediate(resolve));
        helpers.reportMessage('m', ctx.stash.get('name'), { isComplete: true });
        ctx.ack();
      },
    });
    const heard = new Map();
    runner.on('message', (e) => heard.set(e.turnId, e.full));
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        runner.run({ systemPrompt: 'x', turnId: `t${i}`, stash: { name: `turn ${i}` } }),
      ),
    );
    assert.deepEqual(
      [...heard].sort(),
      Array.from({ length: 20 }, (_, i) => [`t${i}`, `turn ${i}`]).sort(),
    );
  });

  it('a second start with the id of one that runs attaches to it', async () => {
    let ran = 0;
    const runner = await runnerOf({
      executorCallback: async (ctx) => {
        ran++;
        await new Promise((resolve) => setImmediate(resolve));
        ctx.ack();
      },
    });
    const input = { systemPrompt: 'x', turnId: 'same', message: 'Hello' };
    await Promise.all([runner.run(input), runner.run(input), runner.stream(input).result]);
    assert.equal(ran, 1);
    await runner.run(input);
    assert.equal(ran, 2);
  });
});
