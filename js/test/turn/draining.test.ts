/**
 * Instances that have grown beyond their mark: they take no further turns, and end with the last of their own.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { Instance } from '../../src/instance/instance.js';
import type { LoadedModule } from '../../src/instance/loaded-module.js';
import { Module } from '../../src/instance/module.js';
import type { InstantiateOptions } from '../../src/instance/module-options.js';
import { type TurncoreError, TurnRunner } from '../../src/index.js';
import { buildGuest } from '../instance/go-guest.js';
import { recordingCallbacks, skip, testHost } from './harness.js';

/** A module that keeps the instances it starts. */
class Watched extends Module {
  readonly instances: Instance[] = [];

  override use(Class: typeof LoadedModule): LoadedModule {
    const { instances } = this;
    return super.use(
      class extends Class {
        override instantiateSync(options?: InstantiateOptions): Instance {
          const instance = super.instantiateSync(options);
          instances.push(instance);
          return instance;
        }
      },
    );
  }
}

const ask = { systemPrompt: 'test' };

it(
  'a full instance drains beside a fresh one, two of them at a time, and no gate is lost',
  { skip },
  async () => {
    const module = new Watched(await buildGuest('./wasm/module'));
    const runner = new TurnRunner({
      ...recordingCallbacks([]),
      executorCallback: async (ctx) => {
        await ctx.waitFor({
          id: ctx.dispatchId,
          reason: 'Go on?',
          payload: null,
          createdAt: 1000,
          schema: { type: 'boolean' },
        });
        ctx.ack();
      },
      host: await testHost({ module, highWater: 0 }),
    });
    const statuses: string[] = [];
    runner.observe('turnEnd', (event) => statuses.push(`${event.turnId}: ${event.status}`));
    const turns = new Map<string, Promise<unknown>>();
    const park = async (turnId: string): Promise<void> => {
      const opened = new Promise((resolve) => runner.observeOnce('turnGateOpen', resolve));
      turns.set(turnId, runner.run({ ...ask, turnId }));
      await opened;
    };
    const settle = async (turnId: string): Promise<void> => {
      const gate = runner.gate(`${turnId}.d1`);
      assert.ok(gate !== undefined, turnId);
      gate.resolve(true);
      await turns.get(turnId);
    };

    for (const [i, id] of ['a', 'b', 'c'].entries()) {
      await park(id);
      assert.equal(module.instances.length, i + 1);
    }
    await assert.rejects(runner.run(ask), (error: TurncoreError) => {
      assert.equal(error.code, 'E_OVERLOADED');
      assert.equal(error.status, 503);
      assert.deepEqual(error.details, { retryAfterMs: 1000 });
      return true;
    });
    assert.equal(runner.gates().length, 3);

    await settle('b');
    await park('d');
    assert.equal(module.instances.length, 4);
    for (const id of ['a', 'c', 'd']) await settle(id);
    assert.deepEqual(statuses, ['b: ack', 'a: ack', 'c: ack', 'd: ack']);
  },
);

it('an idle instance beyond its mark is replaced without being counted', { skip }, async () => {
  const module = new Watched(await buildGuest('./wasm/module'));
  const runner = new TurnRunner({
    ...recordingCallbacks([]),
    executorCallback: (ctx) => ctx.ack(),
    host: await testHost({ module, highWater: 0 }),
  });
  for (let n = 1; n <= 5; n++) {
    await runner.run(ask);
    assert.equal(module.instances.length, n);
  }
});
