/**
 * Aborts at every point of a turn at which its user code waits: one turn for each point.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { DispatchContext } from '../../src/index.js';
import { Host, Tool, type TurnContext, type TurnEvent } from '../../src/index.js';
import { makeRun, message, skip, testHost } from './harness.js';

/** Who is aborted. */
type Target = 'turn' | 'dispatch' | 'nobody';

/** A turn that was aborted at a point. */
interface Aborted {
  /** How many points there were. */
  readonly points: number;
  readonly events: readonly TurnEvent[];
  readonly stored: readonly string[];
  /** Listeners of the controller's signal that are left. */
  readonly listeners: number;
}

const pairs: readonly (readonly [string, string])[] = [
  ['turnStart', 'turnEnd'],
  ['dispatchStart', 'dispatchEnd'],
  ['iterationStart', 'iterationEnd'],
  ['toolExecutionStart', 'toolExecutionEnd'],
];

/** Every begin event has one end event, and they lie properly in each other. */
function assertBrackets(events: readonly TurnEvent[], where: string): void {
  const open: string[] = [];
  for (const { event } of events) {
    if (pairs.some(([begin]) => begin === event)) open.push(event);
    const pair = pairs.find(([, end]) => end === event);
    if (pair !== undefined) assert.equal(open.pop(), pair[0], `${where}: ${event}`);
  }
  assert.deepEqual(open, [], `${where}: began and did not end`);
  assert.equal(events.at(-1)?.event, 'turnEnd', where);
  assert.equal(events.filter((e) => e.event === 'turnEnd').length, 1, where);
}

/** Counts the listeners of a signal. */
function counting(signal: AbortSignal): () => number {
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
  return () => listeners;
}

/** Runs a turn of two iterations in which everything waits, and aborts it at a point. */
async function abortAt(host: Host, target: Target, at: number): Promise<Aborted> {
  const controller = new AbortController();
  const listeners = counting(controller.signal);
  let points = 0;
  let dispatch: DispatchContext | undefined;
  const point = async (): Promise<void> => {
    if (points++ === at && target !== 'nobody') {
      if (target === 'turn') controller.abort(new Error('stop'));
      else dispatch?.abort();
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  const around = async (_ctx: TurnContext | DispatchContext, next: () => Promise<void>) => {
    await point();
    await next();
    await point();
  };
  const tool = new Tool({
    name: 'tool',
    description: 'waits',
    inputSchema: { type: 'object' },
    handler: async (_args, ctx) => {
      await point();
      await ctx.storeMessage(message(`${ctx.iteration}.tool`));
      await point();
      return 'done';
    },
  });
  const stored: string[] = [];
  const run = await makeRun(
    async (ctx, helpers) => {
      dispatch = ctx;
      await point();
      helpers.reportMessage(`m${ctx.iteration}`, 'x');
      await tool.executor(ctx)({});
      await point();
      await ctx.waitFor({
        id: `gate ${ctx.iteration}`,
        reason: 'why',
        payload: 1,
        createdAt: Date.now(),
      });
      await point();
      await ctx.storeMessage(message(`${ctx.iteration}.answer`));
      await point();
      if (ctx.iteration === 1) ctx.ack();
    },
    {
      host,
      tools: [tool],
      turnInputPipeline: [around, around],
      turnOutputPipeline: [around],
      dispatchInputPipeline: [around],
      dispatchOutputPipeline: [around, around],
      storeMessageCallback: async (_ctx, record) => {
        await point();
        stored.push(record.id);
      },
    },
  );
  run.runner.observe('turnGateOpen', (gate) => {
    void point().then(() => {
      if (!gate.isSettled) gate.resolve(true);
    });
  });
  await run.runner.run({ systemPrompt: 'test', turnAbortController: controller });
  return { points, events: run.events, stored, listeners: listeners() };
}

describe('an abort', { skip }, () => {
  for (const target of ['turn', 'dispatch'] as const) {
    it(`of the ${target} at any point ends everything once`, async () => {
      const host = new Host(await testHost());
      const { points: total } = await abortAt(host, 'nobody', 0);
      assert.ok(total > 30, `${total} points`);
      for (let at = 0; at <= total; at++) {
        const where = `point ${at} of ${total}`;
        const { points, events, stored, listeners } = await abortAt(host, target, at);
        assertBrackets(events, where);
        assert.equal(listeners, 0, `${where}: listeners of the signal`);
        assert.equal(host.ready()?.turns, 0, `${where}: turns that run`);
        const count = (name: string): number => events.filter((e) => e.event === name).length;
        assert.equal(count('turnGateOpen'), count('turnGateClosed'), `${where}: gates`);
        const errors = events.filter((e) => e.event === 'error');
        assert.deepEqual(errors, [], where);
        for (const iteration of [0, 1]) {
          const written = stored.filter((id) => id.startsWith(`${iteration}.`));
          assert.ok([0, 2].includes(written.length), `${where}: stored ${stored.join()}`);
        }
        const end = events.at(-1);
        assert.ok(end?.event === 'turnEnd');
        if (at >= total) {
          assert.equal(end.status, 'ack', where);
          assert.equal(points, total, where);
        } else if (target === 'turn') assert.equal(end.status, 'aborted', where);
        const ends = events.filter((e) => e.event === 'iterationEnd');
        const discarded = ends.flatMap((e) => (e.discarded ?? []).map((d) => d.id));
        assert.equal(
          new Set([...stored, ...discarded]).size,
          stored.length + discarded.length,
          `${where}: stored ${stored.join()} and discarded ${discarded.join()}`,
        );
      }
    });
  }

  it('leaves no timer', async () => {
    const host = new Host(await testHost());
    const before = process.getActiveResourcesInfo().filter((r) => r === 'Timeout').length;
    for (let at = 0; at < 20; at++) await abortAt(host, 'turn', at);
    const after = process.getActiveResourcesInfo().filter((r) => r === 'Timeout').length;
    assert.ok(after <= before, `${after} timers, ${before} before`);
  });
});
