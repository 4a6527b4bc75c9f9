/**
 * What a runner and a turn refuse, before anything happens.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTurncoreError, Tool, TurnRunner, type TurnRunnerConfig } from '../../src/index.js';
import { makeRun, recordingCallbacks, runTurn, script, skip, testHost } from './harness.js';

const ack = script((ctx) => ctx.ack());

describe('configuration', () => {
  it('lists every violation', () => {
    const { storeMessageCallback: _, ...config } = recordingCallbacks();
    const bad = {
      ...config,
      executorCallback: ack,
      deleteMemoryCallback: (_a: unknown, _b: unknown, _c: unknown) => undefined,
      tools: [{}],
      surprise: 1,
    } as unknown as TurnRunnerConfig;
    assert.throws(
      () => new TurnRunner(bad),
      (error) => {
        assert.ok(isTurncoreError(error, 'E_INVALID_TURN_RUNNER_CONFIG'));
        assert.equal(error.status, 529);
        for (const field of [
          'storeMessageCallback',
          'deleteMemoryCallback',
          'tools[0]',
          'surprise',
        ]) {
          assert.ok(error.message.includes(field), `${field}: ${error.message}`);
        }
        return true;
      },
    );
    assert.throws(() => new TurnRunner(undefined as never), {
      code: 'E_INVALID_TURN_RUNNER_CONFIG',
    });
  });

  it('takes the older names of the dispatch pipelines, but not both', async () => {
    const seen: string[] = [];
    const { names } = await runTurn(ack, {
      llmInputMiddleware: [(_ctx, next) => (seen.push('in'), next())],
      llmOutputMiddleware: [(_ctx, next) => (seen.push('out'), next())],
    });
    assert.deepEqual(seen, ['in', 'out']);
    assert.ok(names.includes('dE(ack,1)'));
    assert.throws(
      () =>
        new TurnRunner({
          ...recordingCallbacks(),
          executorCallback: ack,
          llmInputMiddleware: [],
          dispatchInputPipeline: [],
        }),
      { code: 'E_INVALID_TURN_RUNNER_CONFIG' },
    );
  });
});

describe('input of a turn', { skip }, () => {
  it('is refused before any event', async () => {
    for (const input of [{ systemPrompt: '' }, {}, { systemPrompt: 'x', other: 1 }]) {
      const { runner, names } = await makeRun(ack);
      await assert.rejects(runner.run(input as never), { code: 'E_INVALID_TURN_CONTEXT' });
      assert.deepEqual(names, []);
    }
  });

  it('two tools of one name are refused before any event', async () => {
    const tool = (): Tool =>
      new Tool({ name: 'x', description: 'x', inputSchema: { type: 'object' }, handler: () => 1 });
    const { runner, names } = await makeRun(ack, { tools: [tool(), tool()] });
    await assert.rejects(runner.run({ systemPrompt: 'test' }), {
      code: 'E_TOOL_ALREADY_REGISTERED',
    });
    assert.deepEqual(names, []);
  });

  it('fills in what is absent', async () => {
    let seen: unknown[] = [];
    await runTurn((ctx) => {
      seen = [
        ctx.systemPrompt.toString(),
        ctx.stash.all(),
        ctx.standingInstructions.size,
        ctx.aborted,
      ];
      ctx.ack();
    });
    assert.deepEqual(seen, ['test', {}, 0, false]);
  });

  it('stores the message before the input pipeline runs', async () => {
    const log: string[] = [];
    const { writes } = await runTurn(
      ack,
      {
        turnInputPipeline: [
          (ctx, next) => {
            for (const m of ctx.turnMessages) log.push(`${m.role}: ${String(m.content)}`);
            return next();
          },
        ],
      },
      { message: 'hello', turnId: 't1', standingInstructions: ['be brief'] },
    );
    assert.deepEqual(log, ['user: hello']);
    assert.deepEqual(writes, ['storeMessage t1.user']);
  });

  it('a second start with a live id attaches', async () => {
    let ran = 0;
    const { runner, names } = await makeRun(async (ctx) => {
      ran++;
      await new Promise((resolve) => setImmediate(resolve));
      ctx.ack();
    });
    const both = [1, 2].map(() => runner.run({ systemPrompt: 'test', turnId: 'same' }));
    await Promise.all(both);
    assert.equal(ran, 1);
    assert.equal(names.filter((n) => n === 'tS').length, 1);
    await runner.run({ systemPrompt: 'test', turnId: 'same' });
    assert.equal(ran, 2);
  });

  it('a module that cannot be loaded rejects the run', async () => {
    const runner = new TurnRunner({
      ...recordingCallbacks(),
      executorCallback: ack,
      host: { ...(await testHost()), module: Uint8Array.of(1, 2, 3) },
    });
    await assert.rejects(runner.run({ systemPrompt: 'test' }), { code: 'E_INVALID_MODULE' });
  });
});
