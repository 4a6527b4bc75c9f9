/**
 * What a listener of errors gets: the error itself, and the event with the ids.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DispatchRunner } from '../../src/index.js';
import { type ErrorEvent, type ReportedError } from '../../src/entries/events.js';
import { hear, makeRun, skip } from './harness.js';

class RateLimit extends Error {
  readonly code = 'E_RATE_LIMIT';
}

describe('a listener of errors', { skip }, () => {
  it('gets the very error that was given to nack, and the ids beside it', async () => {
    const limit = new RateLimit('slow down');
    const { runner, events } = await makeRun((ctx) => {
      if (ctx.iteration === 1) ctx.nack(limit);
    });
    const heard: [ReportedError, ErrorEvent][] = [];
    const lines: string[] = [];
    runner.observe('error', (error, event) => heard.push([error, event]));
    runner.observe('error', (error) => lines.push(`${String(error.code)}: ${error.message}`));
    await runner.run({ systemPrompt: 'test', turnId: 'T' });
    assert.deepEqual(lines, ['E_RATE_LIMIT: slow down']);
    const [[error, ids]] = heard as [[ReportedError, ErrorEvent]];
    assert.equal(error, limit);
    assert.ok(ids.event === 'error' && ids.error === limit);
    const end = events.find((event) => event.event === 'dispatchEnd')!;
    assert.deepEqual([ids.turnId, ids.seq], ['T', end.seq + 1]);
  });

  it('gets what middleware threw, once by observeOnce, and no more after unobserve', async () => {
    const thrown = new TypeError('no such thing');
    const { runner } = await makeRun((ctx) => ctx.ack(), {
      turnInputPipeline: [
        () => {
          throw thrown;
        },
      ],
    });
    const heard: ReportedError[] = [];
    const listener = (error: ReportedError): void => void heard.push(error);
    runner.observeOnce('error', listener);
    runner.observe('error', listener);
    runner.unobserve('error', listener);
    await runner.run({ systemPrompt: 'test' });
    await runner.run({ systemPrompt: 'test' });
    assert.equal(heard.length, 1);
    assert.equal(heard[0]!.cause, thrown);
  });

  it('of a dispatch gets it too', async () => {
    const limit = new RateLimit('slow down');
    const heard: [ReportedError, string | undefined][] = [];
    const { runner } = await makeRun((ctx) => ctx.ack(), {
      turnInputPipeline: [
        async (source, next) => {
          await DispatchRunner.dispatch({
            source,
            executor: (ctx) => ctx.nack(limit),
            observers: { error: [(error, { dispatchId }) => heard.push([error, dispatchId])] },
          }).catch(() => undefined);
          await next();
        },
      ],
    });
    await runner.run({ systemPrompt: 'test', turnId: 'T' });
    assert.deepEqual(heard, [[limit, 'T.d1']]);
    assert.equal(heard[0]![0], limit);
  });

  it('is no reader of a stream, which has the event that holds the error', async () => {
    const limit = new RateLimit('slow down');
    const { runner } = await makeRun((ctx) => ctx.nack(limit));
    const streamed: unknown[] = [];
    await hear(runner.stream({ systemPrompt: 'test' }), (event) => {
      if (event.event === 'error') streamed.push(event.error);
    });
    assert.deepEqual(streamed, [limit]);
    assert.equal(streamed[0], limit);
  });

  it('gets anything that is not an error as it is', async () => {
    const { runner } = await makeRun((ctx) => ctx.nack('enough'));
    const heard: unknown[] = [];
    runner.observe('error', (error) => heard.push(error));
    await runner.run({ systemPrompt: 'test' });
    assert.deepEqual(heard, ['enough']);
  });
});
