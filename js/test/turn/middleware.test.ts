/**
 * The middleware that the module has compiled in: bounds, budgets and spending.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  ackOnNoToolCalls,
  deadline,
  type DispatchContext,
  type DispatchPipelineMiddlewareFn,
  DispatchRunner,
  maxIterations,
  maxRepeats,
  spendLimit,
  tokenBudget,
  ToolCall,
  TurnRunner,
  type TurnPipelineMiddlewareFn,
} from '../../src/index.js';
import { systemClock } from '../../src/entries/host.js';
import { codeOf, message, recordingCallbacks, runTurn, skip, testHost } from './harness.js';

/** A tool call that was made with certain arguments. */
function call(id: string, checksum: string): ToolCall {
  const at = { createdAt: 1, updatedAt: 1, completedAt: 1 };
  return new ToolCall({
    id,
    tool: 'calc',
    args: {},
    checksum,
    results: 'r',
    isComplete: true,
    isError: false,
    ...at,
  });
}

describe('middleware of the module', { skip }, () => {
  it('works where it stands in a pipeline, among functions of the host', async () => {
    const order: string[] = [];
    const note =
      (name: string): DispatchPipelineMiddlewareFn =>
      (_ctx, next) => {
        order.push(name);
        return next();
      };
    let calls = 0;
    const { names } = await runTurn(
      async (ctx) => {
        calls++;
        if (calls < 3) await ctx.storeToolCall(call(`c${calls}`, 'same'));
        else await ctx.storeMessage(message('m'));
      },
      {
        dispatchInputPipeline: [note('a'), maxIterations(5), note('b')],
        dispatchOutputPipeline: [maxRepeats(2), note('c'), ackOnNoToolCalls(), note('d')],
      },
    );
    assert.equal(names.at(-1), 'tE(ack)');
    assert.equal(order.join(''), 'abcdabcdabcd');
  });

  it('maxRepeats ends a dispatch that repeats itself', async () => {
    let n = 0;
    const { names, writes } = await runTurn((ctx) => ctx.storeToolCall(call(`c${++n}`, 'same')), {
      dispatchOutputPipeline: [maxRepeats(2)],
    });
    assert.equal(n, 3);
    assert.deepEqual(writes, ['storeToolCall c1', 'storeToolCall c2']);
    assert.deepEqual(names.slice(-3), ['dE(nack,3)', 'err(E_MAX_REPEATS)', 'tE(nack)']);
  });

  it('a deadline aborts what runs, with its error as the reason', async () => {
    const host = await testHost({ clock: systemClock });
    const reasons: unknown[] = [];
    const { names } = await runTurn(
      async (ctx) => {
        await new Promise((_, reject) => {
          ctx.abortSignal.addEventListener('abort', () => {
            reasons.push(ctx.abortSignal.reason, ctx.isSignalled, ctx.nackError);
            reject(ctx.abortSignal.reason as Error);
          });
        });
      },
      { host, dispatchInputPipeline: [deadline(20)] },
    );
    assert.deepEqual(names.slice(-3), ['dE(nack,1)', 'err(E_DEADLINE)', 'tE(nack)']);
    assert.equal(codeOf(reasons[0]), 'E_DEADLINE');
    assert.equal(reasons[1], true);
    assert.equal(reasons[2], reasons[0]);
  });

  it('a token budget sheds what is oldest, in the dispatch only', async () => {
    const seen: string[] = [];
    let kept = 0;
    const load: TurnPipelineMiddlewareFn = (ctx, next) => {
      for (let i = 0; i < 5; i++) ctx.turnMessages.add(message(`m${i}`, 'user', 'x'.repeat(35)));
      return next();
    };
    const config = {
      turnInputPipeline: [load],
      turnOutputPipeline: [
        ((ctx, next) => {
          kept = ctx.turnMessages.size;
          return next();
        }) satisfies TurnPipelineMiddlewareFn,
      ],
      dispatchInputPipeline: [tokenBudget({ encoding: 'claude', limit: 132, reserve: 100 })],
    };
    const executor = (ctx: DispatchContext): void => {
      seen.push(...[...ctx.turnMessages].map((m) => m.id));
      ctx.ack();
    };
    await runTurn(executor, config);
    assert.deepEqual(seen, ['m2', 'm3', 'm4']);
    assert.equal(kept, 5);
    const { events } = await runTurn(executor, config, { systemPrompt: 'long'.repeat(30) });
    const failure = events.find((event) => event.event === 'error')!;
    assert.equal(codeOf(failure.error), 'E_TOKEN_BUDGET');
    assert.match(String(failure.error), /45 tokens are needed, 32 are available/);
    assert.deepEqual((failure.error as { details?: unknown }).details, {
      needed: 45,
      available: 32,
    });
  });

  it('a spend limit prices what executors report', async () => {
    for (const [model, code] of [
      ['m', 'E_SPEND_LIMIT'],
      ['n', 'E_SPEND_UNKNOWN_PRICE'],
    ] as const) {
      const { names } = await runTurn(
        (_ctx, helpers) => {
          const usage = { model, promptTokens: 500_000, completionTokens: 250_000 };
          helpers.reportGenerationStats(usage);
        },
        {
          dispatchInputPipeline: [
            spendLimit({ limit: 2, currency: 'EUR', prices: { m: { input: 1, output: 3 } } }),
          ],
        },
      );
      assert.deepEqual(names.slice(-2), [`err(${code})`, 'tE(nack)']);
    }
  });

  it('is refused in a pipeline where it does not belong', async () => {
    const budget = tokenBudget({ encoding: 'claude', limit: 5 });
    assert.throws(
      () =>
        new TurnRunner({
          ...recordingCallbacks(),
          executorCallback: (ctx) => ctx.ack(),
          turnInputPipeline: [deadline(1) as unknown as TurnPipelineMiddlewareFn],
          dispatchInputPipeline: [maxRepeats(1), ackOnNoToolCalls()],
          dispatchOutputPipeline: [maxRepeats(1), budget],
        }),
      {
        code: 'E_INVALID_TURN_RUNNER_CONFIG',
        details: [
          '`turnInputPipeline[0]` cannot be deadline, which belongs in dispatchInputPipeline',
          '`dispatchInputPipeline[1]` cannot be ackOnNoToolCalls, which belongs in dispatchOutputPipeline',
          '`dispatchOutputPipeline[1]` cannot be tokenBudget, which belongs in dispatchInputPipeline',
        ],
      },
    );
    let refused: unknown;
    await runTurn(async (ctx) => {
      refused = await DispatchRunner.dispatch({
        source: ctx,
        executor: (inner) => inner.ack(),
        turnOutputPipeline: [budget],
      }).catch((error: unknown) => error);
      ctx.ack();
    });
    assert.equal(codeOf(refused), 'E_INVALID_LLM_DISPATCH_INPUT');
  });

  it('runs as an entry of a pipeline only, but for maxIterations', async () => {
    const wrap =
      (inner: DispatchPipelineMiddlewareFn): DispatchPipelineMiddlewareFn =>
      (ctx, next) =>
        inner(ctx, next);
    const bounded = await runTurn(() => undefined, {
      dispatchInputPipeline: [wrap(maxIterations(2))],
    });
    assert.deepEqual(bounded.names.slice(-2), ['err(E_MAX_ITERATIONS)', 'tE(nack)']);
    const { events } = await runTurn(() => undefined, {
      dispatchInputPipeline: [wrap(deadline(1000))],
    });
    const failure = events.find((event) => event.event === 'error')!;
    assert.equal(codeOf((failure.error as Error).cause), 'E_INVALID_OPTIONS');
  });

  it('refuses options that break a rule, by their names', () => {
    const price = { m: { input: 1, output: 1 } };
    const bad: [() => unknown, string][] = [
      [() => maxIterations(0), 'maxIterations'],
      [() => maxRepeats(1.5), 'maxRepeats'],
      [() => deadline(Infinity), 'deadline'],
      [() => tokenBudget(7 as never), 'tokenBudget'],
      [() => tokenBudget({ encoding: '', limit: 1 }), 'tokenBudget.encoding'],
      [() => tokenBudget({ encoding: 'e', limit: -1 }), 'tokenBudget.limit'],
      [() => tokenBudget({ encoding: 'e', limit: 5, reserve: 5 }), 'tokenBudget.reserve'],
      [() => tokenBudget({ encoding: 'e', limit: 5, kept: 1 } as never), 'tokenBudget.kept'],
      [() => spendLimit({ limit: NaN, prices: price }), 'spendLimit.limit'],
      [() => spendLimit({ limit: 1 } as never), 'spendLimit.prices'],
      [() => spendLimit({ limit: 1, prices: {} }), 'spendLimit.prices'],
      [() => spendLimit({ limit: 1, prices: price, currency: 5 as never }), 'spendLimit.currency'],
      [() => spendLimit({ limit: 1, prices: { m: { input: 1 } as never } }), 'spendLimit.prices.m'],
    ];
    for (const [make, field] of bad) {
      assert.throws(make, { code: 'E_INVALID_VALUE', details: { field } });
    }
  });
});
