/**
 * Dispatches by themselves, and from a context.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type DispatchContext,
  type DispatchInput,
  DispatchRunner,
  Host,
  memoryStore,
  storeCallbacks,
  Tool,
  type TurnContext,
  type TurncoreError,
  type TurnEvent,
} from '../../src/index.js';
import {
  type DispatchCallbacks,
  type RawDispatchContext,
  type RawDispatchFields,
} from '../../src/entries/runners.js';
import {
  codeOf,
  message,
  recordingCallbacks,
  runTurn,
  script,
  short,
  skip,
  testHost,
} from './harness.js';

/** A raw context whose callbacks do nothing. */
type Raw = RawDispatchFields & DispatchCallbacks;

function raw(more: Partial<Raw> = {}, writes: string[] = []): Raw {
  const callbacks = Object.entries(recordingCallbacks(writes)).map(
    ([name, fn]) => [name.replace(/Callback$/, ''), fn] as const,
  );
  return { systemPrompt: 'test', ...Object.fromEntries(callbacks), ...more } as Raw;
}

const observed = [
  'dispatchStart',
  'dispatchEnd',
  'iterationStart',
  'iterationEnd',
  'error',
  'log',
] as const;

/** Runs a raw dispatch and returns the names of its events. */
async function dispatch(
  input: Partial<DispatchInput>,
): Promise<{ names: string[]; events: TurnEvent[]; error: unknown; outcome: unknown }> {
  const events: TurnEvent[] = [];
  const keep = (told: unknown, event = told): void => void events.push(event as TurnEvent);
  const handlers = Object.fromEntries(observed.map((name) => [name, keep]));
  let error: unknown;
  const outcome = await DispatchRunner.dispatch({
    raw: raw(),
    executor: (ctx) => ctx.ack(),
    observers: handlers,
    hooks: { message: [keep] },
    host: await testHost(),
    ...input,
  }).catch((caught: unknown) => {
    error = caught;
  });
  return { names: events.map(short), events, error, outcome };
}

describe('standalone dispatch', { skip }, () => {
  it('loops until an output middleware acks', async () => {
    const seen: number[] = [];
    let executed = 0;
    const { names, outcome, events } = await dispatch({
      executor: () => {
        executed++;
      },
      turnInputPipeline: [(ctx, next) => (seen.push(ctx.iteration), next())],
      turnOutputPipeline: [
        (ctx, next) => {
          if (ctx.iteration >= 1) ctx.ack();
          return next();
        },
      ],
    });
    assert.deepEqual(seen, [0, 1]);
    assert.equal(executed, 2);
    const expected = ['dS', 'iS(0)', 'iE(0,continue)', 'iS(1)', 'iE(1,ack)', 'dE(ack,2)'];
    assert.deepEqual(names, expected);
    const [first] = events;
    assert.equal('turnId' in first!, false);
    assert.deepEqual(outcome, { dispatchId: first!.dispatchId, status: 'ack', iterations: 2 });
  });

  it('rejects with what it was nacked with, and with what failed it', async () => {
    const error = new Error('no');
    const nacked = await dispatch({ executor: (ctx) => ctx.nack(error) });
    assert.equal(nacked.error, error);
    assert.deepEqual(nacked.names, ['dS', 'iS(0)', 'iE(0,nack)', 'err(no)', 'dE(nack,1)']);
    const failed = await dispatch({
      executor: () => {
        throw error;
      },
    });
    assert.equal(codeOf(failed.error), 'E_LLM_EXECUTION_EXECUTOR_ERROR');
    assert.equal((failed.error as Error).cause, error);
    const bare = await dispatch({ executor: (ctx) => ctx.nack() });
    assert.ok(bare.error instanceof Error);
  });

  it('begins with what raw gives, and commits to it', async () => {
    const writes: string[] = [];
    const seen: unknown[] = [];
    const tool = new Tool({
      name: 't',
      description: 't',
      inputSchema: { type: 'object' },
      handler: () => 'ok',
    });
    const context: { ctx?: DispatchContext } = {};
    await dispatch({
      raw: raw(
        {
          messages: [message('a'), message('b')],
          standingInstructions: ['brief'],
          stash: { k: [1] },
          tools: [tool],
          fetchMessages: (ctx) => {
            assert.equal(ctx, context.ctx);
            return [message('f')];
          },
        },
        writes,
      ),
      executor: async (ctx) => {
        context.ctx = ctx;
        seen.push(
          [...ctx.turnMessages].map((m) => m.id),
          [...ctx.standingInstructions].join(),
          ctx.stash.get('k.0'),
          ctx.tools.has('t'),
          await tool.executor(ctx)({}),
          (await ctx.fetchMessages()).length,
        );
        await ctx.storeMessage(message('c'));
        seen.push(ctx.turnMessages.size);
        ctx.ack();
      },
    });
    assert.deepEqual(seen, [['a', 'b'], 'brief', 1, true, 'ok', 1, 3]);
    assert.deepEqual(writes, ['storeMessage c']);
  });

  it('streams to hooks', async () => {
    const { events } = await dispatch({
      executor: (ctx, h) => {
        h.reportMessage('m', 'x', { isComplete: true });
        ctx.ack();
      },
    });
    assert.equal(events.filter((e) => e.event === 'message').length, 1);
  });

  it('follows its abort controller', async () => {
    const controller = new AbortController();
    const { names, error } = await dispatch({
      raw: raw({ turnAbortController: controller }),
      executor: (ctx) => {
        controller.abort();
        assert.equal(ctx.aborted, true);
      },
    });
    assert.equal(error, undefined);
    assert.equal(names.at(-1), 'dE(aborted,1)');
  });

  it('refuses input before any event', async () => {
    const { storeMessage: _, ...incomplete } = raw();
    const missing = await dispatch({ raw: incomplete as RawDispatchContext });
    assert.equal(codeOf(missing.error), 'E_INVALID_LLM_EXECUTION_CONTEXT');
    assert.match((missing.error as Error).message, /storeMessage/);
    const neither = await dispatch({ raw: undefined });
    assert.equal(codeOf(neither.error), 'E_INVALID_LLM_DISPATCH_INPUT');
    const unknown = await dispatch({ hooks: { nonsense: () => 1 } as never });
    assert.equal(codeOf(unknown.error), 'E_INVALID_LLM_DISPATCH_INPUT');
    for (const { names } of [missing, neither, unknown]) assert.deepEqual(names, []);
  });

  it('lists all that is wrong with hooks and observers, beside what else is', async () => {
    const bad = await dispatch({
      executor: undefined as never,
      hooks: { nonsense: () => 1, message: 5, thought: [() => 1, null, 'x'] } as never,
      observers: { turnStart: () => 1, log: {} } as never,
    });
    assert.equal(codeOf(bad.error), 'E_INVALID_LLM_DISPATCH_INPUT');
    assert.deepEqual((bad.error as TurncoreError).details, [
      '`executor` is required',
      '`hooks`: unknown event name "nonsense"; must be one of "message", "thought", "toolCall"',
      '`hooks.message` must be a function',
      '`hooks.thought[1]` must be a function',
      '`hooks.thought[2]` must be a function',
      '`observers`: unknown event name "turnStart"; must be one of "dispatchStart", "dispatchEnd", ' +
        '"iterationStart", "iterationEnd", "toolExecutionStart", "toolExecutionEnd", "turnGateOpen", ' +
        '"turnGateClosed", "error", "log", "warning", "generationStats", "modelCallStart", "modelCallEnd"',
      '`observers.log` must be a function',
    ]);
    const { storeMessage: _, ...incomplete } = raw({ hooks: { toolCall: 1 } as never });
    const context = await dispatch({ raw: incomplete as RawDispatchContext });
    assert.equal(codeOf(context.error), 'E_INVALID_LLM_EXECUTION_CONTEXT');
    assert.match((context.error as Error).message, /storeMessage.*hooks\.toolCall/);
    for (const { names } of [bad, context]) assert.deepEqual(names, []);
  });

  it('calls a handler that is listed twice once', async () => {
    const calls: string[] = [];
    const first = (): void => void calls.push('first');
    const second = (): void => void calls.push('second');
    const { error } = await dispatch({
      raw: raw({ hooks: { message: first } }),
      hooks: { message: [second, first, second], thought: first },
      executor: (ctx, helpers) => {
        helpers.reportMessage('m', 'x');
        helpers.reportThought('t', 'x');
        ctx.ack();
      },
    });
    assert.equal(error, undefined);
    assert.deepEqual(calls, ['first', 'second', 'first']);
  });

  it('many share one host', async () => {
    const host = new Host(await testHost());
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        DispatchRunner.dispatch({
          raw: raw(),
          host,
          executor: async (ctx) => {
            await new Promise((resolve) => setTimeout(resolve, i % 5));
            if (ctx.iteration === i % 3) ctx.ack();
          },
        }),
      ),
    );
    assert.deepEqual(
      results.map((r) => r.iterations),
      results.map((_, i) => (i % 3) + 1),
    );
  });
});

describe('dispatch from a context', { skip }, () => {
  it('commits to the turn, and its events reach the turn', async () => {
    const hooked: string[] = [];
    let size = 0;
    const { names, writes } = await runTurn(
      script((ctx) => ctx.ack()),
      {
        turnInputPipeline: [
          async (ctx: TurnContext, next) => {
            const { status } = await DispatchRunner.dispatch({
              source: ctx,
              executor: async (inner, h) => {
                h.reportMessage('m', 'inner', { isComplete: true });
                await inner.storeMessage(message('a'));
                inner.ack();
              },
              hooks: { message: (e) => hooked.push(e.full) },
            });
            assert.equal(status, 'ack');
            size = ctx.turnMessages.size;
            await next();
          },
        ],
      },
    );
    assert.deepEqual(hooked, ['inner']);
    assert.equal(size, 1);
    assert.deepEqual(writes, ['storeMessage a']);
    assert.deepEqual(names.slice(0, 6), ['tS', 'dS', 'iS(0)', 'msg', 'iE(0,ack)', 'dE(ack,1)']);
    assert.equal(names.filter((n) => n === 'dS').length, 2);
  });

  it('inside a dispatch its writes share that one’s fate', async () => {
    const inner = async (ctx: DispatchContext): Promise<void> => {
      await DispatchRunner.dispatch({
        source: ctx,
        executor: async (deep) => {
          await deep.storeMessage(message('deep'));
          deep.ack();
        },
      });
    };
    const kept = await runTurn(async (ctx) => {
      await inner(ctx);
      assert.equal(ctx.turnMessages.size, 1);
      ctx.ack();
    });
    assert.deepEqual(kept.writes, ['storeMessage deep']);
    const lost = await runTurn(async (ctx) => {
      await inner(ctx);
      ctx.nack(new Error('x'));
    });
    assert.deepEqual(lost.writes, []);
  });

  it('from the turn inside its own iteration is refused', async () => {
    let turn: TurnContext | undefined;
    let code = '';
    await runTurn(
      async (ctx) => {
        await DispatchRunner.dispatch({ source: turn!, executor: (c) => c.ack() }).catch(
          (error: unknown) => (code = codeOf(error)),
        );
        ctx.ack();
      },
      { turnInputPipeline: [(ctx, next) => ((turn = ctx), next())] },
    );
    assert.equal(code, 'E_INVALID_LLM_DISPATCH_INPUT');
    await assert.rejects(DispatchRunner.dispatch({ source: turn!, executor: (c) => c.ack() }), {
      code: 'E_CALL_AFTER_END',
    });
  });

  it('take the callbacks of a store, as a runner does', async () => {
    const store = memoryStore();
    const { status } = await DispatchRunner.dispatch({
      raw: { ...storeCallbacks(store), systemPrompt: 'test', standingInstructions: ['be brief'] },
      executor: async (ctx) => {
        await ctx.mutateStandingInstruction('be brief', 'be very brief');
        await ctx.storeMessage(message('m'));
        ctx.ack();
      },
      host: await testHost(),
    });
    assert.equal(status, 'ack');
    const kept = await store.load('default');
    assert.deepEqual(
      [...kept.messages].map((m) => m.id),
      ['m'],
    );
  });
});
