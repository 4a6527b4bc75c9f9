/**
 * How invocations end early: callers that leave, stores that fail, and aborts, at each event.
 */
import assert from 'node:assert/strict';
import { memoryUsage } from 'node:process';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { isTurncoreError } from '../../src/index.js';
import { fullMemoryStore } from '../../src/entries/memory.js';
import {
  type AgentRequest,
  type AgentResponse,
  type BaseAgent,
  type Event,
  ParallelAgent,
  Runner,
  SessionService,
} from '../../src/entries/sessions.js';
import { skip } from '../turn/harness.js';
import {
  answers,
  calls,
  failingStore,
  KEY,
  lines,
  llm,
  partial,
  Script,
  sessionHost,
  stage,
  text,
  WHO,
} from './setup.js';

/** Five events, and what was done: events that were made, cleanup, errors that were seen. */
function five(): { agent: BaseAgent; done: string[] } {
  const done: string[] = [];
  const agent = new Script('a', async function* () {
    try {
      for (let i = 1; i <= 5; i++) {
        done.push(`made ${i}`);
        yield text(String(i));
      }
    } catch (error) {
      done.push(`saw ${(error as Error).message}`);
      throw error;
    } finally {
      await new Promise((resolve) => setImmediate(resolve));
      done.push('cleaned');
    }
  });
  return { agent, done };
}

describe('early ends', { skip }, () => {
  it('keep nothing, however many there are', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const tools = [{ name: 't', description: 'A tool.', runAsync: () => 'ok' }];
    async function* model(): AsyncGenerator<AgentResponse, void, undefined> {
      yield partial('He');
      yield calls('t');
    }
    const { runner, service } = await stage({
      agent: new ParallelAgent({
        name: 'both',
        subAgents: [
          llm('m', model, { tools }),
          new Script('c', async function* () {
            yield text('one');
            yield text('two');
          }),
        ],
      }),
    });
    const leave = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) {
        const events = runner.runAsync({ ...WHO, newMessage: 'hello' });
        for (let at = 0; at <= i % 3; at++) await events.next();
        const awaited = i % 2 === 0 ? undefined : events.next();
        await events.return();
        await awaited;
        await service.deleteSession(KEY);
        await service.createSession(KEY);
      }
      gc();
      gc();
      const { heapUsed, external } = memoryUsage();
      return heapUsed + external;
    };
    const before = await leave(500);
    const grown = (await leave(2_000)) - before;
    assert.ok(grown < 3 << 20, `2,000 invocations keep ${grown} bytes`);
  });

  it('keep no runner that nobody has any more', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const { service } = await stage({ agent: five().agent });
    const serve = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) {
        const tool = { name: 't', description: 'A tool.', runAsync: () => runner.appName };
        const agent = llm('m', () => 'Hello.', { tools: [tool] });
        const runner = new Runner({ appName: KEY.appName, agent, sessionService: service });
        await runner.run({ ...WHO, newMessage: 'hello' });
        await service.deleteSession(KEY);
        await service.createSession(KEY);
      }
      for (let i = 0; i < 3; i++) {
        gc();
        await sleep(10); // in which the engine tells what is gone
      }
      const { heapUsed, external } = memoryUsage();
      return heapUsed + external;
    };
    const before = await serve(300);
    const grown = (await serve(1_500)) - before;
    assert.ok(grown < 4 << 20, `1,500 runners keep ${grown} bytes`);
  });

  it('a caller leaves while the invocation waits for another one of the session', async () => {
    const { agent } = five();
    const { runner, load, say } = await stage({ agent });
    const first = runner.runAsync({ ...WHO, newMessage: 'first' });
    await first.next();
    const second = runner.runAsync({ ...WHO, newMessage: 'second' });
    const event = second.next();
    const third = runner.run({ ...WHO, newMessage: 'third' });
    assert.deepEqual(await second.return(), { done: true, value: undefined });
    assert.deepEqual(await event, { done: true, value: undefined });
    assert.equal((await load()).events.length, 2, 'the first one has ended');
    await first.return();
    await third;
    assert.deepEqual(lines((await load()).events), [
      'user: first',
      'a: 1',
      'user: third',
      ...[1, 2, 3, 4, 5].map((n) => `a: ${n}`),
    ]);
    assert.equal((await say()).length, 5);
  });

  for (let at = 1; at <= 5; at++) {
    it(`a caller leaves at event ${at}`, async () => {
      const { agent, done } = five();
      const { runner, load } = await stage({
        agent,
        plugins: [{ name: 'p', afterRun: () => void done.push('after') }],
      });
      const events: Event[] = [];
      for await (const event of runner.runAsync({ ...WHO, newMessage: 'go' })) {
        if (events.push(event) === at) break;
      }
      const made = Array.from({ length: at }, (_, i) => `made ${i + 1}`);
      assert.deepEqual(done, [...made, 'cleaned', 'after']);
      const stored = (await load()).events;
      assert.deepEqual(stored.slice(1), events);
    });

    it(`a store fails at append ${at + 1}`, async () => {
      const { agent, done } = five();
      const { runner, load } = await stage({ agent }, {}, failingStore(at + 1));
      const events: Event[] = [];
      await assert.rejects(
        async () => {
          for await (const event of runner.runAsync({ ...WHO, newMessage: 'go' })) {
            events.push(event);
          }
        },
        { message: `append ${at + 1} fails` },
      );
      assert.equal(events.length, at - 1);
      assert.deepEqual(done.slice(-2), [`saw append ${at + 1} fails`, 'cleaned']);
      assert.deepEqual((await load()).events.slice(1), events);
    });

    it(`an abort at event ${at}`, async () => {
      const { agent, done } = five();
      const { runner, load } = await stage({ agent });
      const controller = new AbortController();
      const events: Event[] = [];
      const reason = new Error('enough');
      await assert.rejects(
        async () => {
          const input = { ...WHO, newMessage: 'go', signal: controller.signal };
          for await (const event of runner.runAsync(input)) {
            if (events.push(event) === at) controller.abort(reason);
          }
        },
        (error) => error === reason,
      );
      assert.equal(events.length, at);
      assert.equal(done.at(-1), 'cleaned');
      assert.deepEqual((await load()).events.slice(1), events);
    });
  }

  it('a store fails at the message: nothing runs', async () => {
    const { agent, done } = five();
    const { say, load } = await stage({ agent }, {}, failingStore(1));
    await assert.rejects(say(), { message: 'append 1 fails' });
    assert.deepEqual(done, []);
    assert.equal((await load()).events.length, 0);
  });

  // The module asks for the tool before the event of its call is stored.
  for (const [how, before, stored] of [
    ['fails at once', undefined, 1],
    ['fails', () => assert.fail('the disk is full'), 1],
    ['is slow, and the invocation is aborted', (abort: () => void) => abort(), 2],
  ] as const) {
    it(`no tool runs whose event's append ${how}`, async () => {
      const controller = new AbortController();
      let ran = 0;
      const model = ({ contents }: AgentRequest) => (contents.length < 2 ? calls('t') : 'done');
      const agent = llm('a', model, {
        tools: [{ name: 't', description: 'A tool.', runAsync: () => ++ran }],
      });
      const late = async (): Promise<void> => {
        await Promise.resolve();
        before?.(() => controller.abort(new Error('enough')));
      };
      const store = failingStore(2, before && late);
      let after = 0;
      const plugins = [
        {
          name: 'p',
          afterRun: () => {
            after++;
          },
        },
      ]; // the invocation goes on
      const { runner, load } = await stage({ agent, plugins }, {}, store);
      const input = { ...WHO, newMessage: 'go', signal: controller.signal };
      await assert.rejects(runner.run(input), /the disk is full|enough|append 2 fails/u);
      assert.deepEqual([ran, after], [0, 1]);
      assert.equal((await load()).events.length, stored);
    });
  }

  it('a signal that has fired before the start', async () => {
    const { agent, done } = five();
    const { runner } = await stage({ agent });
    const reason = new Error('no');
    const signal = AbortSignal.abort(reason);
    await assert.rejects(
      runner.run({ ...WHO, newMessage: 'go', signal }),
      (error) => error === reason,
    );
    assert.deepEqual(done, []);
  });

  it('a generator that yields on after the caller has left', async () => {
    const made: string[] = [];
    const { runner, load } = await stage({
      agent: new Script('a', async function* () {
        for (;;) {
          try {
            yield text('more');
          } finally {
            made.push('clean');
            // eslint-disable-next-line no-unsafe-finally -- a generator that does not want to end
            continue;
          }
        }
      }),
    });
    for await (const _ of runner.runAsync({ ...WHO, newMessage: 'go' })) break;
    assert.ok(made.length < 10);
    assert.equal((await load()).events.length, 2);
  });

  it('a second writer between two events', async () => {
    const { agent, done } = five();
    const { runner, service, load } = await stage({ agent });
    const events: Event[] = [];
    await assert.rejects(
      async () => {
        for await (const event of runner.runAsync({ ...WHO, newMessage: 'go' })) {
          if (events.push(event) === 2) {
            await service.appendEvent(await load(), text('between', { author: 'other' }));
          }
        }
      },
      (error) => isTurncoreError(error, 'E_SESSION_CONFLICT'),
    );
    assert.equal(done.at(-1), 'cleaned');
    const stored = lines((await load()).events);
    assert.deepEqual(stored, ['user: go', 'a: 1', 'a: 2', 'other: between']);
  });

  it('a session that is deleted between two events', async () => {
    const { agent, done } = five();
    const { runner, service } = await stage({ agent });
    const events: Event[] = [];
    await assert.rejects(
      async () => {
        for await (const event of runner.runAsync({ ...WHO, newMessage: 'go' })) {
          if (events.push(event) === 2) await service.deleteSession(KEY);
        }
      },
      (error) => isTurncoreError(error, 'E_SESSION_CONFLICT'),
    );
    assert.equal(done.at(-1), 'cleaned');
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('leaves an agent that a generator runs', async () => {
    const inner = five();
    const { say } = await stage({
      agent: new Script(
        'outer',
        async function* (ctx, agent) {
          for await (const event of agent.subAgents[0]!.runAsync(ctx)) {
            yield event;
            break;
          }
          yield text('on');
        },
        [inner.agent],
      ),
    });
    assert.deepEqual(lines(await say()), ['a: 1', 'outer: on']);
    assert.deepEqual(inner.done, ['made 1', 'cleaned']);
  });

  it('goes on where another process has stopped', async () => {
    const store = fullMemoryStore();
    const first = await stage({ agent: llm('a', answers('one')) }, { k: 1 }, store);
    await first.say('m1');
    const model = answers('two');
    const service = new SessionService({ store, host: await sessionHost() });
    const { Runner } = await import('../../src/entries/sessions.js');
    const runner = new Runner({ appName: 'app', agent: llm('a', model), sessionService: service });
    await runner.run({ ...WHO, newMessage: 'm2' });
    assert.equal(model.requests[0], 'user: m1 | model: one | user: m2');
    assert.equal((await first.load()).events.length, 4);
    assert.equal((await service.getSession(KEY))!.state['k'], 1);
  });

  it('a tool that is called when the caller leaves', async () => {
    const ran: string[] = [];
    const { runner, load } = await stage({
      agent: llm('a', answers(calls('t'), 'done'), {
        tools: [{ name: 't', description: 't', runAsync: () => void ran.push('t') }],
      }),
    });
    for await (const _ of runner.runAsync({ ...WHO, newMessage: 'go' })) break;
    assert.deepEqual(ran, []);
    assert.deepEqual(lines((await load()).events), ['user: go', 'a: t()']);
  });

  /** Waits until a signal fires, and throws its reason. */
  const held = async (signal: AbortSignal, told: unknown[]): Promise<never> => {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    told.push((signal.reason as { code: string }).code);
    throw signal.reason;
  };

  const others: Record<string, (told: unknown[]) => BaseAgent> = {
    'a model': (told) => llm('b', ({ signal }) => held(signal, told)),
    'a generator': (told) =>
      // eslint-disable-next-line require-yield -- it waits
      new Script('b', async function* ({ abortSignal }) {
        await held(abortSignal, told);
      }),
    'a callback around an agent': (told) =>
      llm('b', answers(), { beforeAgentCallback: ({ abortSignal }) => held(abortSignal, told) }),
    'a callback before a model': (told) =>
      llm('b', answers(), { beforeModelCallback: ({ abortSignal }) => held(abortSignal, told) }),
  };
  for (const [name, other] of Object.entries(others)) {
    it(`a caller leaves while ${name} waits beside`, async () => {
      const told: unknown[] = [];
      const first = new Script('a', async function* () {
        await new Promise((resolve) => setImmediate(resolve));
        yield text('enough');
      });
      const agent = new ParallelAgent({ name: 'both', subAgents: [first, other(told)] });
      const { runner, load } = await stage({ agent });
      for await (const _ of runner.runAsync({ ...WHO, newMessage: 'go' })) break;
      assert.deepEqual(told, ['E_INVOCATION_STOPPED']);
      assert.deepEqual(lines((await load()).events), ['user: go', 'a: enough']);
    });
  }

  it('a tool is told when an agent beside its own fails', async () => {
    const told: unknown[] = [];
    let begun: () => void = () => undefined;
    const called = new Promise<void>((resolve) => (begun = resolve));
    const first = new Script('a', async function* () {
      yield text('first');
      await called;
      throw new Error('boom');
    });
    const second = llm('b', answers(calls('t'), 'never'), {
      tools: [
        {
          name: 't',
          description: 't',
          runAsync: (_, { abortSignal }) => {
            begun();
            return held(abortSignal, told);
          },
        },
      ],
    });
    const { say, load } = await stage({
      agent: new ParallelAgent({ name: 'both', subAgents: [first, second] }),
    });
    await assert.rejects(say(), { message: 'boom' });
    assert.deepEqual(told, ['E_INVOCATION_STOPPED']);
    assert.deepEqual(lines((await load()).events), ['user: hello', 'a: first', 'b: t()']);
  });

  for (const how of ['return', 'throw'] as const) {
    it(`${how}() while an event is awaited`, async () => {
      const told: unknown[] = [];
      const done: string[] = [];
      const { runner, load, say } = await stage({
        agent: llm('a', async function* ({ signal }) {
          yield partial('He');
          if (done.length === 0) await held(signal, told);
          yield 'Hello';
        }),
        plugins: [{ name: 'p', afterRun: () => void done.push('after') }],
      });
      const events = runner.runAsync({ ...WHO, newMessage: 'go' });
      assert.equal((await events.next()).done, false);
      const ahead = [events.next(), events.next()];
      await new Promise((resolve) => setImmediate(resolve));
      if (how === 'return')
        assert.deepEqual(await events.return(), { done: true, value: undefined });
      else await assert.rejects(events.throw(new Error('mine')), { message: 'mine' });
      const nothing = { done: true, value: undefined };
      assert.deepEqual(await Promise.all(ahead), [nothing, nothing]);
      assert.deepEqual(told, ['E_INVOCATION_STOPPED']);
      assert.deepEqual(done, ['after']);
      assert.deepEqual(lines((await load()).events), ['user: go']);
      assert.deepEqual(lines(await say()), ['a~: He', 'a: Hello']);
    });
  }
});
