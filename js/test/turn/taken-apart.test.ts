/**
 * Methods that were taken off their context.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { codeOf, message, runTurn, skip } from './harness.js';

describe('a method that was taken off its context', { skip }, () => {
  it('says how it is called', async () => {
    const told: string[] = [];
    const run = await runTurn(async (ctx) => {
      // eslint-disable-next-line @typescript-eslint/unbound-method -- what is tested
      const { ack, nack, storeMessage, emitMessage } = ctx;
      const store = (): unknown => storeMessage(message('m'));
      for (const call of [ack, nack, store, emitMessage] as (() => unknown)[]) {
        try {
          await call();
        } catch (error) {
          assert.equal(codeOf(error), 'E_INVALID_VALUE');
          told.push((error as Error).message.replace('The value is invalid: ', ''));
        }
      }
      ctx.ack();
    });
    assert.deepEqual(
      told,
      ['ack', 'nack', 'storeMessage', 'emitMessage'].map(
        (name) => `${name}: was taken off its object: call it as ctx.${name}(…)`,
      ),
    );
    assert.equal(run.names.at(-1), 'tE(ack)');
  });

  it('works when it is bound, and collections may be taken off', async () => {
    const { names } = await runTurn(async (ctx) => {
      const ack = ctx.ack.bind(ctx);
      const { turnMessages } = ctx;
      await ctx.storeMessage(message('m'));
      assert.equal(turnMessages.size, 1);
      ack();
    });
    assert.equal(names.at(-1), 'tE(ack)');
  });
});
