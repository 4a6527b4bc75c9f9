/**
 * Turns of a session that are started together, writers that race, and what turns tell a store.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type AgentConfig,
  createRunner,
  type Delta,
  memoryStore,
  type Store,
  Tool,
} from '../../src/index.js';
import { messageOf } from '../../src/errors.js';
import type { Commit } from '../../src/entries/stores.js';
import { codeOf, message, skip, testHost } from './harness.js';

/** A runner whose turns say when they begin, and end when they are told to. */
async function steps(store: Store, config: Partial<AgentConfig> = {}) {
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const runner = createRunner({
    host: await testHost(),
    store,
    executor: async (ctx) => {
      const [last] = [...ctx.turnMessages].slice(-1);
      log.push(`${String(last!.content)} of ${ctx.turnMessages.size}`);
      await new Promise<void>((resolve) => ends.push(resolve));
      ctx.ack();
    },
    ...config,
  } as AgentConfig);
  const until = async (turns: number): Promise<void> => {
    while (log.length < turns) await new Promise((resolve) => setTimeout(resolve));
  };
  return { runner, log, ends, until };
}

const turns = 3;

describe('turns of a session', { skip }, () => {
  it('run one after the other, by whichever runners', async () => {
    const store = memoryStore();
    const one = await steps(store);
    const two = await steps(store);
    const running = [one, two, one].map(
      ({ runner }, i) =>
        runner.stream({ message: `m${i}`, sessionId: 's', turnId: `t${i}` }).result,
    );
    for (let i = 0; i < turns; i++) {
      const { ends, until } = i === 1 ? two : one;
      await until(i === 2 ? 2 : 1);
      assert.deepEqual(
        [one.log.length, two.log.length],
        [
          [1, 0],
          [1, 1],
          [2, 1],
        ][i],
      );
      ends.at(-1)!();
    }
    for (const { status, error } of await Promise.all(running)) {
      assert.equal(status, 'ack', String(error));
    }
    assert.deepEqual([one.log, two.log], [['m0 of 1', 'm2 of 3'], ['m1 of 2']]);
  });

  it('do not wait for those of other sessions', async () => {
    const { runner, log, ends, until } = await steps(memoryStore());
    const running = ['a', 'b'].map((sessionId) => runner.run({ message: sessionId, sessionId }));
    await until(2);
    assert.deepEqual(log, ['a of 1', 'b of 1']);
    for (const end of ends) end();
    await Promise.all(running);
  });

  it('are refused while one runs, if that is wanted', async () => {
    const { runner, ends, until } = await steps(memoryStore(), { whenBusy: 'refuse' });
    const first = runner.run({ message: 'first' });
    await until(1);
    await assert.rejects(runner.run({ message: 'second' }), (error) => {
      assert.equal(codeOf(error), 'E_SESSION_BUSY');
      assert.match((error as Error).message, /session "default"/);
      return true;
    });
    ends[0]!();
    await first;
    const third = runner.run({ message: 'third' });
    await until(2);
    ends[1]!();
    await third;
    assert.throws(() => createRunner({ whenBusy: 'wait' as never, executor: () => undefined }), {
      code: 'E_INVALID_TURN_RUNNER_CONFIG',
      message: /whenBusy/,
    });
  });

  it('are refused inside the session’s own turn, as far as their signal tells', async () => {
    const store = memoryStore();
    const errors: string[] = [];
    const host = await testHost();
    const start = async (sessionId: string, signal?: AbortSignal): Promise<void> => {
      const given = signal === undefined ? {} : { signal };
      const { error } = await runner.stream({ message: 'inside', sessionId, ...given }).result;
      errors.push(`${sessionId}: ${error === undefined ? 'ran' : messageOf(error)}`);
    };
    const nest = new Tool({
      name: 'nest',
      description: 'Starts turns',
      inputSchema: { type: 'object' },
      handler: async (_, ctx) => {
        await start('a', ctx.abortSignal);
        return 'done';
      },
    });
    const runner = createRunner({
      host,
      store,
      executor: async (ctx) => {
        const session = ctx.stash.get('sessionId');
        if (session === 'a') {
          await nest.executor(ctx)({});
          await start('a', ctx.abortSignal);
          await start('b', ctx.abortSignal);
        } else if (session === 'b') await start('a', ctx.abortSignal);
        ctx.ack();
      },
    });
    await runner.run({ message: 'outer', sessionId: 'a' });
    const why = 'the turn is started inside another one of it';
    const refused = `a: A turn of the session is running: session "a": ${why}`;
    assert.deepEqual(errors, [refused, refused, refused, 'b: ran']);
    // A signal of another session's turn leaves a turn in line.
    errors.length = 0;
    await start('c', new AbortController().signal);
    assert.deepEqual(errors, ['c: ran']);
  });

  it('leave the line when they are aborted', async () => {
    const store = memoryStore();
    const { runner, log, ends, until } = await steps(store);
    const first = runner.run({ message: 'first' });
    await until(1);
    const controller = new AbortController();
    const second = runner.stream({ message: 'second', signal: controller.signal }).result;
    const third = runner.stream({ message: 'third' }).result;
    controller.abort();
    assert.equal((await second).status, 'aborted');
    ends[0]!();
    await first;
    await until(2);
    ends[1]!();
    assert.equal((await third).status, 'ack');
    assert.equal(log.length, 2);
  });
});

describe('a turn that loses a race', { skip }, () => {
  it('fails with the record’s name, and stores nothing of the iteration', async () => {
    const store = memoryStore();
    const put = (content: string): Delta => ({
      op: 'mutate',
      kind: 'message',
      record: message('shared', 'user', content),
    });
    await store.commit('default', { deltas: [put('before')] });
    const runner = createRunner({
      host: await testHost(),
      store,
      executor: async (ctx) => {
        await store.commit('default', { deltas: [put('theirs')] });
        await ctx.storeMessage(message('mine'));
        await ctx.mutateMessage(message('shared', 'user', 'mine'));
        ctx.ack();
      },
    });
    const { status, error } = await runner.stream({ message: 'hello', turnId: 't' }).result;
    assert.equal(status, 'failed');
    assert.equal(codeOf(error), 'E_STORAGE_COMMIT_ERROR');
    const { cause } = error as { cause: { code: string; details: unknown } };
    assert.equal(cause.code, 'E_SESSION_CONFLICT');
    assert.deepEqual(cause.details, { session: 'default', kind: 'message', id: 'shared' });
    const { messages } = await store.load('default');
    assert.deepEqual(
      messages.map(({ id, content }) => `${id} ${String(content)}`),
      ['shared theirs', 't.user hello'],
    );
  });
});

describe('a turn’s commits', { skip }, () => {
  it('have a key each, and the turns that have ended', async () => {
    const memory = memoryStore();
    const commits: Commit[] = [];
    const store: Store = {
      load: (session, after) => memory.load(session, after),
      commit: async (session, commit) => {
        commits.push(commit);
        assert.equal(open++, 0, 'one at a time');
        await new Promise((resolve) => setTimeout(resolve));
        open--;
        return memory.commit(session, commit);
      },
      putBytes: (session, id, bytes) => memory.putBytes(session, id, bytes),
      openBytes: (session, id) => memory.openBytes(session, id),
    };
    let open = 0;
    const runner = createRunner({
      host: await testHost(),
      store,
      turnInputPipeline: [
        async (ctx, next) => {
          const writes = ['a', 'b'].map((id) => ctx.storeMessage(message(`${ctx.id} ${id}`)));
          await Promise.all(writes);
          await next();
        },
      ],
      executor: async (ctx) => {
        if (ctx.iteration > 0) ctx.ack();
        await ctx.storeMessage(message(`${ctx.turnMessages.size} more`));
      },
    });
    for (const turnId of ['one', 'two']) await runner.run({ turnId });
    const keys = commits.map(({ key }) => key);
    assert.equal(new Set(keys).size, commits.length);
    const runs = [...new Set(commits.map(({ turn }) => turn))];
    assert.equal(runs.length, 2);
    const [first] = commits;
    for (const { key, turn } of commits) assert.match(key!, /\.e\d+$/, turn);
    assert.deepEqual(first!.ended, []);
    const second = commits.find(({ turn }) => turn?.startsWith('two@'));
    assert.deepEqual(second!.ended, [first!.turn]);
  });
});
