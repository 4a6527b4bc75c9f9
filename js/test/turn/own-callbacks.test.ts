/**
 * Callbacks of the program's own in the places of a store's.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type Delta,
  type DispatchContext,
  DispatchRunner,
  isTurncoreError,
  Memory,
  type Message,
  type Store,
  memoryStore,
  storeCallbacks,
  ToolCall,
  type TurnCallbacks,
  TurnRunner,
} from '../../src/index.js';
import { type AnyContext, type RawDispatchContext } from '../../src/entries/runners.js';
import { codeOf, message, skip, testHost } from './harness.js';

const times = { createdAt: 1, updatedAt: 1 };
const memory = (id: string): Memory =>
  new Memory({ id, content: 'c', confidence: 1, importance: 1, ...times });
const toolCall = (id: string): ToolCall => {
  const call = {
    tool: 't',
    args: {},
    checksum: 's',
    results: 'r',
    isComplete: true,
    isError: false,
  };
  return new ToolCall({ id, ...call, ...times, completedAt: 1 });
};

const idOf = (delta: Delta): string =>
  delta.op === 'replaceToolCallGroup'
    ? delta.ids.join()
    : delta.op === 'delete'
      ? delta.id
      : 'id' in delta.record
        ? delta.record.id
        : String(delta.record);

/** A store that tells of its commits, one of which may fail. */
function toldStore(told: string[], fail?: string): Store {
  const store = memoryStore();
  return {
    load: (session) => store.load(session),
    putBytes: (session, id, bytes) => store.putBytes(session, id, bytes),
    openBytes: (session, id) => store.openBytes(session, id),
    commit: (session, commit) => {
      const words = commit.deltas.map((d) => `${d.op} ${d.kind} ${idOf(d)}`);
      told.push(`[${words.join(', ')}]`);
      if (fail !== undefined && words.includes(fail)) throw new Error('refused');
      return store.commit(session, commit);
    },
  };
}

async function writeAll(ctx: AnyContext): Promise<void> {
  await ctx.storeMemory(memory('k'));
  await ctx.storeMessage(message('m'));
  await ctx.mutateMessage(message('m'));
  await ctx.storeStandingInstruction('i');
  await ctx.storeToolCall(toolCall('a'));
  await ctx.replaceToolCallGroup(['a'], [toolCall('b')]);
  await ctx.deleteMessage('m');
}

type Own = (callbacks: TurnCallbacks, told: (words: string) => void) => Partial<TurnCallbacks>;

const rest =
  '[store standingInstruction i] [store toolCall a] [replaceToolCallGroup toolCall a] [delete message m]';
const restAtOnce = rest.replaceAll('] [', ', ');

const cases: Record<string, { own: Own; inTurn: string; inCommit: string }> = {
  none: {
    own: () => ({}),
    inTurn: `[store memory k] [store message m] [mutate message m] ${rest}`,
    inCommit: `[store memory k, store message m, mutate message m, ${restAtOnce.slice(1)}`,
  },
  'store message': {
    own: (_, told) => ({
      storeMessageCallback: (_ctx, m: Message) => told(`store message ${m.id}`),
    }),
    inTurn: `[store memory k] own: store message m [mutate message m] ${rest}`,
    inCommit: `[store memory k] own: store message m [mutate message m, ${restAtOnce.slice(1)}`,
  },
  'a memory, asynchronously': {
    own: (_, told) => ({
      storeMemoryCallback: async (_ctx, m: Memory) => {
        await new Promise(setImmediate);
        told(`store memory ${m.id}`);
      },
    }),
    inTurn: `own: store memory k [store message m] [mutate message m] ${rest}`,
    inCommit: `own: store memory k [store message m, mutate message m, ${restAtOnce.slice(1)}`,
  },
  'around the store’s': {
    own: ({ deleteMessageCallback }, told) => ({
      deleteMessageCallback: (ctx, id) => {
        told('before');
        return deleteMessageCallback(ctx, id);
      },
    }),
    inTurn: `[store memory k] [store message m] [mutate message m] ${rest.replace('[delete', 'own: before [delete')}`,
    inCommit: `[store memory k, store message m, mutate message m, ${restAtOnce.slice(1).replace(', delete', '] own: before [delete')}`,
  },
  'another store’s': {
    own: () => ({ mutateMessageCallback: storeCallbacks(memoryStore()).mutateMessageCallback }),
    inTurn: `[store memory k] [store message m] ${rest}`,
    inCommit: `[store memory k, store message m] ${restAtOnce}`,
  },
  'store tool call': {
    own: (_, told) => ({
      storeToolCallCallback: (_ctx, call: ToolCall) => told(`store toolCall ${call.id}`),
    }),
    inTurn:
      '[store memory k] [store message m] [mutate message m] [store standingInstruction i] own: store toolCall a [delete toolCall a] own: store toolCall b [delete message m]',
    inCommit:
      '[store memory k, store message m, mutate message m, store standingInstruction i] own: store toolCall a [delete toolCall a] own: store toolCall b [delete message m]',
  },
  group: {
    own: (_, told) => ({
      replaceToolCallGroupCallback: (_ctx, ids) => told(`group ${ids.join()}`),
    }),
    inTurn:
      '[store memory k] [store message m] [mutate message m] [store standingInstruction i] [store toolCall a] own: group a [delete message m]',
    inCommit:
      '[store memory k, store message m, mutate message m, store standingInstruction i, store toolCall a] own: group a [delete message m]',
  },
};

const acking = async (ctx: DispatchContext): Promise<void> => {
  await writeAll(ctx);
  ctx.ack();
};

/** Callbacks of a turn as a raw context takes them, and nothing of a turn's. */
const rawOf = (callbacks: TurnCallbacks): RawDispatchContext => ({
  ...callbacks,
  systemPrompt: 'test',
});

describe(
  'a callback in the place of one of a store’s is called for every write of its kind',
  { skip },
  () => {
    for (const [name, { own, inTurn, inCommit }] of Object.entries(cases)) {
      it(name, async () => {
        let told: string[] = [];
        const taken = (): string => {
          const words = told.join(' ');
          told.length = 0;
          return words;
        };
        const made = storeCallbacks(toldStore(told));
        const callbacks = { ...made, ...own(made, (words) => told.push(`own: ${words}`)) };
        const host = await testHost();
        const runner = new TurnRunner({
          ...callbacks,
          turnInputPipeline: [
            async (ctx, next) => {
              await writeAll(ctx);
              assert.equal(taken(), inTurn);
              await next();
            },
          ],
          executorCallback: acking,
          host,
        });
        const { error } = await runner.stream({ systemPrompt: 'test' }).result;
        assert.equal(error, undefined);
        assert.equal(taken(), inCommit);
        await DispatchRunner.dispatch({ raw: rawOf(callbacks), executor: acking, host });
        assert.equal(taken(), inCommit, 'in a dispatch without a turn');
        told = [];
      });
    }

    it('and a commit in parts that fails says how far it came', async () => {
      for (const [fail, applied] of [
        ['mutate message m', 2],
        [undefined, 1],
      ] as const) {
        const runner = new TurnRunner({
          ...storeCallbacks(toldStore([], fail)),
          storeMessageCallback: () => {
            if (fail === undefined) throw new Error('refused');
          },
          executorCallback: acking,
          host: await testHost(),
        });
        const { error } = await runner.stream({ systemPrompt: 'test' }).result;
        assert.ok(isTurncoreError(error, 'E_STORAGE_COMMIT_ERROR'), String(error));
        assert.deepEqual(error.details, [applied, 7]);
      }
    });

    it('so that one beside a commit of one’s own is refused, by name', async () => {
      const made = storeCallbacks(memoryStore());
      const mine = (): void => undefined;
      const storeMessageCallback = mine;
      const commitCallback = mine;
      const fields = [
        '`storeMessageCallback` and `commitCallback`',
        '`deleteMemoryCallback` and `commitCallback`',
      ];
      const wrong: [Partial<TurnCallbacks>, string[]][] = [
        [{ commitCallback, storeMessageCallback, deleteMemoryCallback: mine }, fields],
        [
          { commitCallback, replaceToolCallGroupCallback: mine },
          ['`replaceToolCallGroupCallback` and `commitCallback`'],
        ],
      ];
      const executorCallback = (ctx: DispatchContext): void => ctx.ack();
      for (const [own, words] of wrong) {
        const callbacks = { ...made, ...own };
        const refused = (error: unknown): true => {
          for (const part of words) assert.ok(String(error).includes(part), String(error));
          return true;
        };
        assert.throws(() => new TurnRunner({ ...callbacks, executorCallback }), refused);
        const dispatched = DispatchRunner.dispatch({
          raw: rawOf(callbacks),
          executor: executorCallback,
        });
        await assert.rejects(dispatched, refused);
        await dispatched.catch((error: unknown) =>
          assert.equal(codeOf(error), 'E_INVALID_LLM_EXECUTION_CONTEXT'),
        );
      }
      const right: Partial<TurnCallbacks>[] = [
        { commitCallback },
        { storeMessageCallback },
        { storeMessageCallback, commitCallback: undefined },
        Object.fromEntries(Object.keys(made).map((name) => [name, (): void => undefined])),
      ];
      for (const own of right) new TurnRunner({ ...made, ...own, executorCallback });
    });
  },
);
