/**
 * Conversations of the chat executor with the simulated provider: signals from inside the module, and the order of what
 * is said.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';

import {
  type AgentConfig,
  type AgentRunner,
  createRunner,
  type Delta,
  memoryStore,
  Message,
  type Store,
  Thought,
  Tool,
  ToolCall,
} from '../../src/index.js';
import { type Clock, FIXED_INSTANT, fixedClock } from '../../src/entries/host.js';
import { simulatedFetch, simulatedProvider } from '../../src/entries/simulated.js';
import { skip, testHost } from './harness.js';

interface WireMessage {
  readonly role: string;
  readonly content?: string;
  readonly tool_calls?: unknown[];
}

const calc = new Tool({
  name: 'calc',
  description: 'adds one',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
  },
  handler: ({ a }: { a: number }) => a + 1,
});

/** A store that does not tell how far the times of its sessions have come. */
const untimed = (store: Store): Store => ({
  load: (session, after) => store.load(session, after),
  commit: (session, commit) => store.commit(session, commit),
  putBytes: (session, id, bytes) => store.putBytes(session, id, bytes),
  openBytes: (session, id) => store.openBytes(session, id),
});

describe('conversations', { skip }, () => {
  let server: Server;
  let baseURL: string;
  let requests: string[][] = [];

  before(async () => {
    const provider = simulatedProvider();
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const { messages } = JSON.parse(body) as { messages: WireMessage[] };
        requests.push(messages.map(wordOf));
      });
      provider(request, response);
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  beforeEach(() => void (requests = []));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const wordOf = ({ role, content, tool_calls: calls }: WireMessage): string =>
    `${role}:${(content ?? '').split('\n')[0]!}${calls === undefined ? '' : '[call]'}`;

  const agent = async (config: AgentConfig, clock: Clock = fixedClock()): Promise<AgentRunner> =>
    createRunner({ ...config, host: await testHost({ clock }) });
  const model = (): AgentConfig => ({
    model: { baseURL, model: 'simulated', trust: 'off' },
    tools: [calc],
  });

  it('the simulated fetch serves turns as the listener does', async () => {
    const message = 'please calc 4';
    const { text, toolCalls } = await (await agent(model())).stream({ message }).result;
    const host = await testHost({ fetch: simulatedFetch({ pauseMs: 1 }) });
    const chat = { baseURL: 'http://simulated/v1', model: 'simulated', trust: 'off' } as const;
    const runner = createRunner({ tools: [calc], model: chat, host });
    const result = await runner.stream({ message }).result;
    assert.equal(result.status, 'ack');
    assert.equal(result.text, text);
    assert.deepEqual(result.toolCalls, toolCalls);
    assert.equal(result.toolCalls[0]!.results, '5');
    const stopped = runner.stream({ message: 'a long text', sessionId: 'another' });
    for await (const event of stopped) if (event.event === 'message') break;
    assert.equal((await stopped.result).status, 'aborted');
  });

  it('an ack of the chat executor shows in the output pipeline; its handlers run once, before it', async () => {
    const order: string[] = [];
    const runner = await agent({
      ...model(),
      dispatchInputPipeline: [
        (ctx, next) => {
          ctx.onAck(() => {
            order.push('ack');
            ctx.emitMessage({
              id: 'late',
              aDelta: 'x',
              full: 'from an ack handler',
              isComplete: true,
            });
          });
          ctx.onAck(() => {
            throw new Error('swallowed');
          });
          ctx.onAck(() => order.push('never'))();
          return next();
        },
      ],
      dispatchOutputPipeline: [
        (ctx, next) => {
          order.push('output');
          assert.deepEqual([ctx.isSignalled, ctx.isAcked, ctx.nackError], [true, true, undefined]);
          ctx.onAck(() => order.push('too late'));
          return next();
        },
      ],
    });
    const said: string[] = [];
    runner.on('message', (event) => said.push(event.full));
    const { status } = await runner.stream({ message: 'hello' }).result;
    assert.equal(status, 'ack');
    assert.deepEqual(order, ['ack', 'output']);
    // What the module told before it acked comes before the handlers.
    assert.equal(said.at(-1), 'from an ack handler');
  });

  const falling = (): Clock => {
    let now = FIXED_INSTANT;
    return () => (now -= 1000);
  };
  for (const [name, clock] of [
    ['stands still', fixedClock()],
    ['goes back', falling()],
  ] as const) {
    it(`keep their order while the clock ${name}`, async () => {
      const runner = await agent(model(), clock);
      for (const message of ['calc with a = 41', 'Thanks!', 'calc with a = 1, please']) {
        const { status, error } = await runner.stream({ message }).result;
        assert.equal(status, 'ack', String(error));
      }
      assert.equal(requests.length, 5);
      assert.deepEqual(requests[4], [
        'system:You are a helpful assistant.',
        'user:calc with a = 41',
        'assistant:[call]',
        'tool:42',
        'assistant:The tool answered: 42',
        'user:Thanks!',
        'assistant:You said: Thanks!',
        'user:calc with a = 1, please',
        'assistant:[call]',
        'tool:2',
      ]);
    });
  }
});

describe('the time of a message given as text', { skip }, () => {
  const last = 8.64e15;
  const say = (store: Store, at: number): unknown =>
    store.commit('s', {
      deltas: [
        {
          op: 'store',
          kind: 'message',
          record: new Message({
            id: 'old',
            role: 'user',
            content: 'x',
            createdAt: at,
            updatedAt: at,
          }),
        },
      ],
    });

  for (const [name, stored, expected] of [
    ['of an empty session is the clock', undefined, FIXED_INSTANT],
    ['after an earlier record is the clock', FIXED_INSTANT - 1, FIXED_INSTANT],
    ['is after a record of the same time', FIXED_INSTANT, FIXED_INSTANT + 1],
    ['is after a later record', FIXED_INSTANT + 5000, FIXED_INSTANT + 5001],
    ['ends where time does', last, last],
  ] as const) {
    it(name, async () => {
      const store = memoryStore();
      if (stored !== undefined) say(store, stored);
      assert.equal(await timeIn(store), expected);
    });
  }

  it('is the clock when the store knows of no times', async () => {
    const memory = memoryStore();
    say(memory, FIXED_INSTANT + 5000);
    const store: Store = {
      load: (session) => memory.load(session),
      commit: (session, commit) => memory.commit(session, commit),
      putBytes: (session, id, bytes) => memory.putBytes(session, id, bytes),
      openBytes: (session, id) => memory.openBytes(session, id),
    };
    assert.equal(await timeIn(store), FIXED_INSTANT);
  });

  /** Runs a turn in the session and returns when its message was created. */
  async function timeIn(store: Store): Promise<number> {
    const runner = createRunner({ executor: (ctx) => ctx.ack(), store, host: await testHost() });
    await runner.run({ message: 'Hi!', sessionId: 's' });
    const { messages } = await store.load('s');
    const message = [...messages].at(-1)!;
    assert.equal(String(message.content), 'Hi!');
    return message.createdAt.getTime();
  }

  it('follows messages, thoughts and tool calls, and no delete turns it back', async () => {
    const store = memoryStore();
    const times = (at: number) => ({ createdAt: at, updatedAt: at });
    const call = (id: string, at: number): ToolCall =>
      new ToolCall({
        id,
        tool: 't',
        args: {},
        checksum: 'x',
        isComplete: true,
        isError: false,
        results: 'r',
        completedAt: at,
        ...times(at),
      });
    const thought = new Thought({ id: 't', content: 'x', ...times(20) });
    const newest: (number | undefined)[] = [];
    const deltas: Delta[] = [
      { op: 'store', kind: 'thought', record: thought },
      { op: 'store', kind: 'toolCall', record: call('c', 30) },
      { op: 'mutate', kind: 'toolCall', record: call('c', 25) },
      { op: 'replaceToolCallGroup', kind: 'toolCall', ids: ['c'], records: [call('d', 40)] },
      { op: 'delete', kind: 'toolCall', id: 'd' },
    ];
    for (const delta of deltas) {
      await store.commit('s', { deltas: [delta] });
      newest.push(await store.newest?.('s'));
    }
    assert.deepEqual(newest, [20, 30, 30, 40, 40]);
    assert.equal(await store.newest?.('other'), undefined);
  });

  it('a turn that runs again keeps its question in front of the work that it caused', async () => {
    for (const store of [memoryStore(), untimed(memoryStore())]) {
      let begun = 0;
      const runner = createRunner({
        executor: async (ctx) => {
          switch (++begun) {
            case 1: {
              const times = { createdAt: FIXED_INSTANT + 9, updatedAt: FIXED_INSTANT + 9 };
              await ctx.storeMessage(
                new Message({ id: 'work', content: 'x', role: 'assistant', ...times }),
              );
              return;
            }
            case 2:
              throw new Error('the network is gone');
            default:
              ctx.ack();
          }
        },
        store,
        host: await testHost({ clock: fixedClock() }),
      });
      const told = await runner.stream({ message: 'Pay!', turnId: 't1' }).result;
      assert.equal(told.status, 'nack');
      await runner.run({ message: 'Pay!', turnId: 't1' });
      await runner.run({ message: 'Thanks', turnId: 't2' });
      const { messages } = await store.load('default');
      assert.deepEqual(
        messages.map(({ id, createdAt }) => `${id} ${Number(createdAt) - FIXED_INSTANT}`).sort(),
        ['t1.user 0', store.newest === undefined ? 't2.user 0' : 't2.user 10', 'work 9'],
      );
    }
  });

  it('a store may tell its newest time later; a failure keeps the turn from starting', async () => {
    const memory = memoryStore();
    const failure = new Error('no such table');
    let newest: () => Promise<number | undefined> = () => Promise.resolve(FIXED_INSTANT + 5000);
    let ran = 0;
    const runner = createRunner({
      executor: (ctx) => {
        ran++;
        ctx.ack();
      },
      store: {
        load: (session) => memory.load(session),
        commit: (session, commit) => memory.commit(session, commit),
        putBytes: (session, id, bytes) => memory.putBytes(session, id, bytes),
        openBytes: (session, id) => memory.openBytes(session, id),
        newest: () => newest(),
      },
      host: await testHost(),
    });
    const told = await runner.stream({ message: 'hello' }).result;
    assert.equal(told.error, undefined);
    const { messages } = await memory.load('default');
    assert.equal(Number(messages[0]?.createdAt), FIXED_INSTANT + 5001);

    newest = () => Promise.reject(failure);
    await assert.rejects(runner.run({ message: 'again' }), failure);
    assert.equal((await runner.stream({ message: 'again' }).result).error, failure);
    assert.equal(ran, 1);
  });
});
