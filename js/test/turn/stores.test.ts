/**
 * Records: what is in a collection when, and what reaches storage.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Message } from '../../src/index.js';
import {
  type Delta,
  type DispatchContext,
  Retrievable,
  ToolCall,
  type TurnContext,
} from '../../src/index.js';
import { History } from '../../src/entries/records.js';
import { codeOf, message, runTurn, script, skip } from './harness.js';

function toolCall(id: string, checksum = 'sum'): ToolCall {
  return new ToolCall({
    id,
    tool: 't',
    args: {},
    checksum,
    isComplete: true,
    isError: false,
    results: 'r',
    createdAt: 1,
    updatedAt: 1,
    completedAt: 1,
  });
}

const ids = (records: Iterable<{ id: string }>): string => [...records].map((r) => r.id).join(' ');

describe('records within an iteration', { skip }, () => {
  it('are seen at once, and committed in call order when the iteration succeeds', async () => {
    let local = '';
    let during: string[] = [];
    let after = '';
    const run = runTurn(
      async (ctx) => {
        await ctx.storeMessage(message('a'));
        await ctx.storeToolCall(toolCall('c'));
        await ctx.storeMessage(message('b'));
        await ctx.deleteMessage('a');
        local = ids(ctx.turnMessages);
        during = (await Promise.resolve(writes)).slice();
        ctx.ack();
      },
      {
        turnOutputPipeline: [
          (ctx, next) => {
            after = ids(ctx.turnMessages);
            return next();
          },
        ],
      },
    );
    const writes: string[] = [];
    const result = await run;
    assert.equal(local, 'b');
    assert.deepEqual(during, []);
    assert.equal(after, 'b');
    assert.deepEqual(result.writes, [
      'storeMessage a',
      'storeToolCall c',
      'storeMessage b',
      'deleteMessage a',
    ]);
  });

  it('reach neither storage nor the turn after a nack', async () => {
    let parent = 'unset';
    const { writes } = await runTurn(
      async (ctx) => {
        await ctx.storeMessage(message('a'));
        await ctx.storeToolCall(toolCall('c'));
        ctx.nack(new Error('x'));
      },
      {
        turnInputPipeline: [
          async (ctx, next) => {
            await next();
            parent = ids(ctx.turnMessages) + ids(ctx.turnToolCalls);
          },
        ],
      },
    );
    assert.deepEqual(writes, []);
    assert.equal(parent, '');
  });

  it('are seen by the next iteration', async () => {
    let seen = '';
    await runTurn(
      script(
        (ctx) => ctx.storeToolCall(toolCall('c')),
        (ctx) => {
          seen = ids(ctx.turnToolCalls);
          ctx.ack();
        },
      ),
    );
    assert.equal(seen, 'c');
  });

  it('a commit callback gets the whole queue, the discard callback what was dropped', async () => {
    const commits: Delta[][] = [];
    const discards: unknown[] = [];
    const config = {
      commitCallback: (_ctx: TurnContext, deltas: Delta[]) => void commits.push(deltas),
      discardCallback: (_ctx: TurnContext, deltas: Delta[], status: string) =>
        void discards.push([deltas.length, status]),
    };
    const m = message('a');
    const { writes } = await runTurn(async (ctx) => {
      await ctx.storeMessage(m);
      await ctx.deleteThought('t');
      ctx.ack();
    }, config);
    assert.deepEqual(writes, []);
    assert.deepEqual(commits, [
      [
        { op: 'store', kind: 'message', record: m },
        { op: 'delete', kind: 'thought', id: 't' },
      ],
    ]);
    assert.equal((commits[0]![0] as { record: unknown }).record, m);
    await runTurn(async (ctx) => {
      await ctx.storeMessage(m);
      ctx.nack(new Error('x'));
    }, config);
    assert.deepEqual(discards, [[1, 'nack']]);
  });

  it('a commit that fails says how far it came', async () => {
    const cause = new Error('disk full');
    const { names, events } = await runTurn(
      async (ctx) => {
        for (const id of ['a', 'b', 'c']) await ctx.storeMessage(message(id));
        ctx.ack();
      },
      {
        storeMessageCallback: (_ctx, m) => {
          if (m.id === 'c') throw cause;
        },
      },
    );
    assert.ok(names.includes('err(E_STORAGE_COMMIT_ERROR)'), names.join(' '));
    assert.equal(names.at(-1), 'tE(failed)');
    const [end] = events.filter((e) => e.event === 'dispatchEnd');
    const error = end?.error as { cause: unknown; details: unknown };
    assert.equal(error.cause, cause);
    assert.deepEqual(error.details, [2, 3]);
  });

  it('commit makes writes final before the iteration ends', async () => {
    let atCommit: string[] = [];
    const stored: string[] = [];
    await runTurn(
      async (ctx) => {
        await ctx.storeMessage(message('a'));
        await ctx.commit();
        atCommit = stored.slice();
        await ctx.storeMessage(message('b'));
        ctx.nack(new Error('x'));
      },
      { storeMessageCallback: (_ctx, m) => void stored.push(m.id) },
    );
    assert.deepEqual(atCommit, ['a']);
    assert.deepEqual(stored, ['a']);
  });

  it('a mutation takes the place of the record with its id', async () => {
    let order: Message[] = [];
    const changed = message('b', 'assistant', 'changed');
    await runTurn(async (ctx) => {
      for (const id of ['a', 'b', 'c']) await ctx.storeMessage(message(id));
      await ctx.mutateMessage(changed);
      order = [...ctx.turnMessages];
      ctx.ack();
    });
    assert.equal(ids(order), 'a b c');
    assert.equal(order[1], changed);
  });

  it('groups of tool calls are replaced in place', async () => {
    let seen = '';
    const { writes } = await runTurn(async (ctx) => {
      for (const id of ['a', 'b', 'c']) await ctx.storeToolCall(toolCall(id));
      await ctx.replaceToolCallGroup(['a', 'b'], [toolCall('x'), toolCall('y')]);
      seen = ids(ctx.turnToolCalls);
      ctx.ack();
    });
    assert.equal(seen, 'x y c');
    assert.deepEqual(writes.slice(3), [
      'deleteToolCall a',
      'deleteToolCall b',
      'storeToolCall x',
      'storeToolCall y',
    ]);
  });

  it('counts tool calls by checksum', async () => {
    const counts: number[] = [];
    await runTurn(async (ctx) => {
      await ctx.storeToolCall(toolCall('1', 'a'));
      await ctx.storeToolCall(toolCall('2', 'a'));
      counts.push(ctx.toolCallCount('a'), ctx.toolCallCount('b'));
      await ctx.mutateToolCall(toolCall('2', 'b'));
      counts.push(ctx.toolCallCount('a'), ctx.toolCallCount('b'));
      ctx.turnToolCalls.clear();
      counts.push(ctx.toolCallCount('a'));
      ctx.ack();
    });
    assert.deepEqual(counts, [2, 0, 1, 1, 0]);
  });

  it('a tool call and a document cannot share an id', async () => {
    let code = '';
    await runTurn(async (ctx) => {
      await ctx.storeToolCall(toolCall('same'));
      const document = new Retrievable({
        id: 'same',
        content: 'x',
        trustTier: 'first-party',
        createdAt: 1,
        updatedAt: 1,
      });
      await ctx.storeRetrievable(document).catch((error: unknown) => (code = codeOf(error)));
      ctx.ack();
    });
    assert.equal(code, 'E_ARTIFACT_ID_COLLISION');
  });

  it('are refused when they are of another class, and when the turn is over', async () => {
    let kept: DispatchContext | undefined;
    await runTurn(async (ctx) => {
      kept = ctx;
      await assert.rejects(ctx.storeMessage(toolCall('x') as never), { code: 'E_INVALID_VALUE' });
      await assert.rejects(ctx.storeMessage({ id: 'x' } as never), { code: 'E_INVALID_VALUE' });
      ctx.ack();
    });
    await assert.rejects(kept!.storeMessage(message('late')), { code: 'E_CALL_AFTER_END' });
    assert.throws(() => kept!.ack(), { code: 'E_CALL_AFTER_END' });
  });
});

describe('records of a turn', { skip }, () => {
  it('are stored at once, then in the collection; a failure reaches the caller', async () => {
    const seen: string[] = [];
    const { writes } = await runTurn(
      script((ctx) => ctx.ack()),
      {
        turnInputPipeline: [
          async (ctx, next) => {
            await ctx.storeMessage(message('a'));
            seen.push(ids(ctx.turnMessages));
            await ctx.storeStandingInstruction('be brief');
            await ctx.mutateStandingInstruction('be brief', 'be very brief');
            seen.push([...ctx.standingInstructions].join());
            await ctx.deleteStandingInstruction('be very brief');
            seen.push(String(ctx.standingInstructions.size));
            await next();
          },
        ],
      },
    );
    assert.deepEqual(seen, ['a', 'be very brief', '0']);
    assert.deepEqual(writes, [
      'storeMessage a',
      'storeInstruction be brief',
      'mutateInstruction be brief -> be very brief',
      'deleteInstruction be very brief',
    ]);
    const cause = new Error('no');
    await runTurn(
      script((ctx) => ctx.ack()),
      {
        storeMessageCallback: (_ctx, _m) => Promise.reject(cause),
        turnInputPipeline: [
          async (ctx, next) => {
            await assert.rejects(ctx.storeMessage(message('a')), (error) => error === cause);
            assert.equal(ctx.turnMessages.size, 0);
            await next();
          },
        ],
      },
    );
  });

  it('collections changed by hand reach the dispatch, and its changes stay there', async () => {
    let inside = '';
    let outside = '';
    await runTurn(
      (ctx) => {
        inside = ids(ctx.turnMessages);
        ctx.turnMessages.clear();
        ctx.turnMessages.add(message('only here'));
        ctx.ack();
      },
      {
        turnInputPipeline: [
          async (ctx, next) => {
            const b = message('b');
            ctx.turnMessages.addAll([message('a'), b, message('c')]).add(b);
            assert.equal(ctx.turnMessages.delete(b), true);
            assert.equal(ctx.turnMessages.delete(b), false);
            ctx.turnMessages.add(b);
            await next();
            outside = ids(ctx.turnMessages);
          },
        ],
        turnOutputPipeline: [
          (ctx, next) => {
            outside = ids(ctx.turnMessages);
            return next();
          },
        ],
      },
    );
    assert.equal(inside, 'a c b');
    assert.equal(outside, 'a c b');
  });

  it('a history is shared by turns, and each has what was there', async () => {
    const history = new History('messages', [message('1'), message('2')]);
    const seen: string[] = [];
    const run = (): Promise<unknown> =>
      runTurn(
        async (ctx) => {
          seen.push(ids(ctx.turnMessages));
          await ctx.mutateMessage(message('2', 'assistant', 'changed'));
          await ctx.deleteMessage('1');
          seen.push([...ctx.turnMessages].map((m) => String(m.content)).join(' '));
          ctx.ack();
        },
        {
          turnInputPipeline: [
            (ctx, next) => {
              ctx.turnMessages.addAll(history);
              ctx.turnMessages.add(history.at(0)!);
              return next();
            },
          ],
        },
      );
    await run();
    history.append(message('3'), history.at(0)!);
    assert.equal(history.length, 3);
    await run();
    assert.deepEqual(seen, ['1 2', 'changed', '1 2 3', 'changed 3']);
  });

  it('the stash is copied into the dispatch and not back', async () => {
    const seen: unknown[] = [];
    await runTurn(
      script(
        (ctx) => {
          seen.push(ctx.stash.get('user.name'));
          ctx.stash.set('user.name', 'Eve').set('n', 1);
        },
        (ctx) => {
          seen.push(ctx.stash.get('user.name'));
          ctx.ack();
        },
      ),
      {
        turnOutputPipeline: [
          (ctx, next) => {
            seen.push(ctx.stash.all());
            return next();
          },
        ],
      },
      { stash: { user: { name: 'Ada' } } },
    );
    assert.deepEqual(seen, ['Ada', 'Eve', { user: { name: 'Ada' } }]);
  });

  it('fetching calls the callback and changes nothing', async () => {
    await runTurn(
      async (ctx) => {
        assert.equal(ids(await ctx.fetchMessages()), 'f');
        assert.equal(ctx.turnMessages.size, 0);
        await assert.rejects(ctx.fetchRetrievables(), { message: 'Duplicate retrievable id: d' });
        ctx.ack();
      },
      {
        fetchMessagesCallback: (ctx) => {
          assert.equal(ctx.constructor.name, 'TurnContext');
          return [message('f')];
        },
        fetchRetrievablesCallback: (_ctx) =>
          [1, 2].map(
            () =>
              new Retrievable({
                id: 'd',
                content: 'x',
                trustTier: 'first-party',
                createdAt: 1,
                updatedAt: 1,
              }),
          ),
      },
    );
  });
});
