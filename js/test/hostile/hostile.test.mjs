/**
 * Modules that want to harm their host, each in a worker of its own: each ends within its limits with an error that
 * names the limit, and its worker ends. build/hostile has them, host/testdata/hostile their table.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';

import { E_INSTANCE_FAILED, E_INVALID_VALUE, E_WORKER_ENDED } from 'turncore/errors';
import { createWorkerRunner, WorkerTimeoutError } from 'turncore/worker';

import { ending } from './ending.mjs';

const root = new URL('../../../', import.meta.url);
const table = JSON.parse(await readFile(new URL('host/testdata/hostile/table.json', root), 'utf8'));
/** Fuel of a start, and of a step. */
const units = 5_000_000;

/** How turns on a module end, and their worker. */
async function endingOf({ name }, { fuel = units, stepTimeout = 60_000 } = {}) {
  const file = await readFile(new URL(`build/hostile/${name}.wasm`, root));
  const script = new URL('./agent.mjs', import.meta.url);
  return ending(() => {
    const worker = new Worker(script, { workerData: { file, units: fuel }, stderr: true });
    const exit = new Promise((resolve) => worker.once('exit', resolve));
    return { runner: createWorkerRunner(worker, { stepTimeout }), exit };
  }, name);
}

describe('a hostile module', { concurrency: 2 }, () => {
  assert.ok(table.length >= 120, `${table.length} modules`);
  for (const row of table) {
    it(`that ${row.does}`, async () => {
      const { status, error } = await endingOf(row);
      assert.equal(status, 'failed');
      const { code, says } = { ...row, ...row.js };
      assert.equal(String(error?.code), code, String(error));
      assert.ok(
        error.message.toLowerCase().includes(says.toLowerCase()),
        `${error.message}: no ${says}`,
      );
    });
  }

  it('that spins with all the fuel that there is ends when its thread has not answered in time', async () => {
    const { status, error } = await endingOf(
      { name: 'spin-step' },
      { fuel: Number.MAX_SAFE_INTEGER, stepTimeout: 200 },
    );
    assert.equal(status, 'failed');
    assert.ok(error instanceof E_WORKER_ENDED, String(error));
    assert.ok(error.cause instanceof WorkerTimeoutError, String(error.cause));
    assert.deepEqual([error.cause.limit, error.cause.timeout], ['stepTimeout', 200]);
  });

  it('is not taken for one that works for less than the time', async () => {
    const { error } = await endingOf({ name: 'spin-turn' }, { fuel: units, stepTimeout: 30_000 });
    assert.ok(error instanceof E_INSTANCE_FAILED, String(error));
  });

  it('has a limit that is a time', () => {
    for (const stepTimeout of [0, -1, Number.NaN, 2 ** 31, '5']) {
      assert.throws(() => createWorkerRunner(() => undefined, { stepTimeout }), E_INVALID_VALUE);
    }
  });
});
