/**
 * What one turn may make the module hold. Go's tests have more of it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunner, Host, isTurncoreError, Message } from '../../src/index.js';
import { skip, testHost } from './harness.js';

const message = (id: string): Message =>
  new Message({ id, role: 'assistant', content: 'x'.repeat(9000), createdAt: 1, updatedAt: 1 });

describe('the quota', { skip }, () => {
  it('fails the turn whose call passes its bound, and no other', async () => {
    let refused: unknown;
    const runner = createRunner({
      host: await testHost({ quota: { turn: 10_000 } }),
      executor: async (ctx) => {
        await ctx.storeMessage(message('m'));
        if (ctx.stash.get('large') === true) {
          await ctx.storeMessage(message('n')).catch((error: unknown) => (refused = error));
        }
        ctx.ack();
      },
    });
    const [large, small] = await Promise.all([
      runner.stream({ message: 'Hi', stash: { large: true } }).result,
      runner.stream({ message: 'Hi' }).result,
    ]);
    assert.ok(isTurncoreError(refused, 'E_TURN_QUOTA_EXCEEDED'), String(refused));
    assert.equal(large.status, 'failed');
    assert.ok(isTurncoreError(large.error, 'E_TURN_QUOTA_EXCEEDED'), String(large.error));
    assert.equal(small.status, 'ack');
  });

  it('refuses a message for which the memory may not suffice, and no other turn ends', async () => {
    const runner = createRunner({
      host: await testHost({ maxMemory: 48 << 20 }),
      executor: async (ctx) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        ctx.ack();
      },
    });
    const small = runner.stream({ message: 'Hi' }).result;
    for (const size of [4 << 20, 10 << 20]) {
      const { status, error } = await runner.stream({ message: 'x'.repeat(size) }).result;
      assert.ok(isTurncoreError(error, 'E_TURN_QUOTA_EXCEEDED'), String(error));
      assert.equal(status, 'failed');
    }
    assert.equal((await small).status, 'ack');
    assert.equal((await runner.stream({ message: 'x'.repeat(1 << 20) }).result).status, 'ack');
  });

  it('names options that are none', () => {
    assert.throws(() => new Host({ quota: { turns: 1 } as never }), /quota\.turns/);
    assert.throws(() => new Host({ quota: { turn: 0 } }), /`quota\.turn` must be a whole number/);
  });
});
