/**
 * Which events a turn gives, and in which order.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TurncoreError } from '../../src/index.js';
import { isTurncoreError, Tool } from '../../src/index.js';
import { codeOf, makeRun, runTurn, script, skip } from './harness.js';

const ack = script((ctx) => ctx.ack());
const sayAndAck = script((ctx, h) => {
  h.reportMessage('m', 'Hi.', { isComplete: true });
  ctx.ack();
});
const around = (inside: string[], end: string): string[] => ['tS', ...inside, `tE(${end})`];

describe('order of events', { skip }, () => {
  it('one iteration that acks', async () => {
    const { names, events } = await runTurn(sayAndAck);
    assert.deepEqual(names, around(['dS', 'iS(0)', 'msg', 'iE(0,ack)', 'dE(ack,1)'], 'ack'));
    assert.deepEqual(
      events.map((e) => e.seq),
      names.map((_, i) => i + 1),
    );
    const turnIds = new Set(events.map((e) => e.turnId));
    assert.equal(turnIds.size, 1);
    const [message] = events.filter((e) => e.event === 'message');
    assert.equal(message?.full, 'Hi.');
    assert.equal(message?.completedAt, message?.updatedAt);
    assert.equal(message?.dispatchId, `${message?.turnId}.d1`);
  });

  it('a tool call, then an answer', async () => {
    const calc = new Tool({
      name: 'calc',
      description: 'adds',
      inputSchema: { type: 'object' },
      handler: () => 3,
    });
    const executor = script(
      async (ctx, h) => {
        h.reportToolCall('c', { tool: 'calc', args: { a: 1 } });
        const results = await calc.executor(ctx)({ a: 1 });
        h.reportToolCall('c', { results, isComplete: true });
      },
      (ctx, h) => {
        h.reportMessage('m', 'three', { isComplete: true });
        ctx.ack();
      },
    );
    const { names, events } = await runTurn(executor, { tools: [calc] });
    const first = ['iS(0)', 'tc(false)', 'xS', 'xE(false)', 'tc(true)', 'iE(0,continue)'];
    const second = ['iS(1)', 'msg', 'iE(1,ack)'];
    assert.deepEqual(names, around(['dS', ...first, ...second, 'dE(ack,2)'], 'ack'));
    const [start] = events.filter((e) => e.event === 'toolExecutionStart');
    const [call] = events.filter((e) => e.event === 'toolCall');
    assert.equal(start?.callId, call?.checksum);
    assert.equal(start?.turnId, events[0]?.turnId);
  });

  it('a nack reports the very error, once', async () => {
    const error = new Error('no');
    const { names, events } = await runTurn(script((ctx) => ctx.nack(error)));
    assert.deepEqual(names, around(['dS', 'iS(0)', 'iE(0,nack)', 'dE(nack,1)', 'err(no)'], 'nack'));
    const [end] = events.filter((e) => e.event === 'dispatchEnd');
    const [reported] = events.filter((e) => e.event === 'error');
    assert.equal(end?.error, error);
    assert.equal(reported?.error, error);
  });

  it('an executor that throws', async () => {
    const cause = new Error('broken');
    const { names, events } = await runTurn(
      script(() => {
        throw cause;
      }),
    );
    const code = 'err(E_LLM_EXECUTION_EXECUTOR_ERROR)';
    assert.deepEqual(names, around(['dS', 'iS(0)', 'iE(0,nack)', 'dE(nack,1)', code], 'nack'));
    const [end] = events.filter((e) => e.event === 'dispatchEnd');
    const [reported] = events.filter((e) => e.event === 'error');
    assert.equal(end?.error, reported?.error);
    assert.ok(isTurncoreError(reported?.error, 'E_LLM_EXECUTION_EXECUTOR_ERROR'));
    assert.equal(reported.error.cause, cause);
    assert.match(reported.error.message, /: broken$/);
  });

  it('thrown values that are no errors keep their text', async () => {
    for (const thrown of ['plain text', { code: 'WASM_ABORT' }]) {
      const { events } = await runTurn(
        script(() => {
          // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is what is tested
          throw thrown;
        }),
      );
      const [reported] = events.filter((e) => e.event === 'error');
      const text = typeof thrown === 'string' ? thrown : 'WASM_ABORT';
      const { message, cause } = reported?.error as Error;
      assert.ok(message.includes(text), message);
      assert.equal((cause as Error).cause, thrown);
    }
  });

  it('an executor that throws after it has acked', async () => {
    const { names } = await runTurn(
      script((ctx) => {
        ctx.ack();
        throw new Error('late');
      }),
    );
    assert.ok(names.includes('dE(nack,1)'), names.join(' '));
  });

  it('turn input middleware that fails, forgets next, or aborts', async () => {
    const cause = new Error('x');
    const failing = await runTurn(ack, {
      turnInputPipeline: [
        () => {
          throw cause;
        },
      ],
    });
    assert.deepEqual(failing.names, around(['err(E_INPUT_PIPELINE_ERROR)'], 'failed'));
    const [reported] = failing.events.filter((e) => e.event === 'error');
    assert.equal((reported?.error as Error).cause, cause);

    const forgetful = await runTurn(ack, { turnInputPipeline: [() => undefined] });
    assert.deepEqual(forgetful.names, around(['err(E_PIPELINE_SHORT_CIRCUITED)'], 'failed'));
    const [short] = forgetful.events.filter((e) => e.event === 'error');
    assert.match((short?.error as Error).message, /turn-input/);

    const aborting = await runTurn(ack, { turnInputPipeline: [(ctx) => ctx.abort()] });
    assert.deepEqual(aborting.names, around([], 'aborted'));
  });

  it('turn output middleware that fails or forgets next', async () => {
    const dispatch = ['dS', 'iS(0)', 'iE(0,ack)', 'dE(ack,1)'];
    const failing = await runTurn(ack, {
      turnOutputPipeline: [() => Promise.reject(new Error('x'))],
    });
    assert.deepEqual(
      failing.names,
      around([...dispatch, 'err(E_OUTPUT_PIPELINE_ERROR)'], 'failed'),
    );
    const forgetful = await runTurn(ack, { turnOutputPipeline: [() => undefined] });
    assert.deepEqual(
      forgetful.names,
      around([...dispatch, 'err(E_PIPELINE_SHORT_CIRCUITED)'], 'failed'),
    );
  });

  it('dispatch middleware that fails', async () => {
    const { names } = await runTurn(ack, {
      dispatchInputPipeline: [() => Promise.reject(new Error('x'))],
    });
    assert.ok(names.includes('err(E_DISPATCH_PIPELINE_ERROR)'), names.join(' '));
    assert.equal(names.filter((n) => n.startsWith('iE')).length, 1);
  });

  it('an aborting middleware runs its post-step; what follows is skipped', async () => {
    const log: string[] = [];
    const { names } = await runTurn(ack, {
      turnInputPipeline: [
        async (ctx, next) => {
          ctx.abort();
          await next();
          log.push('after');
        },
        async (_ctx, next) => {
          log.push('skipped');
          await next();
        },
      ],
    });
    assert.deepEqual(log, ['after']);
    assert.deepEqual(names, around([], 'aborted'));
  });

  it('post-steps run when what follows fails; the error is told once', async () => {
    const log: string[] = [];
    const { names, events } = await runTurn(ack, {
      turnInputPipeline: [
        async (_ctx, next) => {
          await next();
          log.push('post');
          throw new Error('outer');
        },
        () => Promise.reject(new Error('inner')),
      ],
    });
    assert.deepEqual(log, ['post']);
    assert.deepEqual(names, around(['err(E_INPUT_PIPELINE_ERROR)'], 'failed'));
    const [reported] = events.filter((e) => e.event === 'error');
    const { cause } = reported?.error as TurncoreError;
    assert.equal(codeOf(cause), 'inner');
  });

  it('next called twice runs the rest once', async () => {
    let ran = 0;
    const { names } = await runTurn(ack, {
      turnInputPipeline: [
        async (_ctx, next) => {
          await next();
          await next();
        },
        async (_ctx, next) => {
          ran++;
          await next();
        },
      ],
    });
    assert.equal(ran, 1);
    assert.ok(!names.some((n) => n.startsWith('err')), names.join(' '));
  });

  it('one runner, turn after turn and side by side', async () => {
    let input = 0;
    let output = 0;
    const { runner, names } = await makeRun(ack, {
      turnInputPipeline: [(_ctx, next) => (input++, next())],
      turnOutputPipeline: [(_ctx, next) => (output++, next())],
    });
    for (let i = 1; i <= 3; i++) {
      await runner.run({ systemPrompt: 'test' });
      assert.deepEqual([input, output], [i, i]);
    }
    await Promise.all(Array.from({ length: 20 }, () => runner.run({ systemPrompt: 'test' })));
    assert.deepEqual([input, output], [23, 23]);
    assert.equal(names.filter((n) => n === 'tE(ack)').length, 23);
  });

  it('calls made by listeners keep the order', async () => {
    const executor = script((ctx, h) => {
      h.reportMessage('a', '1');
      h.reportMessage('a', '2');
      ctx.ack();
    });
    const run = await makeRun((ctx, h) => {
      run.runner.once('message', () => h.log.info({ kind: 'nested', message: 'x' }));
      return executor(ctx, h);
    });
    await run.runner.run({ systemPrompt: 'test' });
    assert.deepEqual(
      run.events.map((e) => e.seq),
      run.events.map((_, i) => i + 1),
      run.names.join(' '),
    );
  });

  it('listeners are told before the helper returns', async () => {
    const heard: string[] = [];
    const { runner } = await makeRun((ctx, h) => {
      h.reportMessage('m', 'now');
      heard.push('returned');
      ctx.ack();
    });
    runner.on('message', (e) => heard.push(e.aDelta));
    await runner.run({ systemPrompt: 'test' });
    assert.deepEqual(heard, ['now', 'returned']);
  });
});
