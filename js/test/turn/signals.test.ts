/**
 * ack, nack and abort, wherever they come from.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DispatchContext, maxIterations, Tool, ToolRegistry } from '../../src/index.js';
import { message, runTurn, script, skip } from './harness.js';

describe('signals', { skip }, () => {
  it('a second signal throws', async () => {
    const codes: unknown[] = [];
    const again = (run: () => void): void => {
      try {
        run();
      } catch (error) {
        codes.push((error as { code: string }).code);
      }
    };
    await runTurn((ctx) => {
      ctx.ack();
      again(() => ctx.ack());
      again(() => ctx.nack(new Error('x')));
      assert.deepEqual([ctx.isSignalled, ctx.isAcked, ctx.nackError], [true, true, undefined]);
    });
    await runTurn((ctx) => {
      const error = new Error('x');
      ctx.nack(error);
      again(() => ctx.ack());
      assert.deepEqual([ctx.isSignalled, ctx.isAcked, ctx.nackError], [true, false, error]);
    });
    assert.deepEqual(codes, Array(3).fill('E_LLM_EXECUTION_ALREADY_SIGNALLED'));
  });

  it('ack handlers run in order before ack returns, on ack only', async () => {
    const log: string[] = [];
    await runTurn((ctx) => {
      ctx.onAck(() => log.push('a'));
      ctx.onAck(() => {
        log.push('b');
        throw new Error('swallowed');
      });
      const unsubscribe = ctx.onAck(() => log.push('never'));
      ctx.onAck(() => log.push('c'));
      unsubscribe();
      ctx.ack();
      log.push('acked');
    });
    await runTurn((ctx) => {
      ctx.ack();
      ctx.onAck(() => log.push('too late'));
    });
    await runTurn((ctx) => {
      ctx.onAck(() => log.push('on nack'));
      ctx.nack(new Error('x'));
    });
    assert.deepEqual(log, ['a', 'b', 'c', 'acked']);
  });

  it('a registry that is bound to a context is pruned on ack only', async () => {
    const sizes: number[] = [];
    const run = async (end: (ctx: DispatchContext, unbind: () => void) => void): Promise<void> => {
      const registry = new ToolRegistry([
        new Tool({
          name: 'gone',
          description: 'x',
          inputSchema: { type: 'object' },
          ephemeral: true,
          handler: () => 1,
        }),
      ]);
      await runTurn((ctx) => end(ctx, registry.bindContext(ctx)));
      sizes.push(registry.size);
    };
    await run((ctx) => ctx.ack());
    await run((ctx) => ctx.nack(new Error('x')));
    await run((ctx, unbind) => {
      unbind();
      ctx.ack();
    });
    assert.deepEqual(sizes, [0, 1, 1]);
  });

  it('the output pipeline runs after an ack of the executor, not after a nack', async () => {
    let ran = 0;
    const dispatchOutputPipeline = [(_ctx: unknown, next: () => Promise<void>) => (ran++, next())];
    await runTurn(
      script((ctx) => ctx.ack()),
      { dispatchOutputPipeline },
    );
    assert.equal(ran, 1);
    await runTurn(
      script((ctx) => ctx.nack(new Error('x'))),
      { dispatchOutputPipeline },
    );
    assert.equal(ran, 1);
  });

  it('an ack in an input middleware skips the executor, not the rest of the pipeline', async () => {
    const log: string[] = [];
    const { names } = await runTurn(() => void log.push('executor'), {
      dispatchInputPipeline: [
        (ctx, next) => {
          ctx.ack();
          return next();
        },
        (_ctx, next) => {
          log.push('second');
          return next();
        },
      ],
      dispatchOutputPipeline: [(_ctx, next) => (log.push('output'), next())],
    });
    assert.deepEqual(log, ['second']);
    assert.ok(names.includes('iE(0,ack)') && names.includes('dE(ack,1)'), names.join(' '));
  });

  it('a second signal out of an output middleware is a warning', async () => {
    const { names } = await runTurn(
      script((ctx) => ctx.ack()),
      {
        dispatchOutputPipeline: [
          (ctx, next) => {
            ctx.nack(new Error('too late'));
            return next();
          },
        ],
      },
    );
    assert.ok(names.includes('warn(already-signalled)'), names.join(' '));
    assert.equal(names.at(-1), 'tE(ack)');
  });

  it('the nack of a built-in middleware shows in the middleware behind it', async () => {
    const seen: unknown[] = [];
    let acked = 0;
    const { events } = await runTurn(() => undefined, {
      dispatchInputPipeline: [
        maxIterations(2),
        (ctx, next) => {
          ctx.onAck(() => (acked += 1));
          assert.equal(ctx.isSignalled, ctx.iteration === 2);
          assert.equal(ctx.isAcked, false);
          seen.push(ctx.nackError);
          return next();
        },
      ],
    });
    const [end] = events.filter((e) => e.event === 'dispatchEnd');
    assert.equal((end?.error as { code: string }).code, 'E_MAX_ITERATIONS');
    assert.deepEqual(seen, [undefined, undefined, end?.error]);
    assert.equal(seen[2], end?.error);
    assert.equal(acked, 0);
  });

  it('a loop is bounded by middleware', async () => {
    const { names } = await runTurn(() => undefined, { dispatchInputPipeline: [maxIterations(3)] });
    assert.ok(names.includes('err(E_MAX_ITERATIONS)'), names.join(' '));
    assert.equal(names.filter((n) => n.endsWith(',continue)')).length, 3);
    assert.equal(names.at(-1), 'tE(nack)');
  });
});

describe('abort', { skip }, () => {
  it('before the start: nothing of the user runs', async () => {
    const controller = new AbortController();
    controller.abort();
    let ran = 0;
    const { names } = await runTurn(
      () => {
        ran++;
      },
      { turnInputPipeline: [(_ctx, next) => (ran++, next())] },
      { turnAbortController: controller },
    );
    assert.equal(ran, 0);
    assert.deepEqual(names, ['tS', 'tE(aborted)']);
  });

  it('while the executor runs: no error, no output pipeline', async () => {
    const controller = new AbortController();
    let output = 0;
    const { names } = await runTurn(
      async (ctx) => {
        setImmediate(() => controller.abort(new Error('enough')));
        await new Promise((_resolve, reject) => {
          ctx.abortSignal.addEventListener('abort', () => reject(ctx.abortSignal.reason as Error));
        });
      },
      { turnOutputPipeline: [(_ctx, next) => (output++, next())] },
      { turnAbortController: controller },
    );
    assert.equal(output, 0);
    assert.deepEqual(names, ['tS', 'dS', 'iS(0)', 'iE(0,aborted)', 'dE(aborted,1)', 'tE(aborted)']);
  });

  it('a DOM AbortError counts as the abort only when the context is aborted', async () => {
    const aborted = await runTurn((ctx) => {
      ctx.abort();
      throw new DOMException('stopped', 'AbortError');
    });
    assert.equal(aborted.names.at(-1), 'tE(aborted)');
    assert.ok(!aborted.names.some((n) => n.startsWith('err')), aborted.names.join(' '));
    const plain = await runTurn(() => {
      throw new DOMException('stopped', 'AbortError');
    });
    assert.ok(plain.names.includes('err(E_LLM_EXECUTION_EXECUTOR_ERROR)'), plain.names.join(' '));
  });

  it('of the dispatch alone leaves the turn as it is', async () => {
    let turn: boolean | undefined;
    const { names } = await runTurn(
      (ctx) => {
        ctx.abort(new Error('this one'));
        assert.equal(ctx.aborted, true);
        assert.equal((ctx.abortSignal.reason as Error).message, 'this one');
      },
      {
        turnInputPipeline: [
          async (ctx, next) => {
            await next();
            turn = ctx.aborted;
          },
        ],
      },
    );
    assert.equal(turn, false);
    assert.ok(names.includes('dE(aborted,1)'), names.join(' '));
  });

  it('of the turn reaches the signals of its dispatches', async () => {
    const controller = new AbortController();
    const seen: unknown[] = [];
    await runTurn(
      (ctx) => {
        const before = ctx.abortSignal;
        controller.abort('reason');
        seen.push(before.aborted, before.reason, ctx.aborted);
      },
      {},
      { turnAbortController: controller },
    );
    assert.deepEqual(seen, [true, 'reason', true]);
  });

  it('discards what the iteration wrote', async () => {
    const { writes, events } = await runTurn(async (ctx) => {
      await ctx.storeMessage(message('lost'));
      ctx.abort();
    });
    assert.deepEqual(writes, []);
    const [end] = events.filter((e) => e.event === 'iterationEnd');
    assert.deepEqual(end?.discarded, [{ op: 'store', kind: 'message', id: 'lost' }]);
  });
});
