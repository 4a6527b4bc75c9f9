/**
 * Conversations that a store loads: what a turn costs, and what it sees.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Instance } from '../../src/instance/instance.js';
import { FIXED_INSTANT } from '../../src/entropy.js';
import {
  createRunner,
  type Delta,
  loadConversation,
  Media,
  memoryStore,
  Message,
  type Store,
  storeCallbacks,
  Thought,
  TurnRunner,
} from '../../src/index.js';
import { type Conversation } from '../../src/entries/stores.js';
import { encodeBody } from '../../src/primitives/body.js';
import { MemoryReader } from '../../src/readers/memory-reader.js';
import { SessionLoader } from '../../src/sessions/session-loader.js';
import { codeOf, message, testHost, skip } from './harness.js';

/** What was loaded, encoded and sent since the process began. */
const counts = { loaded: 0, encoded: 0, crossed: 0 };

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its instance below
const step = Instance.prototype.step;
Instance.prototype.step = function (bytes) {
  counts.crossed += bytes.length;
  return step.call(this, bytes);
};
const encodeThought = Thought.prototype[encodeBody];
Thought.prototype[encodeBody] = function (enc) {
  counts.encoded++;
  encodeThought.call(this, enc);
};

const copyOf = (m: Message): Message =>
  new Message({
    id: m.id,
    role: m.role,
    content: String(m.content),
    createdAt: m.createdAt,
    updatedAt: m.updatedAt,
  });

/**
 * A store whose `load` makes every message and thought anew, as one over a database does. It has revisions unless it is
 * told to hide them.
 */
function rebuilding(hide: boolean, spoil = (c: Conversation): Conversation => c): Store {
  const memory = memoryStore();
  return {
    load: async (session, after) => {
      const held = await memory.load(session, hide ? '' : after);
      counts.loaded += held.messages.length + held.thoughts.length;
      return spoil({
        ...held,
        revision: hide ? undefined : held.revision,
        messages: held.messages.map(copyOf),
        thoughts: held.thoughts.map(
          ({ id, content, createdAt, updatedAt }) =>
            new Thought({ id, content: String(content), createdAt, updatedAt }),
        ),
      });
    },
    commit: (session, commit) => memory.commit(session, commit),
    newest: (session) => memory.newest(session),
    putBytes: (session, id, bytes) => memory.putBytes(session, id, bytes),
    openBytes: (session, id) => memory.openBytes(session, id),
  };
}

const put = (id: string, content: string): Delta => {
  const times = { createdAt: FIXED_INSTANT - 5000, updatedAt: FIXED_INSTANT - 5000 };
  return {
    op: 'store',
    kind: 'message',
    record: new Message({ id, role: 'user', content, ...times }),
  };
};
const change = (id: string, content: string): Delta =>
  ({ ...put(id, content), op: 'mutate' }) as Delta;
const remove = (id: string): Delta => ({ op: 'delete', kind: 'message', id });

describe('a turn on a long conversation', { skip }, () => {
  /** What the third turn of a session costs that began with n messages and thoughts. */
  async function measure(n: number, hide: boolean): Promise<typeof counts> {
    const store = rebuilding(hide);
    const deltas: Delta[] = [];
    for (let i = 0; i < n; i++) {
      const times = { createdAt: FIXED_INSTANT - 5000, updatedAt: FIXED_INSTANT - 5000 };
      const record = new Thought({ id: `t${i}`, content: 'thinking', ...times });
      deltas.push(put(`m${i}`, 'What a message says, in some words.'));
      deltas.push({ op: 'store', kind: 'thought', record });
    }
    await store.commit('s', { deltas });
    const runner = createRunner({
      store,
      // A journal would hold the whole history in each turn.
      host: await testHost({ verify: false, journal: undefined }),
      executor: async (ctx) => {
        assert.equal(ctx.turnThoughts.size, n);
        await ctx.storeMessage(message(`a${ctx.turnMessages.size}`));
        ctx.ack();
      },
    });
    const run = async () => {
      const { status, error } = await runner.stream({ message: 'Hi!', sessionId: 's' }).result;
      assert.equal(status, 'ack', String(error));
    };
    await run();
    await run();
    const before = { ...counts };
    await run();
    return {
      loaded: counts.loaded - before.loaded,
      encoded: counts.encoded - before.encoded,
      crossed: counts.crossed - before.crossed,
    };
  }

  it('costs the same, also with a store that makes its lists anew', async () => {
    const none = await measure(0, false);
    const many = await measure(2000, false);
    const text = `${JSON.stringify(many)} against ${JSON.stringify(none)}`;
    assert.ok(many.loaded <= none.loaded, text);
    assert.equal(many.encoded, 0, text);
    assert.ok(many.crossed <= 1.1 * none.crossed, text);
  });

  it('sends nothing again when the store has no revisions', async () => {
    const none = await measure(0, true);
    const many = await measure(2000, true);
    assert.ok(many.crossed <= 1.1 * none.crossed, JSON.stringify([many, none]));
  });
});

/** Returns a function that runs a turn of a session and tells which messages it has. */
async function watch(store: Store): Promise<(sessionId?: string) => Promise<string>> {
  let saw = '';
  const runner = new TurnRunner({
    ...storeCallbacks(store),
    turnInputPipeline: [loadConversation(store)],
    host: await testHost(),
    executorCallback: (ctx) => {
      saw = [...ctx.turnMessages].map(({ id, content }) => `${id}=${String(content)}`).join(' ');
      ctx.ack();
    },
  });
  return async (sessionId = 's') => {
    const stream = runner.stream({ systemPrompt: 'test', stash: { sessionId } });
    const { status, error } = await stream.result;
    if (status !== 'ack') throw error as Error;
    return saw;
  };
}

describe('a loaded conversation', { skip }, () => {
  for (const [name, deltas, want] of [
    ['nothing happened', [], 'a=1 b=2 c=3'],
    ['a record was added', [put('d', '4')], 'a=1 b=2 c=3 d=4'],
    ['an old record was changed', [change('a', '5')], 'a=5 b=2 c=3'],
    ['the last record was changed', [change('c', '5'), put('d', '4')], 'a=1 b=2 c=5 d=4'],
    ['an old record was deleted', [remove('a')], 'b=2 c=3'],
    ['the last record was deleted', [remove('c')], 'a=1 b=2'],
    ['the last record was replaced', [remove('c'), put('d', '4')], 'a=1 b=2 d=4'],
    ['all were deleted', [remove('a'), remove('b'), remove('c')], ''],
  ] as const) {
    for (const hide of [false, true]) {
      it(`is what the store has when ${name}${hide ? ', without revisions' : ''}`, async () => {
        const store = rebuilding(hide);
        const saw = await watch(store);
        await store.commit('s', { deltas: [put('a', '1'), put('b', '2')] });
        assert.equal(await saw(), 'a=1 b=2');
        await store.commit('s', { deltas: [put('c', '3')] });
        assert.equal(await saw(), 'a=1 b=2 c=3');
        await store.commit('s', { deltas });
        assert.equal(await saw(), want);
        await store.commit('s', { deltas: [put('e', '6')] });
        assert.equal(await saw(), `${want} e=6`.trim());
        assert.equal(await saw('fork'), '');
      });
    }
  }

  it('has the message that the turn began with once, as the very object', async () => {
    for (const hide of [false, true]) {
      const store = rebuilding(hide);
      let saw: string[] = [];
      const runner = createRunner({
        store,
        host: await testHost(),
        executor: async (ctx) => {
          saw = [...ctx.turnMessages].map(({ content }) => String(content));
          await ctx.storeMessage(message(`a${saw.length}`));
          ctx.ack();
        },
      });
      for (const want of [['0'], ['0', 'a1', '1'], ['0', 'a1', '1', 'a3', '2']]) {
        await runner.stream({ message: want.at(-1)! }).result;
        assert.deepEqual(saw, want);
      }
    }
  });

  it('is whole for turns that load it at the same time', async () => {
    for (const hide of [false, true]) {
      const store = rebuilding(hide);
      const sessions = new SessionLoader(store);
      const loads: Promise<void>[] = [];
      for (let i = 0; i < 40; i++) {
        await store.commit('s', { deltas: [put(String(i), 'x')] });
        for (let n = 0; n < 4; n++) {
          const load = sessions.load('s').then(({ records: { messages } }) => {
            assert.ok(messages!.length > i);
            for (let at = 0; at < messages!.length; at++) {
              assert.equal(messages!.history.at(at)!.id, String(at));
            }
          });
          loads.push(load);
        }
      }
      await Promise.all(loads);
    }
  });

  it('is refused when it answers for another revision than was asked for', async () => {
    const spoiled = [
      [{ after: 'other' }, 'after: is "other", but revision "" was asked for'],
      [
        { messages: [{ id: 'x' }] as unknown as Message[] },
        'messages[0]: must be an instance of Message',
      ],
    ] as const;
    for (const [wrong, reason] of spoiled) {
      const saw = await watch(rebuilding(false, (c) => ({ ...c, ...wrong })));
      await assert.rejects(saw(), (error: Error) => {
        assert.equal(codeOf(error.cause), 'E_INVALID_VALUE');
        assert.ok(error.message.includes(reason), error.message);
        return true;
      });
    }
    const store = rebuilding(false, (c) => (c.after === undefined ? c : { ...c, revision: '' }));
    await store.commit('s', { deltas: [put('a', '1')] });
    const saw = await watch(store);
    await saw();
    await assert.rejects(saw(), /revision: must not be empty where after is set/);
  });

  it('is refused when it is no object, and when its records are no lists', async () => {
    for (const [wrong, reason] of [
      [{ messages: 5 }, 'what the store loaded: messages: must be a list'],
      [{ thoughts: 'text' }, 'what the store loaded: thoughts: must be a list'],
      [{ instructions: 5 }, 'what the store loaded: instructions: must be a list'],
      [{ instructions: 'text' }, 'what the store loaded: instructions: must be a list'],
      [{ revision: 5 }, 'what the store loaded: revision: must be a string'],
      [{ after: {}, revision: 'r' }, 'what the store loaded: after: must be a string'],
      [5, 'what the store loaded: must be an object'],
      [true, 'what the store loaded: must be an object'],
      ['text', 'what the store loaded: must be an object'],
      [[], 'what the store loaded: must be an object'],
      [new Map([['messages', []]]), 'what the store loaded: must be an object'],
    ] as const) {
      const saw = await watch(rebuilding(false, () => wrong as never));
      await assert.rejects(saw(), (error: Error) => {
        assert.equal(codeOf(error.cause), 'E_INVALID_VALUE');
        assert.ok(error.message.endsWith(reason), error.message);
        return true;
      });
    }
  });

  it('may be nothing, for a session that the store does not know', async () => {
    const nothing = undefined as unknown as Conversation;
    const saw = await watch(rebuilding(false, () => nothing));
    assert.equal(await saw(), '');
  });

  it('is never a record from before that is read elsewhere', async () => {
    const loaded: Message[] = [];
    const store = rebuilding(true, (c) => {
      const photo = Media.userAttachment({
        kind: 'image',
        mimeType: 'image/png',
        filename: 'p.png',
        reader: new MemoryReader(Uint8Array.of(1)),
      });
      loaded.push(
        new Message({ id: 'm', role: 'user', attachments: [photo], createdAt: 1, updatedAt: 1 }),
      );
      return { ...c, messages: [loaded.at(-1)!] };
    });
    const sessions = new SessionLoader(store);
    for (let i = 0; i < 2; i++) {
      const { messages } = (await sessions.load('s')).records;
      assert.equal(messages!.history.at(0), loaded.at(-1));
    }
  });
});

describe('sessions that are remembered', () => {
  const storeOf = async (sizes: readonly number[]): Promise<Store> => {
    const store = memoryStore();
    for (const [i, size] of sizes.entries()) {
      await store.commit(String(i), { deltas: [put('m', 'x'.repeat(size))] });
    }
    return store;
  };

  it('are bounded by their number: the one that was not used for longest goes', async () => {
    const store = await storeOf([1, 1, 1, 1]);
    const full: string[] = [];
    const load = async (session: string, after = ''): Promise<Conversation> => {
      if (after === '') full.push(session);
      return store.load(session, after);
    };
    const sessions = new SessionLoader({ ...store, load }, 3);
    for (const session of ['0', '1', '2', '0', '3', '0', '1']) await sessions.load(session);
    assert.equal(sessions.size, 3);
    assert.deepEqual(full, ['0', '1', '2', '3', '1']);
  });

  it('are bounded by their size, and the one used last always stays', async () => {
    const sessions = new SessionLoader(await storeOf([400, 400, 400, 4000]), 10, 1500);
    for (const session of ['0', '1', '2']) await sessions.load(session);
    assert.equal(sessions.size, 2);
    await sessions.load('3');
    assert.equal(sessions.size, 1);
  });
});
