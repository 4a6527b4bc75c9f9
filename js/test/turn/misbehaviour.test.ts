/**
 * User code that does not keep its part: whatever it does, its turn ends once and the instance goes on.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type DispatchContext,
  type DispatchExecutorHelpers,
  Host,
  Tool,
  type TurnRunnerConfig,
} from '../../src/index.js';
import { codeOf, makeRun, message, type Run, skip, testHost } from './harness.js';

/** Ways to go wrong: each makes a function that is called in place of a good one. */
const ways: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('thrown');
  },
  rejects: () => Promise.reject(new Error('rejected')),
  'throws text': () => {
    throw 'RET_CHECK failure'; // eslint-disable-line @typescript-eslint/only-throw-error -- what is tested
  },
  'throws an object': () => {
    throw { code: 'WASM_ABORT' }; // eslint-disable-line @typescript-eslint/only-throw-error -- what is tested
  },
  'throws undefined': () => {
    throw undefined; // eslint-disable-line @typescript-eslint/only-throw-error -- what is tested
  },
  'rejects with a symbol': () => Promise.reject(Symbol('s')), // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- what is tested
  'throws an error that cannot be read': () => {
    throw Object.defineProperties(new Error('x'), {
      message: { get: boom },
      name: { get: boom },
      code: { get: boom },
      cause: { get: boom },
    });
  },
  'throws a proxy that throws': () => {
    throw new Proxy({}, { get: boom, getPrototypeOf: boom, ownKeys: boom, has: boom }); // eslint-disable-line @typescript-eslint/only-throw-error -- what is tested
  },
  'throws an error that causes itself': () => {
    const error = new Error('round');
    error.cause = error;
    throw error;
  },
  'gives a thenable whose then cannot be read': () =>
    Object.defineProperty({}, 'then', { get: boom }),
  'gives a thenable that throws': () => ({ then: boom }),
  'gives a thenable that settles twice': () => ({
    then: (yes: () => void, no: (e: unknown) => void) => {
      no(new Error('first'));
      yes();
      no(new Error('again'));
    },
  }),
};

function boom(): never {
  throw new Error('boom');
}

/** Places for user code: each gives the configuration of a turn that calls it there. */
const places: Readonly<
  Record<string, (bad: () => unknown) => Partial<TurnRunnerConfig> & { executor?: Executor }>
> = {
  executor: (bad) => ({ executor: bad }),
  'turn input middleware': (bad) => ({ turnInputPipeline: [bad as never] }),
  'turn output middleware': (bad) => ({ turnOutputPipeline: [bad as never] }),
  'dispatch input middleware': (bad) => ({ dispatchInputPipeline: [bad as never] }),
  'dispatch output middleware': (bad) => ({ dispatchOutputPipeline: [bad as never] }),
  'storage callback': (bad) => ({ storeMessageCallback: bad }),
  'commit callback': (bad) => ({ commitCallback: bad }),
  'discard callback': (bad) => ({
    discardCallback: bad,
    executor: async (ctx) => {
      await ctx.storeMessage(message('m'));
      ctx.nack(new Error('no'));
    },
  }),
  'tool handler': (bad) => ({
    executor: async (ctx) => {
      await new Tool({
        name: 't',
        description: 't',
        inputSchema: { type: 'object' },
        handler: bad,
      }).executor(ctx)({});
      ctx.ack();
    },
  }),
};

type Executor = (ctx: DispatchContext, helpers: DispatchExecutorHelpers) => unknown;

const good: Executor = async (ctx) => {
  await ctx.storeMessage(message('m'));
  ctx.ack();
};

async function play(host: Host, config: ReturnType<(typeof places)[string]>): Promise<Run> {
  const { executor = good, ...rest } = config;
  const run = await makeRun(executor as never, { host, ...rest });
  await run.runner.run({ systemPrompt: 'test' });
  return run;
}

function assertEnded(run: Run, where: string): void {
  const { names } = run;
  assert.equal(names.filter((n) => n.startsWith('tE')).length, 1, `${where}: ${names.join(' ')}`);
  assert.ok(names.at(-1)?.startsWith('tE'), `${where}: ${names.join(' ')}`);
  for (const [begin, end] of ['dS dE', 'iS iE', 'xS xE'].map((p) => p.split(' '))) {
    const count = (prefix: string): number => names.filter((n) => n.startsWith(prefix)).length;
    assert.equal(count(begin!), count(end!), `${where}: ${names.join(' ')}`);
  }
  assert.ok(!names.join(' ').includes('E_INSTANCE_FAILED'), `${where}: ${names.join(' ')}`);
}

describe('user code that misbehaves', { skip }, () => {
  for (const [place, configure] of Object.entries(places)) {
    it(`as ${place}`, async () => {
      const host = new Host(await testHost());
      const first = await host.acquire();
      for (const [way, bad] of Object.entries(ways)) {
        const where = `${place} ${way}`;
        const run = await play(host, configure(bad));
        assertEnded(run, where);
        const failed = run.names.filter((n) => n.startsWith('err(') || n.startsWith('warn('));
        // A nack with a discardCallback that fails has a warning beside its own error.
        assert.equal(
          failed.length,
          place === 'discard callback' ? 2 : 1,
          `${where}: ${run.names.join(' ')}`,
        );
        const after = await play(host, {});
        assert.equal(after.names.at(-1), 'tE(ack)', `${where}, the turn after it`);
      }
      assert.equal(await host.acquire(), first, 'the instance went on');
    });
  }

  it('what was thrown is the cause at the end of the chain, with its text in every message', async () => {
    const host = new Host(await testHost());
    for (const [way, text] of [
      ['throws text', 'RET_CHECK failure'],
      ['throws an object', 'WASM_ABORT'],
      ['rejects', 'rejected'],
    ] as const) {
      const { events } = await play(host, { executor: ways[way] as Executor });
      const [event] = events.filter((e) => e.event === 'error');
      const error = event?.error as Error;
      assert.equal(codeOf(error), 'E_LLM_EXECUTION_EXECUTOR_ERROR');
      assert.match(error.message, new RegExp(`^The executor failed: .*${text}`));
      assert.match((error.cause as Error).message, new RegExp(text));
    }
  });

  it('an error without a text, or with the same one, leaves the static text as it is', async () => {
    const host = new Host(await testHost());
    for (const text of ['', 'The executor failed.']) {
      const cause = new Error(text);
      const { events } = await play(host, {
        executor: () => {
          throw cause;
        },
      });
      const [event] = events.filter((e) => e.event === 'error');
      assert.equal((event?.error as Error).message, 'The executor failed.');
      assert.equal((event?.error as Error).cause, cause);
    }
  });

  it('what ends wrong values does no harm', async () => {
    const host = new Host(await testHost());
    for (const value of [5, 'x', null, Symbol('s'), () => 1, new Map(), 10n]) {
      const run = await play(host, {
        turnInputPipeline: [
          async (_ctx, next) => {
            await next();
            return value as never;
          },
        ],
        executor: (ctx) => {
          ctx.ack();
          return value;
        },
        commitCallback: () => value,
      });
      assert.equal(run.names.at(-1), 'tE(ack)', typeof value);
    }
  });

  it('that keeps its context is refused once the turn has ended', async () => {
    const host = new Host(await testHost());
    let kept: DispatchContext | undefined;
    let say: DispatchExecutorHelpers | undefined;
    let late: (() => Promise<void>) | undefined;
    const run = await play(host, {
      turnInputPipeline: [
        async (_ctx, next) => {
          late = next;
          await next();
        },
      ],
      executor: (ctx, helpers) => {
        kept = ctx;
        say = helpers;
        ctx.ack();
      },
    });
    const ended = { code: 'E_CALL_AFTER_END' };
    await assert.rejects(kept!.storeMessage(message('late')), ended);
    await assert.rejects(kept!.commit(), ended);
    await assert.rejects(
      new Tool({
        name: 't',
        description: 't',
        inputSchema: { type: 'object' },
        handler: () => 1,
      }).executor(kept!)({}),
      ended,
    );
    assert.throws(() => kept!.ack(), ended);
    assert.throws(() => kept!.nack(new Error('late')), ended);
    assert.throws(() => kept!.toolCallCount('x'), ended);
    assert.throws(() => say!.reportMessage('m', 'late'), ended);
    await late!();
    kept!.turnMessages.add(message('nobody sees it'));
    kept!.abort();
    assert.equal(run.names.at(-1), 'tE(ack)');
  });

  it('next() twice, and late, runs the rest once', async () => {
    const host = new Host(await testHost());
    const order: string[] = [];
    let late: Promise<void> | undefined;
    const run = await play(host, {
      turnInputPipeline: [
        async (_ctx, next) => {
          await Promise.all([next(), next()]);
          await next();
          order.push('first ended');
        },
        (_ctx, next) => {
          order.push('second');
          // Nobody waits for it: the turn does.
          late = new Promise<void>((resolve) => setImmediate(resolve)).then(() => next());
          return next();
        },
      ],
    });
    await late;
    assert.deepEqual(order, ['second', 'first ended']);
    assert.equal(run.names.at(-1), 'tE(ack)');
  });

  it('that never returns holds up its own turn only', async () => {
    const host = new Host(await testHost());
    const controller = new AbortController();
    let release: (() => void) | undefined;
    let signal: AbortSignal | undefined;
    const stuck = await makeRun(
      (ctx) => {
        signal = ctx.abortSignal;
        return new Promise<void>((resolve) => (release = resolve));
      },
      { host },
    );
    const done = stuck.runner.run({ systemPrompt: 'test', turnAbortController: controller });
    while (release === undefined) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    assert.equal(signal?.aborted, true);
    assert.equal((await play(host, {})).names.at(-1), 'tE(ack)', 'another turn');
    assert.ok(!stuck.names.includes('tE(aborted)'), 'nothing that runs is stopped');
    release();
    await done;
    assert.deepEqual(stuck.names.slice(-2), ['dE(aborted,1)', 'tE(aborted)']);
  });

  it('a tool that nobody awaits ends before its dispatch', async () => {
    const host = new Host(await testHost());
    let release: (() => void) | undefined;
    let outcome: Promise<unknown> | undefined;
    const run = await play(host, {
      executor: async (ctx) => {
        const tool = new Tool({
          name: 'slow',
          description: 'slow',
          inputSchema: { type: 'object' },
          handler: () => new Promise<void>((resolve) => (release = resolve)),
        });
        outcome = tool
          .executor(ctx)({})
          .catch((error: unknown) => error);
        while (release === undefined) await new Promise((resolve) => setImmediate(resolve));
        ctx.ack();
      },
    });
    assert.deepEqual(run.names.slice(2), [
      'iS(0)',
      'xS',
      'xE(true)',
      'iE(0,ack)',
      'dE(ack,1)',
      'tE(ack)',
    ]);
    release!();
    assert.equal(codeOf(await outcome), 'E_CALL_AFTER_END');
  });

  it('an ack handler that throws or rejects is not heard of', async () => {
    const host = new Host(await testHost());
    const order: string[] = [];
    const rejects: () => unknown = () => Promise.reject(new Error('later'));
    const run = await play(host, {
      executor: (ctx) => {
        ctx.onAck(boom);
        ctx.onAck(rejects);
        ctx.onAck(() => void order.push('c'));
        ctx.ack();
        order.push('acked');
      },
    });
    assert.deepEqual(order, ['c', 'acked']);
    assert.equal(run.names.at(-1), 'tE(ack)');
  });
});
