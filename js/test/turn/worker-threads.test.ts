/**
 * Turns in workers of Node, and workers that die.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';

import { isTurncoreError, type TurnEvent } from '../../src/index.js';
import { E_WORKER_ENDED, E_WORKER_FAILED } from '../../src/entries/errors.js';
import { createWorkerRunner } from '../../src/entries/worker.js';
import { buildGuest } from '../instance/go-guest.js';
import { skip } from './harness.js';
import type { Behaviour } from './worker-thread.js';

const script = new URL('./worker-thread.js', import.meta.url);

describe('a worker of Node', { skip }, () => {
  let module: Uint8Array;
  const workers: Worker[] = [];

  before(async () => (module = await buildGuest('./wasm/module')));
  after(() => Promise.all(workers.map((worker) => worker.terminate())));

  const start = (behaviour: Behaviour, file = script): Worker => {
    const worker = new Worker(file, { workerData: { behaviour, module }, stderr: true });
    workers.push(worker);
    return worker;
  };

  /** The events of a turn until a worker is told to die, and what the turn's loop throws. */
  async function eventsOf(
    stream: AsyncIterable<TurnEvent>,
    each: (names: readonly string[]) => void = () => undefined,
  ): Promise<{ names: string[]; thrown: unknown }> {
    const names: string[] = [];
    try {
      for await (const { event } of stream) {
        names.push(event);
        each(names);
      }
    } catch (thrown) {
      return { names, thrown };
    }
    return { names, thrown: undefined };
  }

  for (const behaviour of ['serves', 'serves late'] as const) {
    it(`that ${behaviour} runs turns`, async () => {
      const runner = createWorkerRunner(start(behaviour));
      for (const message of ['first', 'second']) {
        const { status, text } = await runner.stream({ message }).result;
        assert.deepEqual([status, text], ['ack', 'one two']);
      }
      runner.terminate();
      await assert.rejects(runner.run({ message: 'third' }), E_WORKER_ENDED);
    });
  }

  it('is made at the first turn, and serves later ones', async () => {
    let made = 0;
    const runner = createWorkerRunner(() => (made++, start('serves')));
    assert.equal(made, 0);
    await Promise.all([runner.run({ message: 'a' }), runner.run({ message: 'b' })]);
    await runner.run({ message: 'c' });
    assert.equal(made, 1);
    runner.terminate();
  });

  it('whose script fails is told as an error', async () => {
    const missing = new URL('./no-such-file.js', import.meta.url);
    for (const [make, expected] of [
      [() => start('throws'), /no such agent/],
      [() => start('serves', missing), /no-such-file/],
      [() => start('ends'), /did not start/],
    ] as const) {
      await assert.rejects(createWorkerRunner(make()).run({ message: 'x' }), (error) => {
        assert.ok(isTurncoreError(error, 'E_WORKER_FAILED'), String(error));
        assert.match(error.message, expected);
        return true;
      });
    }
    let made = 0;
    const runner = createWorkerRunner(() => start(made++ === 0 ? 'throws' : 'serves'));
    await assert.rejects(runner.run({ message: 'x' }), E_WORKER_FAILED);
    await runner.run({ message: 'x' });
    runner.terminate();
  });

  for (const [behaviour, why] of [
    ['exits', undefined],
    ['crashes', 'nobody catches this'],
  ] as const) {
    it(`that ${behaviour} in a turn ends it with an error; the next turn gets a new one`, async () => {
      let made = 0;
      const runner = createWorkerRunner(() => start(made++ === 0 ? behaviour : 'serves'));
      const stream = runner.stream({ message: 'x' });
      const { names, thrown } = await eventsOf(stream);
      assert.ok(names.includes('message') && !names.includes('turnEnd'), names.join(' '));
      assert.ok(isTurncoreError(thrown, 'E_WORKER_ENDED'), String(thrown));
      if (why !== undefined) assert.equal((thrown.cause as Error | undefined)?.message, why);
      const result = await stream.result;
      assert.equal(result.status, 'failed');
      assert.equal(result.error, thrown);
      assert.equal(result.interrupted, true);
      assert.equal((await runner.stream({ message: 'x' }).result).status, 'ack');
      runner.terminate();
      const once = createWorkerRunner(start(behaviour));
      await assert.rejects(once.run({ message: 'x' }), E_WORKER_ENDED);
      await assert.rejects(once.run({ message: 'x' }), E_WORKER_ENDED);
    });
  }

  it('that hangs is ended by terminate, whatever waits for it', async () => {
    let made = 0;
    const runner = createWorkerRunner(() => start(made++ === 0 ? 'hangs' : 'serves'));
    const other = runner.stream({ message: 'y', sessionId: 'other' });
    const stream = runner.stream({ message: 'x' });
    const { thrown } = await eventsOf(stream, (names) => {
      if (names.at(-1) !== 'message') return;
      stream.abort();
      runner.terminate();
    });
    assert.ok(isTurncoreError(thrown, 'E_WORKER_ENDED'));
    assert.equal((await other.result).error, thrown);
    assert.equal((await runner.stream({ message: 'x' }).result).status, 'ack');
    runner.terminate();
  });

  it('that is terminated at any event ends the turn with an error, or not at all', async () => {
    const count = 8;
    for (const at of [0, 1, 4, count - 1]) {
      const worker = start('serves');
      const stream = createWorkerRunner(worker).stream({ message: 'x' });
      if (at === 0) void worker.terminate();
      const { names, thrown } = await eventsOf(stream, ({ length }) => {
        if (length === at) void worker.terminate();
      });
      if (thrown === undefined) {
        assert.equal(names.length, count);
        assert.equal((await stream.result).status, 'ack');
      } else {
        const wanted = at === 0 ? 'E_WORKER_FAILED' : 'E_WORKER_ENDED';
        assert.ok(isTurncoreError(thrown, wanted), `at event ${at}`);
      }
    }
  });
});
