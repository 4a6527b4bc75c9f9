/**
 * Proxies of records, as reactive libraries make them, and what only inherits from a record: refused where they are
 * given.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Message, Tokenizable, TurnRunner } from '../../src/index.js';
import { codeOf, message, recordingCallbacks, runTurn, skip } from './harness.js';

const proxyOf = <T extends object>(value: T): T => new Proxy(value, {});
const heirOf = <T extends object>(value: T): T => Object.create(value) as T;

describe('a Proxy of a record', { skip }, () => {
  for (const [way, make] of Object.entries({ proxyOf, heirOf })) {
    it(`is no record: ${way}`, async () => {
      const run = await runTurn(async (ctx) => {
        const fake = make(message('fake'));
        const error = { code: 'E_INVALID_VALUE', message: /must be an instance of Message, not a/ };
        assert.throws(() => ctx.turnMessages.add(fake), error);
        assert.throws(() => ctx.turnMessages.addAll([message('a'), fake]), error);
        await assert.rejects(ctx.storeMessage(fake), error);
        await assert.rejects(ctx.mutateMessage(fake), error);
        assert.throws(() => ctx.standingInstructions.add(make(new Tokenizable('x'))), {
          code: 'E_INVALID_VALUE',
        });
        await assert.rejects(ctx.deleteStandingInstruction(make(new Tokenizable('x'))), {
          code: 'E_INVALID_VALUE',
        });
        assert.deepEqual(
          [...ctx.turnMessages].map(({ id }) => id),
          ['a'],
        );
        ctx.ack();
      });
      assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
      assert.deepEqual(run.writes, []);
    });

    it(`is no content and no input: ${way}`, async () => {
      const text = make(new Tokenizable('x'));
      assert.throws(
        () => new Message({ id: 'm', role: 'user', content: text, createdAt: 1, updatedAt: 1 }),
        { code: 'E_INVALID_INITIAL_MESSAGE_VALUE', message: /`content` must be/ },
      );
      const runner = new TurnRunner({
        ...recordingCallbacks(),
        executorCallback: (ctx) => {
          ctx.ack();
        },
      });
      const error = await runner
        .run({ systemPrompt: text, message: make(message('fake')) })
        .catch((refused: unknown) => refused);
      assert.equal(codeOf(error), 'E_INVALID_TURN_CONTEXT');
      assert.deepEqual((error as { details?: unknown }).details, [
        '`systemPrompt` must be a string or a Tokenizable',
        '`message` must be a string or a Message',
      ]);
    });
  }

  it('and a record of a class of one’s own are told apart', async () => {
    class Note extends Message {}
    const note = new Note({ id: 'n', role: 'user', content: 'x', createdAt: 1, updatedAt: 1 });
    const run = await runTurn(async (ctx) => {
      await ctx.storeMessage(note);
      assert.ok(ctx.turnMessages.has(note));
      ctx.ack();
    });
    assert.deepEqual(run.writes, ['storeMessage n']);
  });
});
