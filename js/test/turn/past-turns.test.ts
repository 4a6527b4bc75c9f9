/**
 * Turns on a platform where a turn ends with its request, after that request: how long their ids are known.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';

import { createRunner } from '../../src/index.js';
import { createTurnServer, type TurnServer } from '../../src/entries/remote.js';
import { PastTurns } from '../../src/runners/past-turns.js';
import { skip, testHost } from './harness.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const code = (past: PastTurns, id: string): string | undefined => past.find(id)?.code;

describe('the ids of turns that are over', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: 0 }));
  afterEach(() => mock.timers.reset());

  it('are known for an hour', () => {
    const past = new PastTurns();
    past.add('a', 'E_TURN_EVENTS_LOST');
    mock.timers.tick(HOUR - 1);
    past.add('b', 'E_TURN_ABANDONED');
    assert.deepEqual(
      [code(past, 'a'), code(past, 'b')],
      ['E_TURN_EVENTS_LOST', 'E_TURN_ABANDONED'],
    );
    mock.timers.tick(1);
    assert.deepEqual([code(past, 'a'), code(past, 'b')], [undefined, 'E_TURN_ABANDONED']);
    mock.timers.tick(HOUR);
    assert.equal(code(past, 'b'), undefined);
  });

  it('are the last 10,000', () => {
    const past = new PastTurns();
    for (let i = 0; i <= 10_000; i++) past.add(`t${i}`, 'E_TURN_ABANDONED');
    assert.deepEqual(
      [code(past, 't0'), code(past, 't1'), code(past, 't10000')],
      [undefined, 'E_TURN_ABANDONED', 'E_TURN_ABANDONED'],
    );
  });

  it('take in a turn that is asked for at once, all others once a second', () => {
    const past = new PastTurns();
    const gone = { owner: { isGone: () => true } };
    const running = new Map([['a', gone]]);
    mock.timers.tick(HOUR);
    past.collect(running, 'x');
    assert.deepEqual([...running.keys()], []);
    for (const id of ['b', 'c']) running.set(id, gone);
    past.collect(running, 'c');
    assert.deepEqual([...running.keys()], ['b']);
    mock.timers.tick(1000);
    past.collect(running, 'x');
    assert.deepEqual([...running.keys()], []);
    assert.equal(code(past, 'b'), 'E_TURN_ABANDONED');
  });
});

describe('turns whose request is gone', { skip }, () => {
  const platform = globalThis as { EdgeRuntime?: string };
  const { setInterval: begin } = globalThis;
  const beats: ReturnType<typeof setInterval>[] = [];

  beforeEach(() => {
    platform.EdgeRuntime = 'edge-runtime';
    globalThis.setInterval = ((...args: Parameters<typeof setInterval>) => {
      const timer = begin(...args);
      beats.push(timer);
      return timer;
    }) as typeof setInterval;
  });
  afterEach(() => {
    delete platform.EdgeRuntime;
    globalThis.setInterval = begin;
    mock.timers.reset();
  });

  /** What the platform does when a request is gone: its timers end. */
  const end = (): void => beats.splice(0).forEach((timer) => clearInterval(timer));

  const post = (turnId: string): Request =>
    new Request('http://server.test/turns', {
      method: 'POST',
      body: JSON.stringify({ message: 'hi', turnId }),
    });
  const codeOf = async (server: TurnServer, request: Request): Promise<string> => {
    const { error } = (await (await server.fetch(request)).json()) as { error: { code: string } };
    return error.code;
  };

  it('are known to a server and a runner for an hour, then run again', async () => {
    let begun = 0;
    const waiting: (() => void)[] = [];
    const runner = createRunner({
      executor: async (ctx, helpers) => {
        begun += 1;
        helpers.reportMessage('m', 'hi', { isComplete: true });
        if (begun === 1) await new Promise<void>((resolve) => waiting.push(resolve));
        ctx.ack();
      },
      host: await testHost(),
    });
    const server = createTurnServer(runner);
    const first = await server.fetch(post('gone'));
    assert.equal(first.status, 200);
    end();
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    mock.timers.tick(MINUTE + 1);
    // Another turn's request finds it.
    await (await server.fetch(post('other'))).text();
    assert.equal(await codeOf(server, post('gone')), 'E_TURN_ABANDONED');
    const events = new Request('http://server.test/turns/gone/events');
    assert.equal(await codeOf(server, events), 'E_TURN_ABANDONED');
    const attached = await runner.stream({ message: 'hi', turnId: 'gone' }).result;
    assert.equal((attached.error as { code?: string }).code, 'E_TURN_ABANDONED');
    assert.equal(begun, 2);

    mock.timers.tick(HOUR);
    assert.equal(await codeOf(server, events), 'E_TURN_UNKNOWN');
    assert.match(
      await (await server.fetch(post('gone'))).text(),
      /event:end\ndata:{"status":"ack"/,
    );
    assert.equal(begun, 3);
    for (const resolve of waiting) resolve();
    await first.body?.cancel();
  });
});
