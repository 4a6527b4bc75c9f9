/**
 * Misspelled and wrong options of what this package makes: each is refused by its name.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';

import { meteredModule } from '../../src/entries/metering.js';
import { simulatedFetch } from '../../src/entries/simulated.js';
import { createWorkerRunner } from '../../src/entries/worker.js';
import { TurnStream } from '../../src/runners/turn-stream.js';
import { indexedDBStore } from '../../src/stores/indexeddb.js';
import { sqliteStore } from '../../src/stores/sqlite.js';

const never = (): never => assert.fail('a worker was made');
const file = '/nowhere/option-names.sqlite';
const stream = new TurnStream(() => undefined);

/** A function with wrong arguments, and what its error names. */
const wrong: readonly (readonly [make: (...args: never[]) => unknown, args: unknown[], RegExp])[] =
  [
    [createWorkerRunner, [never, { steptimeout: 300 }], /`steptimeout`.*`stepTimeout`/],
    [createWorkerRunner, [never, 5], /options/],
    [sqliteStore, [file, { readonly: true }], /`readonly`.*`readOnly`/],
    [sqliteStore, [file, { readOnly: 1, busyTimeout: -1 }], /`busyTimeout`.*`readOnly`/],
    [sqliteStore, [file, null], /options/],
    [indexedDBStore, ['x', { opsf: false }], /`opsf`.*`opfs`/],
    [indexedDBStore, ['x', { opfs: 'no' }], /`opfs`/],
    [indexedDBStore, ['x', 5], /options/],
    [indexedDBStore, ['x', null], /options/],
    [simulatedFetch, [{ pausMs: 1 }], /`pausMs`.*`pauseMs`/],
    [simulatedFetch, [{ pauseMs: 'x' }], /`pauseMs`/],
    [simulatedFetch, [null], /options/],
    [(options: object) => stream.toResponse(options), [{ signl: 1 }], /`signl`.*`signal`/],
    [(options: object) => stream.toResponse(options), [{ maxReplayBytes: 0 }], /maxReplayBytes/],
    [(options: object) => stream.toResponse(options), [{ lastEventId: '1e3' }], /lastEventId/],
    [(options: object) => stream.toResponse(options), [{ lastEventId: '0x10' }], /lastEventId/],
    [(options: object) => stream.toResponse(options), [{ lastEventId: 1.5 }], /lastEventId/],
    [(options: object) => stream.toResponse(options), [null], /options/],
  ];

describe('options', () => {
  it('that are wrong or misspelled are refused', () => {
    for (const [make, args, message] of wrong) {
      const call = (): unknown => make(...(args as never[]));
      assert.throws(call, { code: 'E_INVALID_VALUE', message }, String(message));
    }
    assert.equal(existsSync(file), false);
  });

  it('of a metered module, and its source', () => {
    const bare = meteredModule as (...args: unknown[]) => unknown;
    assert.throws(() => bare(), { code: 'E_INVALID_MODULE' });
    assert.throws(() => bare('x.wasm', null), { code: 'E_INVALID_TURN_RUNNER_CONFIG' });
  });
});
