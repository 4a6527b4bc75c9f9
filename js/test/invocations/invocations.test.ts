/**
 * Invocations: the order of events, what is stored of them, and what becomes of state.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTurncoreError } from '../../src/index.js';
import {
  type Event,
  LlmAgent,
  LoopAgent,
  type ModelErrorCallback,
  ParallelAgent,
  SequentialAgent,
  type SessionTool,
  textOf,
} from '../../src/entries/sessions.js';
import { skip } from '../turn/harness.js';
import { answers, calls, KEY, lines, llm, partial, Script, stage, text, WHO } from './setup.js';

/** A tool without arguments. */
function tool(
  name: string,
  runAsync: SessionTool['runAsync'],
  more: Partial<SessionTool> = {},
): SessionTool {
  return { name, description: name, runAsync, ...more };
}

const code = (wanted: string) => (error: unknown) => isTurncoreError(error, wanted);

describe('invocations', { skip }, () => {
  it('delivers the call, its response and the text, and stores them behind the message', async () => {
    const { say, load } = await stage({
      agent: llm('root', answers(calls('t'), 'done'), { tools: [tool('t', () => ({ ok: true }))] }),
    });
    const events = await say();
    assert.deepEqual(lines(events), ['root: t()', 'root: t = {"ok":true}', 'root: done']);
    const stored = await load();
    assert.deepEqual(lines(stored.events), ['user: hello', ...lines(events)]);
    assert.deepEqual(stored.events.slice(1), events);
    assert.equal(new Set(stored.events.map(({ invocationId }) => invocationId)).size, 1);
    const [call, response] = events;
    assert.equal(response!.getFunctionResponses()[0]!.id, call!.getFunctionCalls()[0]!.id);
    assert.deepEqual(
      events.map((event) => event.isFinalResponse()),
      [false, false, true],
    );
    assert.ok(events.every((event) => Object.isFrozen(event) && Object.isFrozen(event.content)));
  });

  it('commits a delta before the agent goes on', async () => {
    let seen: unknown;
    const { say, load } = await stage({
      agent: new Script('a', async function* () {
        const stored = yield text('one', { actions: { stateDelta: { k: 1 } } });
        const session = await load();
        seen = [session.state['k'], session.events.at(-1)!.id === stored.id];
      }),
    });
    await say();
    assert.deepEqual(seen, [1, true]);
  });

  it('stores each event before it delivers it', async () => {
    const { runner, load } = await stage({
      agent: new Script('a', async function* () {
        for (const word of ['one', 'two', 'three']) yield text(word);
      }),
    });
    let events = 0;
    for await (const event of runner.runAsync({ ...WHO, newMessage: 'go' })) {
      assert.deepEqual((await load()).events.at(-1), event);
      events++;
    }
    assert.equal(events, 3);
  });

  it('lets an agent go on when the caller asks for the next event', async () => {
    let made = 0;
    const { runner } = await stage({
      agent: new Script('a', async function* () {
        for (let i = 0; i < 3; i++) {
          made++;
          yield text(String(i));
        }
      }),
    });
    const seen: number[] = [];
    for await (const _ of runner.runAsync({ ...WHO, newMessage: 'go' })) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(made);
    }
    assert.deepEqual(seen, [1, 2, 3]);
  });

  it('delivers the parts of a stream and stores the whole', async () => {
    const { say, load } = await stage({
      agent: llm('a', answers([partial('He'), partial('llo'), 'Hello'])),
    });
    const events = await say();
    assert.deepEqual(lines(events), ['a~: He', 'a~: llo', 'a: Hello']);
    assert.deepEqual(lines((await load()).events), ['user: hello', 'a: Hello']);
    assert.equal(new Set(events.map(({ id }) => id)).size, 3);
  });

  it('applies what a callback writes on every part of a stream once, and changes no delivered event', async () => {
    const { runner, load } = await stage({
      agent: llm('a', answers([partial('He'), partial('llo'), 'Hello']), {
        afterModelCallback: (ctx) => {
          ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
        },
      }),
    });
    const deltas: unknown[] = [];
    const stored: unknown[] = [];
    let first: Event | undefined;
    for await (const event of runner.runAsync({ ...WHO, newMessage: 'go' })) {
      first ??= event;
      deltas.push(event.actions.stateDelta);
      stored.push((await load()).state['n']);
    }
    assert.deepEqual(deltas, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    assert.deepEqual(stored, [undefined, undefined, 3]);
    assert.deepEqual(first!.actions.stateDelta, { n: 1 });
  });

  it('fails when a stream ends behind its parts', async () => {
    const { say, load } = await stage({ agent: llm('a', answers([partial('He')])) });
    await assert.rejects(say(), code('E_INVOCATION_UNFINISHED'));
    assert.deepEqual(lines((await load()).events), ['user: hello']);
  });

  it('shows a tool what a callback of its step has written', async () => {
    let read: unknown;
    const { say, load } = await stage({
      agent: llm('a', answers(calls('t'), 'done'), {
        beforeModelCallback: (ctx) => void (ctx.state['flag'] = 'up'),
        tools: [tool('t', (_: never, ctx) => void (read = ctx.state['flag']))],
      }),
    });
    await say();
    assert.equal(read, 'up');
    assert.equal((await load()).state['flag'], 'up');
  });

  it('stores nothing of live state that no delta names', async () => {
    let seen: unknown;
    const { say, load } = await stage({
      agent: new Script('a', async function* (ctx) {
        ctx.session.state['k'] = 1;
        yield text('one');
        seen = ctx.session.state['k'];
      }),
    });
    await say();
    assert.equal(seen, 1);
    assert.deepEqual((await load()).state, {});
  });

  it('gives an agent’s error to the caller', async () => {
    const failure = new Error('broken');
    const { say, load } = await stage({
      // eslint-disable-next-line require-yield -- it fails before
      agent: new Script('a', async function* (ctx) {
        ctx.session.state['k'] = 1;
        throw failure;
      }),
    });
    await assert.rejects(say(), (error) => error === failure);
    const { events, state } = await load();
    assert.deepEqual(lines(events), ['user: hello']);
    assert.deepEqual(state, {});
  });

  it('keeps what a tool has written with its response, also when it fails', async () => {
    const { say, load } = await stage({
      agent: llm('a', answers(calls('t'), 'done'), {
        tools: [
          tool('t', (_: never, ctx) => {
            ctx.state['k'] = 1;
            throw new Error('no luck');
          }),
        ],
      }),
    });
    const events = await say();
    assert.equal(lines(events)[1], 'a: t = {"error":"no luck"} {"k":1}');
    assert.equal((await load()).state['k'], 1);
  });

  it('makes an event of what a callback before an agent writes', async () => {
    const model = answers('done');
    const { runner, load } = await stage({
      agent: llm('a', model, { beforeAgentCallback: (ctx) => void (ctx.state['k'] = 1) }),
    });
    const events: Event[] = [];
    for await (const event of runner.runAsync({ ...WHO, newMessage: 'go' })) {
      events.push(event);
      if (events.length > 1) continue;
      assert.equal(model.requests.length, 0);
      assert.equal((await load()).state['k'], 1);
    }
    assert.deepEqual(lines(events), ['a:  {"k":1}', 'a: done']);
    assert.equal(events[0]!.content, undefined);
  });

  it('gives a callback the error of a model, or the module’s with its code', async () => {
    const own = new Error('the model is away');
    const told: unknown[] = [];
    const onModelErrorCallback: ModelErrorCallback = (_, error) => {
      told.push(error);
      return 'later';
    };
    const away = (): never => {
      throw own;
    };
    const first = await stage({ agent: llm('a', away, { onModelErrorCallback }) });
    assert.deepEqual(lines(await first.say()), ['a: later']);
    const model = { model: 'm', baseURL: 'http://127.0.0.1:1' };
    const agent = new LlmAgent({
      name: 'a',
      model,
      instruction: '{missing}',
      onModelErrorCallback,
    });
    const second = await stage({ agent });
    assert.deepEqual(lines(await second.say()), ['a: later']);
    assert.equal(told[0], own);
    assert.equal(isTurncoreError(told[1], 'E_INVALID_STATE'), true);
  });

  it('lets a callback answer in an agent’s place', async () => {
    const model = answers();
    let after = 0;
    const { say } = await stage({
      agent: new SequentialAgent({
        name: 'all',
        subAgents: [
          llm('a', model, {
            beforeAgentCallback: () => 'instead',
            afterAgentCallback: () => {
              after++;
            },
          }),
          llm('b', answers('next')),
        ],
      }),
    });
    assert.deepEqual(lines(await say()), ['a: instead', 'b: next']);
    assert.deepEqual([model.requests.length, after], [0, 0]);
  });

  it('shares values of the application and of the user, from deltas and from initial state alike', async () => {
    const values = { 'app:a': 1, 'user:b': 2, c: 3 };
    const given = new Script('a', async function* () {
      yield text('set', { actions: { stateDelta: values } });
    });
    for (const initial of [false, true]) {
      const { service, say } = await stage({ agent: given }, initial ? values : {});
      if (!initial) await say();
      const other = (userId: string) =>
        service.createSession({ appName: 'app', userId }).then(({ state }) => state);
      assert.deepEqual((await service.getSession(KEY))!.state, values);
      assert.deepEqual(await other('u'), { 'app:a': 1, 'user:b': 2 });
      assert.deepEqual(await other('v'), { 'app:a': 1 });
    }
  });

  it('keeps values of the scope temp in the invocation', async () => {
    const read: unknown[] = [];
    const { say, load } = await stage({
      agent: llm('a', answers(calls('set', 'get'), 'one', calls('get'), 'two'), {
        tools: [
          tool('set', (_: never, ctx) => {
            ctx.state['temp:x'] = 1;
            read.push(ctx.state['temp:x']);
          }),
          tool('get', (_: never, ctx) => void read.push(ctx.state['temp:x'])),
        ],
      }),
    });
    await say();
    await say();
    assert.deepEqual(read, [1, 1, undefined]);
    const { state, events } = await load();
    assert.deepEqual(state, {});
    assert.ok(events.every(({ actions }) => Object.keys(actions.stateDelta).length === 0));
  });

  it('deletes values that are null in a delta', async () => {
    let live: unknown;
    const { say, load } = await stage(
      {
        agent: new Script('a', async function* (ctx) {
          yield text('gone', { actions: { stateDelta: { a: null, 'user:b': null } } });
          live = { ...ctx.session.state };
        }),
      },
      { a: 1, 'user:b': 2, c: 3 },
    );
    await say();
    assert.deepEqual(live, { c: 3 });
    assert.deepEqual((await load()).state, { c: 3 });
  });

  it('unites what tools do that are called together, in the order of the calls', async () => {
    let release: (() => void) | undefined;
    const late = new Promise<void>((resolve) => (release = resolve));
    const { say, load } = await stage({
      agent: new LoopAgent({
        name: 'loop',
        maxIterations: 3,
        subAgents: [
          llm('a', answers(calls('ta', 'tb'), 'done'), {
            tools: [
              tool('ta', async (_: never, ctx) => {
                await late;
                Object.assign(ctx.state, { a: 1, z: 'a' });
                ctx.actions.escalate = true;
              }),
              tool('tb', (_: never, ctx) => {
                Object.assign(ctx.state, { b: 1, z: 'b' });
                release!();
              }),
            ],
          }),
        ],
      }),
    });
    const events = await say();
    assert.equal(
      lines(events)[1],
      'a: ta = {"result":null} tb = {"result":null} {"a":1,"z":"b","b":1}',
    );
    assert.equal(events[1]!.actions.escalate, true);
    assert.equal(events.length, 2);
    assert.deepEqual((await load()).state, { a: 1, b: 1, z: 'b' });
  });

  it('takes the answer to a long-running call in a later invocation', async () => {
    const model = answers(calls('t'), 'done');
    const { say, runner, load } = await stage({
      agent: llm('a', model, {
        tools: [tool('t', () => undefined, { isLongRunning: true })],
      }),
    });
    const first = await say();
    assert.deepEqual(lines(first), ['a: t()']);
    const [call] = first[0]!.getFunctionCalls();
    assert.deepEqual(first[0]!.longRunningToolIds, [call!.id]);
    assert.ok(first[0]!.isFinalResponse());
    const answer = (id: string) =>
      runner.run({
        ...WHO,
        newMessage: { parts: [{ functionResponse: { id, name: 't', response: { ok: 1 } } }] },
      });
    await assert.rejects(answer('other'), code('E_CALL_NOT_ASKED'));
    const second = await answer(call!.id!);
    assert.deepEqual(lines(second), ['a: done']);
    assert.equal(second[0]!.invocationId, first[0]!.invocationId);
    assert.equal(model.requests[1], 'user: hello | model: t() | user: t = {"ok":1}');
    await assert.rejects(answer(call!.id!), code('E_CALL_ANSWERED'));
    assert.equal((await load()).events.length, 4);
  });

  it('hands over to another agent, which answers the next message, too', async () => {
    const sub = answers('from sub', 'again');
    const transfer = {
      content: {
        parts: [{ functionCall: { name: 'transfer_to_agent', args: { agent_name: 'sub' } } }],
      },
    };
    const { say } = await stage({
      agent: llm('root', answers(transfer), { subAgents: [llm('sub', sub)] }),
    });
    const events = await say();
    assert.deepEqual(
      events.map(({ author }) => author),
      ['root', 'root', 'sub'],
    );
    assert.equal(new Set(events.map(({ invocationId }) => invocationId)).size, 1);
    assert.deepEqual(lines(await say('more')), ['sub: again']);
    assert.match(sub.requests[1]!, /model: from sub \| user: more$/);
  });

  it('ends a loop behind an event that escalates', async () => {
    const runs: string[] = [];
    const agent = (name: string, escalates: () => boolean) =>
      new Script(name, async function* () {
        runs.push(name);
        yield text(name, { actions: { escalate: escalates() } });
        runs.push('never');
      });
    let round = 0;
    const { say } = await stage({
      agent: new LoopAgent({
        name: 'loop',
        maxIterations: 5,
        subAgents: [
          new Script('p', async function* () {
            runs.push('p');
            yield text('p', { actions: { escalate: ++round === 2 } });
          }),
          agent('q', () => false),
        ],
      }),
    });
    assert.deepEqual(lines(await say()), ['p: p', 'q: q', 'p: p']);
    assert.deepEqual(runs, ['p', 'q', 'never', 'p']);
  });

  it('lets a plugin answer before the run', async () => {
    const ended: string[] = [];
    const model = answers();
    const { say, load } = await stage({
      agent: llm('a', model),
      plugins: [
        { name: 'p', beforeRun: () => 'no need', afterRun: () => void ended.push('after') },
      ],
    });
    assert.deepEqual(lines(await say()), ['a: no need']);
    assert.deepEqual(lines((await load()).events), ['user: hello', 'a: no need']);
    assert.deepEqual([ended, model.requests], [['after'], []]);
  });

  it('takes a copy of an event', async () => {
    const delta = { k: { deep: [1] } };
    const event = text('one', { actions: { stateDelta: delta } });
    const { say, load } = await stage({
      agent: new Script('a', async function* () {
        yield event;
        delta.k.deep.push(2);
        (event as { author?: string }).author = 'other';
      }),
    });
    await say();
    const { events, state } = await load();
    assert.deepEqual(state['k'], { deep: [1] });
    assert.deepEqual(lines(events)[1], 'a: one {"k":{"deep":[1]}}');
  });

  it('goes back to the state before an invocation, and hides what followed', async () => {
    const model = answers('one', 'two', 'three', 'four');
    let round = 0;
    const { say, runner, load } = await stage(
      {
        agent: llm('a', model, {
          beforeAgentCallback: (ctx) => {
            ctx.state['n'] = ++round;
            if (round > 1) ctx.state['init'] = round;
          },
        }),
      },
      { init: 1 },
    );
    await say('m1');
    const second = await say('m2');
    await say('m3');
    const { invocationId } = second[0]!;
    const event = await runner.rewind({ ...WHO, rewindBeforeInvocationId: invocationId });
    assert.equal(event.actions.rewindBeforeInvocationId, invocationId);
    assert.deepEqual((await load()).state, { init: 1, n: 1 });
    await say('m4');
    assert.equal(model.requests[3], 'user: m1 | model: one | user: m4');
    await assert.rejects(
      runner.rewind({ ...WHO, rewindBeforeInvocationId: 'other' }),
      code('E_INVOCATION_NOT_FOUND'),
    );
  });

  it('bounds the model calls of all agents together', async () => {
    const transfer = {
      content: {
        parts: [{ functionCall: { name: 'transfer_to_agent', args: { agent_name: 'sub' } } }],
      },
    };
    const sub = answers('never');
    const { say } = await stage({
      agent: llm('root', answers(transfer), { subAgents: [llm('sub', sub)] }),
      maxModelCalls: 1,
    });
    await assert.rejects(say(), code('E_MODEL_CALL_LIMIT'));
    assert.equal(sub.requests.length, 0);
  });

  it('knows no session of another id or of another user', async () => {
    const { runner, store, load } = await stage({ agent: llm('a', answers()) });
    for (const who of [
      { userId: 'u', sessionId: 'other' },
      { userId: 'v', sessionId: 's' },
    ]) {
      await assert.rejects(runner.run({ ...who, newMessage: 'hi' }), code('E_SESSION_NOT_FOUND'));
    }
    assert.equal((await store.list()).sessions.length, 1);
    assert.equal((await load()).events.length, 0);
  });

  it('tells a model of an unknown tool', async () => {
    const model = answers(calls('nowhere'), 'done');
    const { say } = await stage({ agent: llm('a', model) });
    const events = await say();
    assert.match(lines(events)[1]!, /^a: nowhere = \{"error":".*nowhere.*"\}$/);
    assert.equal(model.requests.length, 2);
  });

  it('shows an agent what those before it have said', async () => {
    const model = answers('second');
    const { say } = await stage({
      agent: new SequentialAgent({
        name: 'all',
        subAgents: [llm('a', answers('first')), llm('b', model)],
      }),
    });
    await say();
    assert.match(model.requests[0]!, /\[a\] said: first/);
  });

  it('orders the events of agents that run at once, whatever their timing', async () => {
    for (const slow of ['a', 'b']) {
      const agent = (name: string) =>
        new Script(name, async function* () {
          for (const word of ['1', '2']) {
            for (let i = 0; name === slow && i < 5; i++) {
              await new Promise((resolve) => setImmediate(resolve));
            }
            yield text(word, { actions: { stateDelta: { z: name } } });
          }
        });
      const { say, load } = await stage({
        agent: new ParallelAgent({ name: 'par', subAgents: [agent('a'), agent('b')] }),
      });
      const events = await say();
      assert.deepEqual(
        events.map(({ author, branch, content }) => `${branch!} ${author} ${textOf(content)}`),
        ['par.a a 1', 'par.b b 1', 'par.a a 2', 'par.b b 2'],
      );
      assert.equal((await load()).state['z'], 'b');
    }
  });

  it('asks a person before a tool runs', async () => {
    const ran: unknown[] = [];
    const model = answers(calls('t', 'free'), 'done', calls('t'), 'refused');
    const { say, runner } = await stage({
      agent: llm('a', model, {
        tools: [
          tool('t', (args: never, ctx) => ran.push(args, ctx.confirmation), {
            requireConfirmation: () => ({ hint: 'Really?' }),
          }),
          tool('free', (_: never, ctx) => ran.push(ctx.confirmation)),
        ],
      }),
    });
    for (const confirmed of [true, false]) {
      const [asked] = await say();
      const [call] = asked!.getFunctionCalls();
      assert.deepEqual(asked!.actions.requestedConfirmations, {
        [call!.id!]: { name: 't', args: {}, hint: 'Really?' },
      });
      const response = { confirmed, by: 'Ada' };
      const functionResponse = { id: call!.id!, name: 't', response };
      const events = await runner.run({ ...WHO, newMessage: { parts: [{ functionResponse }] } });
      assert.equal(lines(events).at(-1), confirmed ? 'a: done' : 'a: refused');
    }
    assert.deepEqual(ran, [undefined, {}, { confirmed: true, by: 'Ada' }]);
  });

  it('takes up a confirmed call whose run was left, with its answer and its key', async () => {
    const ran: unknown[] = [];
    const keys: unknown[] = [];
    const controller = new AbortController();
    const model = answers(calls('t'), 'not yet', 'done');
    const { say, runner } = await stage({
      agent: llm('a', model, {
        tools: [
          tool(
            't',
            (_: never, ctx) => {
              ran.push(ctx.confirmation);
              keys.push(ctx.idempotencyKey);
              controller.abort(new Error('left'));
              return ran.length;
            },
            { requireConfirmation: true },
          ),
        ],
      }),
    });
    const [asked] = await say();
    const response = { confirmed: true, by: 'Ada' };
    const id = asked!.getFunctionCalls()[0]!.id!;
    const functionResponse = { id, name: 't', response };
    const newMessage = { parts: [{ functionResponse }] };
    await assert.rejects(runner.run({ ...WHO, newMessage, signal: controller.signal }), /left/);
    assert.deepEqual(lines(await say('is it done?')), ['a: not yet']);
    assert.deepEqual(lines(await runner.run(WHO)), ['a: t = {"result":2}', 'a: done']);
    assert.deepEqual(ran, [response, response]);
    const key = `app/u/s.${asked!.invocationId}.${id}`;
    assert.deepEqual(keys, [key, key]);
  });

  it('lets plugins replace the message and events, and runs callbacks in order', async () => {
    const model = answers('plain');
    const { say, load } = await stage({
      agent: llm('a', model, {
        instruction: (ctx) => `for ${ctx.agentName}`,
        afterAgentCallback: [() => undefined, () => 'behind'],
      }),
      plugins: [
        {
          name: 'p',
          onUserMessage: (_, { parts }) => `${textOf({ parts: parts! })}!`,
          onEvent: (_, event) =>
            textOf(event.content) === 'plain'
              ? { id: event.id, content: { parts: [{ text: 'better' }] } }
              : undefined,
        },
      ],
    });
    assert.deepEqual(lines(await say()), ['a: better', 'a: behind']);
    assert.equal(model.requests[0], 'user: hello!');
    assert.equal(lines((await load()).events)[1], 'a: better');
  });

  it('puts the text of final answers into the state', async () => {
    const { say, load } = await stage({
      agent: llm('a', answers('Paris'), { outputKey: 'city' }),
    });
    await say();
    assert.equal((await load()).state['city'], 'Paris');
  });

  it('reads names that are no UTF-8 alike everywhere', async () => {
    const [broken, whole] = ['a\ud800', 'a\ufffd'];
    const seen: unknown[] = [];
    const { say, load } = await stage({
      agent: llm('a', answers(calls('t'), 'done'), {
        tools: [
          tool('t', async (_: never, ctx) => {
            ctx.state[broken] = 1;
            seen.push(ctx.state[broken], ctx.state[whole]);
            await ctx.saveArtifact(broken, { text: 'text' });
            seen.push(await ctx.loadArtifact(broken), await ctx.loadArtifact(whole));
            seen.push(await ctx.listArtifacts());
          }),
        ],
      }),
    });
    const events = await say();
    assert.deepEqual(seen, [1, 1, { text: 'text' }, { text: 'text' }, [whole]]);
    assert.deepEqual(events[1]!.actions.artifactDelta, { [whole]: 0 });
    assert.deepEqual((await load()).state, { [whole]: 1 });
  });

  it('keeps an artifact of whatever name', async () => {
    const names = ['__proto__', 'constructor'];
    const { say, service } = await stage({
      agent: llm('a', answers(calls('t'), 'done'), {
        tools: [
          tool('t', async (_: never, ctx) => {
            for (const name of names) await ctx.saveArtifact(name, { text: name });
          }),
        ],
      }),
    });
    await say();
    assert.deepEqual(Object.keys(await service.listArtifacts(KEY)).sort(), names);
  });

  it('keeps the bytes of an artifact, whatever becomes of the array that had them', async () => {
    const seen: unknown[] = [];
    const { say } = await stage({
      agent: llm('a', answers(calls('t'), 'done'), {
        tools: [
          tool('t', async (_: never, ctx) => {
            const data = Uint8Array.of(1, 2);
            await ctx.saveArtifact('pic', { inlineData: { mimeType: 'image/png', data } });
            data.fill(9);
            for (let i = 0; i < 2; i++) {
              const loaded = (await ctx.loadArtifact('pic'))!.inlineData!.data;
              seen.push([...loaded]);
              loaded.fill(8);
            }
          }),
        ],
      }),
    });
    await say();
    assert.deepEqual(seen, [
      [1, 2],
      [1, 2],
    ]);
  });

  it('keeps artifacts by version', async () => {
    const seen: unknown[] = [];
    const { say, load } = await stage({
      agent: llm('a', answers(calls('t'), 'one', calls('t'), 'two'), {
        tools: [
          tool('t', async (_: never, ctx) => {
            seen.push(await ctx.saveArtifact('notes', { text: `v${seen.length}` }));
            seen.push(await ctx.loadArtifact('notes'), await ctx.listArtifacts());
            seen.push(await ctx.loadArtifact('notes', 0));
            const data = Uint8Array.of(1, 2);
            await ctx.saveArtifact('user:pic', { inlineData: { mimeType: 'image/png', data } });
            for (const name of ['😀', '～']) await ctx.saveArtifact(name, { text: name });
          }),
        ],
      }),
    });
    await say();
    await say();
    assert.deepEqual(seen, [
      0,
      { text: 'v0' },
      ['notes'],
      { text: 'v0' },
      1,
      { text: 'v4' },
      ['notes', 'user:pic', '～', '😀'],
      { text: 'v0' },
    ]);
    const { events } = await load();
    assert.deepEqual(events[2]!.actions.artifactDelta, {
      notes: 0,
      'user:pic': 0,
      '～': 0,
      '😀': 0,
    });
    assert.deepEqual(events[6]!.actions.artifactDelta, {
      notes: 1,
      'user:pic': 1,
      '～': 1,
      '😀': 1,
    });
  });
});
