/**
 * What contexts have: every property and method of the contract, by its name.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DispatchContext, TurnContext } from '../../src/index.js';
import { runTurn, skip } from './harness.js';

/** Properties that both kinds of context have. */
const properties = [
  'id',
  'aborted',
  'abortSignal',
  'stash',
  'systemPrompt',
  'standingInstructions',
  'turnMemories',
  'turnRetrievables',
  'turnMessages',
  'turnThoughts',
  'turnToolCalls',
  'tools',
];

/** Methods that both kinds of context have. */
const methods = [
  'abort',
  'fetchMemories',
  'fetchMessages',
  'fetchThoughts',
  'fetchToolCalls',
  'fetchTools',
  'fetchRetrievables',
  'refreshStandingInstructions',
  'storeStandingInstruction',
  'mutateStandingInstruction',
  'deleteStandingInstruction',
  'storeMemory',
  'mutateMemory',
  'deleteMemory',
  'storeRetrievable',
  'mutateRetrievable',
  'deleteRetrievable',
  'storeMessage',
  'mutateMessage',
  'deleteMessage',
  'storeThought',
  'mutateThought',
  'deleteThought',
  'storeToolCall',
  'mutateToolCall',
  'deleteToolCall',
  'replaceToolCallGroup',
  'storeMediaBytes',
  'storeRetrievableBytes',
  'emitMessage',
  'emitThought',
  'emitToolCall',
  'emitToolExecutionStart',
  'emitToolExecutionEnd',
  'estimateTokens',
  'waitFor',
];

const dispatchProperties = ['dispatchId', 'iteration', 'isSignalled', 'isAcked', 'nackError'];
const dispatchMethods = ['ack', 'nack', 'onAck', 'toolCallCount', 'commit'];

function has(ctx: object, props: readonly string[], functions: readonly string[]): void {
  for (const name of props) assert.ok(name in ctx, name);
  for (const name of functions) {
    assert.equal(typeof (ctx as Record<string, unknown>)[name], 'function', name);
  }
}

describe('contexts', { skip }, () => {
  it('have every property and method of the contract', async () => {
    let turn: TurnContext | undefined;
    let dispatch: DispatchContext | undefined;
    await runTurn(
      (ctx) => {
        dispatch = ctx;
        has(ctx, [...properties, ...dispatchProperties], [...methods, ...dispatchMethods]);
        ctx.ack();
      },
      {
        turnInputPipeline: [
          async (ctx, next) => {
            turn = ctx;
            has(ctx, properties, methods);
            await next();
          },
        ],
      },
    );
    assert.ok(turn instanceof TurnContext);
    assert.ok(dispatch instanceof DispatchContext);
    for (const name of [...dispatchProperties, ...dispatchMethods]) {
      assert.ok(!(name in turn), `a turn has no ${name}`);
    }
    assert.notEqual(turn.id, dispatch.id);
    assert.equal(dispatch.id, dispatch.dispatchId);
  });

  it('conduits hand bytes on, to the callbacks of the turn', async () => {
    const { writes } = await runTurn(async (ctx) => {
      const media = await ctx.storeMediaBytes('m', Uint8Array.of(1, 2));
      assert.equal(await media.byteLength(), 2);
      const spool = await ctx.storeRetrievableBytes('r', new Blob(['a\nb']).stream());
      assert.equal(await spool.line(1), 'b');
      assert.equal(ctx.turnRetrievables.size, 0);
      ctx.ack();
    });
    assert.deepEqual(writes, ['bytes m', 'bytes r']);
  });
});
