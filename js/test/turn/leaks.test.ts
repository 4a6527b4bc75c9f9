/**
 * What is left behind: listeners on the caller's signal, bodies that are read for nobody, an instance that must not
 * die.
 */
import assert from 'node:assert/strict';
import { memoryUsage } from 'node:process';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import {
  ChatExecutor,
  createRunner,
  type DispatchContext,
  DispatchRunner,
  Host,
  type HostOptions,
  Tool,
} from '../../src/index.js';
import { makeRun, recordingCallbacks, runTurn, skip, testHost } from './harness.js';

/** A controller that counts the listeners of its signal. */
function counted(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  return { controller, listeners: () => listeners };
}

describe('what a turn leaves behind', { skip }, () => {
  for (const [name, options, systemPrompt] of [
    ['too large', { limits: { frame: 1 << 16 } }, 'x'.repeat(70 << 10)],
    [
      'without a place for its journal',
      {
        journal: () => {
          throw new Error('no place');
        },
      },
      'test',
    ],
  ] as readonly (readonly [string, HostOptions, string])[]) {
    it(`no listener after a start that is ${name}`, async () => {
      const { controller, listeners } = counted();
      const { runner } = await makeRun((ctx) => ctx.ack(), {
        host: new Host(await testHost(options)),
      });
      const turn = { systemPrompt, turnAbortController: controller };
      await assert.rejects(runner.run(turn), /too large|no place/);
      assert.equal(listeners(), 0);
    });
  }

  it('no body that is read on, also of a fetch that does not follow its signal', async () => {
    let pulls = 0;
    const chunk = new TextEncoder().encode('data: {"choices":[{"delta":{"content":"x"}}]}\n\n');
    const controller = new AbortController();
    const body = new ReadableStream({
      async pull(to) {
        await sleep(1);
        if (++pulls === 5) controller.abort();
        to.enqueue(chunk);
      },
    });
    const fetch = (): Promise<Response> => Promise.resolve(new Response(body));
    const run = await makeRun((ctx) => ctx.ack(), {
      executorCallback: new ChatExecutor({ baseURL: 'http://provider.test/v1', model: 'm' }),
      host: await testHost({ fetch }),
    });
    await run.runner.run({ systemPrompt: 'x', message: 'hi', turnAbortController: controller });
    assert.equal(run.names.at(-1), 'tE(aborted)');
    await sleep(10);
    const after = pulls;
    await sleep(30);
    assert.equal(pulls, after);
  });
});

describe('runners that nobody has any more', { skip }, () => {
  it('are forgotten, as a runner per request is', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const host = new Host(await testHost());
    const serve = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) {
        const echo = new Tool({
          name: 'echo',
          description: 'Says it again.',
          inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
          handler: (): string => typeof runner, // so the runner keeps itself
        });
        const runner = createRunner({ host, tools: [echo], executor: (ctx) => ctx.ack() });
        await runner.run({ message: 'hello' });
      }
      for (let i = 0; i < 3; i++) {
        gc();
        await sleep(10); // in which the engine tells what is gone
      }
      const { heapUsed, external } = memoryUsage();
      return heapUsed + external;
    };
    const before = await serve(300);
    const grown = (await serve(1_000)) - before;
    assert.ok(grown < 6 << 20, `1,000 runners keep ${grown} bytes`);
  });

  it('are no concern of the collector if they are closed, as those of dispatches are', async (t) => {
    const host = new Host(await testHost());
    const { mock } = t.mock.method(FinalizationRegistry.prototype, 'register');
    const executor = (ctx: DispatchContext): void => ctx.ack();
    const { runner } = await makeRun(
      async (ctx) => {
        for (let i = 0; i < 3; i++) await DispatchRunner.dispatch({ source: ctx, executor });
        ctx.ack();
      },
      { host },
    );
    await runner.run({ systemPrompt: 'test' });
    const callbacks = Object.entries(recordingCallbacks());
    const raw = new Map<string, unknown>([['systemPrompt', 'test']]);
    for (const [name, callback] of callbacks) raw.set(name.replace(/Callback$/, ''), callback);
    await DispatchRunner.dispatch({ raw: Object.fromEntries(raw) as never, executor, host });
    assert.equal(mock.callCount(), 1, 'the runner that serves turns, and none besides');
  });
});

describe('a long reason', { skip }, () => {
  const long = Object.assign(new Error('é'.repeat(70 << 10), { cause: 'y'.repeat(70 << 10) }), {
    details: { text: 'z'.repeat(70 << 10) },
  });

  it('aborts the turn, not the instance', async () => {
    const host = new Host(await testHost({ limits: { frame: 1 << 16 } }));
    const controller = new AbortController();
    const run = await runTurn(
      () => controller.abort(long),
      { host },
      { turnAbortController: controller },
    );
    assert.equal(run.names.at(-1), 'tE(aborted)');
    const next = await runTurn((ctx) => ctx.nack(long), { host });
    assert.equal(next.names.at(-1), 'tE(nack)');
  });
});
