/**
 * Idempotency keys of tools' calls and of writes.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { EffectKind, Op } from '../../src/abi/frames.gen.js';
import { readFrame } from '../../src/codec/tuples.gen.js';
import { framesOf } from '../../src/codec/decoder.js';
import {
  DispatchContext,
  DispatchRunner,
  memoryStore,
  type Message,
  storeCallbacks,
  Thought,
  Tool,
  toolCallChecksum,
  type TurnContext,
} from '../../src/index.js';
import { type Clock } from '../../src/entries/host.js';
import { MemoryJournal, replay } from '../../src/entries/replay.js';
import { readJournal } from '../../src/journal/reader.js';
import { coreModule, message, runTurn, skip, testHost } from './harness.js';

/** 2026-01-01. */
const NOW = 1_767_225_600_000;

/** A tool that writes down its keys. */
function payTool(keys: (string | undefined)[]): Tool<Record<string, unknown>, string> {
  return new Tool({
    name: 'pay',
    description: 'Pays',
    inputSchema: { type: 'object' },
    handler: async (_, ctx) => {
      keys.push(ctx.idempotencyKey);
      await new Promise((resolve) => setTimeout(resolve, 1));
      return 'paid';
    },
  });
}

function thought(id: string): Thought {
  return new Thought({ id, content: 'x', createdAt: 1, updatedAt: 1 });
}

describe('idempotency keys', { skip }, () => {
  it('of equal calls at once are numbered without gaps', async () => {
    const keys: string[] = [];
    const pay = payTool(keys);
    let outside: string | undefined = 'not seen';
    const executor = async (ctx: DispatchContext): Promise<void> => {
      outside = ctx.idempotencyKey;
      await Promise.all(Array.from({ length: 20 }, () => pay.executor(ctx)({})));
      ctx.ack();
    };
    await runTurn(executor, {}, { turnId: 't' });
    const sum = toolCallChecksum('pay', {});
    assert.deepEqual(
      keys,
      Array.from({ length: 20 }, (_, i) => `t.d1.0.x.${sum}.${i + 1}`),
    );
    assert.equal(outside, undefined);
  });

  it('of another run of a turn are the same for calls, and others for writes', async () => {
    let now = NOW;
    const clock: Clock = () => now;
    const runs: { calls: string[]; writes: string[] }[] = [];
    for (let i = 0; i < 2; i++) {
      const run = { calls: [] as string[], writes: [] as string[] };
      runs.push(run);
      const pay = payTool(run.calls);
      await runTurn(
        async (ctx) => {
          await pay.executor(ctx)({});
          await ctx.storeMessage(message('a'));
          await ctx.storeMessage(message('b'));
          ctx.ack();
        },
        {
          host: await testHost({ clock }),
          storeMessageCallback: (ctx, { id }) => run.writes.push(`${id} ${ctx.idempotencyKey}`),
        },
        { turnId: 't' },
      );
      now++;
    }
    assert.equal(runs[0]!.calls.length, 1);
    assert.deepEqual(runs[0]!.calls, runs[1]!.calls);
    assert.deepEqual(runs[0]!.writes, ['a t@mjuohs00.e3.0', 'b t@mjuohs00.e3.1']);
    assert.deepEqual(runs[1]!.writes, ['a t@mjuohs01.e3.0', 'b t@mjuohs01.e3.1']);
  });

  it('of commits are those that Go gives, see TestKeysOfPartsOfCommits', async () => {
    const store = memoryStore();
    const keys: (string | undefined)[] = [];
    const { storeMessageCallback, ...callbacks } = storeCallbacks({
      load: (session, after) => store.load(session, after),
      commit: (session, commit) => {
        keys.push(commit.key);
        return store.commit(session, commit);
      },
      putBytes: (session, id, content) => store.putBytes(session, id, content),
      openBytes: (session, id) => store.openBytes(session, id),
    });
    await runTurn(
      async (ctx) => {
        await ctx.storeMessage(message('a'));
        await ctx.storeThought(thought('b'));
        await ctx.storeThought(thought('c'));
        await ctx.storeMessage(message('d'));
        ctx.ack();
      },
      {
        host: await testHost({ clock: () => NOW }),
        ...callbacks,
        // Two commits under one key, in parts of an effect.
        storeMessageCallback: async (ctx: TurnContext, record: Message) => {
          await storeMessageCallback(ctx, record);
          await storeMessageCallback(ctx, record);
        },
      },
      { turnId: 't' },
    );
    const of = 't@mjuohs00.e2';
    assert.deepEqual(keys, [`${of}.0`, `${of}.0+1`, `${of}.1`, `${of}.3`, `${of}.3+1`]);
  });

  it('are those of the frames of a journal, which a replay gives again', async () => {
    const calls: string[] = [];
    const writes: string[] = [];
    const pay = payTool(calls);
    const journal = new MemoryJournal();
    await runTurn(
      async (ctx) => {
        for (let i = 0; i < 2; i++) {
          await DispatchRunner.dispatch({
            source: ctx,
            executor: async (inner) => {
              await pay.executor(inner)({});
              await inner.storeMessage(message(`m${ctx.iteration}${i}`));
              inner.ack();
            },
          });
        }
        await pay.executor(ctx)({});
        if (ctx.iteration > 0) ctx.ack();
      },
      {
        host: await testHost({ journal: () => journal }),
        commitCallback: (ctx) => writes.push(String(ctx.idempotencyKey)),
      },
      { turnId: 't' },
    );
    assert.equal(calls.length, 6);
    assert.equal(writes.length, 2);
    const report = await replay(journal.bytes(), await coreModule());
    assert.equal(report.difference, undefined);
    const found = { calls: [] as string[], writes: [] as string[] };
    for (const { out } of readJournal(journal.bytes()).entries) {
      for (const frame of framesOf(readFrame, out)) {
        if (frame.op !== Op.Effect) continue;
        if (frame.kind === EffectKind.Tool) {
          found.calls.push(`t.${frame.path}.${frame.args.callId}.${frame.ordinal}`);
        } else if (frame.kind === EffectKind.Commit)
          found.writes.push(`t@${NOW.toString(36)}.e${frame.effect}`);
      }
    }
    assert.deepEqual(found, { calls, writes });
  });

  it('belong to a context of the call, which is otherwise that of its dispatch', async () => {
    const seen: DispatchContext[] = [];
    const look = new Tool({
      name: 'look',
      description: 'Looks',
      inputSchema: { type: 'object' },
      handler: (_, ctx) => {
        seen.push(ctx);
        ctx.stash.set('seen', true);
      },
    });
    await runTurn(async (ctx) => {
      await look.executor(ctx)({});
      await look.executor(ctx)({});
      const [first, second] = seen as [DispatchContext, DispatchContext];
      assert.ok(first instanceof DispatchContext);
      assert.notEqual(first.idempotencyKey, second.idempotencyKey);
      assert.equal(first.dispatchId, ctx.dispatchId);
      assert.equal(first.turnMessages, ctx.turnMessages);
      assert.equal(first.tools, ctx.tools);
      assert.equal(first.stash, ctx.stash);
      assert.equal(ctx.stash.get('seen'), true);
      first.ack();
      assert.equal(ctx.isAcked, true);
    });
    assert.equal(seen.length, 2);
  });
});
