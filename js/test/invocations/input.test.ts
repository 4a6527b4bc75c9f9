/**
 * What is given to sessions in JavaScript and is not what their types say: typed errors, and nothing is stored or run.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Host, isTurncoreError, memoryStore } from '../../src/index.js';
import { fullMemoryStore } from '../../src/entries/memory.js';
import {
  type ActionsData,
  AgentTool,
  type AgentResponse,
  type CallbackContext,
  Event,
  EventActions,
  type EventData,
  functionCalls,
  functionResponses,
  isFinalResponse,
  LlmAgent,
  pendingCalls,
  type Plugin,
  Runner,
  SequentialAgent,
  SessionService,
  type SessionTool,
  type ToolContext,
} from '../../src/entries/sessions.js';
import { fullModule, skip } from '../turn/harness.js';
import { answers, calls, KEY, lines, llm, Script, stage, text, WHO } from './setup.js';

/** What a call is refused with: the code, and the message behind the text of the code. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    assert.ok(isTurncoreError(error), String(error));
    return `${error.code} ${error.message.slice(error.message.indexOf(': ') + 2)}`;
  }
  return assert.fail('nothing was refused');
}

const any = (value: unknown): never => value as never;

/** Objects without members that could be read by name. */
function nameless(): unknown[] {
  const forgotten = (function* () {
    yield 'a generator that is not asynchronous';
  })();
  return [new Map([['content', 'x']]), new Date(0), new Response('x'), forgotten];
}

describe('what is given to sessions', { skip }, () => {
  it('may be no larger than the memory allows: nothing is stored, and nobody else’s run ends', async () => {
    const host = new Host({ module: await fullModule(), maxMemory: 48 << 20 });
    const service = new SessionService({ host });
    const agent = llm('a', answers('one', 'two'));
    const runner = new Runner({ appName: 'app', agent, sessionService: service });
    for (const sessionId of ['s', 'mallory']) await service.createSession({ ...KEY, sessionId });
    const going = runner.runAsync({ ...WHO, newMessage: 'hi' });
    assert.equal((await going.next()).done, false);
    for (const size of [3 << 20, 10 << 20]) {
      const mallory = { ...WHO, sessionId: 'mallory', newMessage: 'x'.repeat(size) };
      const error = await runner.run(mallory).catch((reason: unknown) => reason);
      assert.ok(isTurncoreError(error, 'E_TURN_QUOTA_EXCEEDED'), String(error));
      assert.equal((error.details as { limit: string }).limit, 'maxMemory');
    }
    assert.deepEqual((await service.getSession({ ...KEY, sessionId: 'mallory' }))?.events, []);
    assert.equal((await going.next()).done, true);
    const fits = await runner.run({ ...WHO, newMessage: 'x'.repeat(1 << 20) });
    assert.equal(fits.length, 1);
  });

  it('may be more with actions that no model sees, and less where an instruction has the state', async () => {
    const host = new Host({ module: await fullModule(), maxMemory: 64 << 20 });
    const service = new SessionService({ host });
    const long = 'x'.repeat((1 << 20) - 64);
    const values = ['a', 'b', 'c', 'd'].map((name) => [name, long]);
    const state = Object.fromEntries(values) as Record<string, string>;
    const session = await service.createSession({ ...KEY, state });
    for (let i = 0; i < 8; i++) {
      const stateDelta = { a: `${i}${long}` };
      await service.appendEvent(session, new Event({ author: 'a', actions: { stateDelta } }));
    }
    const run = async (instruction: string): Promise<unknown> => {
      const agent = new LlmAgent({ name: 'a', instruction, model: answers('one') });
      const runner = new Runner({ appName: 'app', agent, sessionService: service });
      return await runner.run({ ...WHO, newMessage: 'hi' }).catch((reason: unknown) => reason);
    };
    assert.equal(((await run('plain')) as Event[]).length, 1);
    const error = await run('with {b}');
    assert.ok(isTurncoreError(error, 'E_TURN_QUOTA_EXCEEDED'), String(error));
  });

  it('as a message is a text or a content', async () => {
    const { runner, load } = await stage({ agent: llm('a', answers()) });
    for (const newMessage of [5, null, true, [], [{ text: 'x' }]]) {
      assert.equal(
        await refusal(() => runner.run({ ...WHO, newMessage: any(newMessage) })),
        'E_INVALID_INVOCATION message: must be a text or a content',
      );
    }
    assert.equal(
      await refusal(() => runner.run({ ...WHO, newMessage: { parts: [{}] } })),
      'E_INVALID_INVOCATION message.parts[0]: must hold text, a function call, a function response, or something else',
    );
    assert.equal((await load()).events.length, 0);
  });

  it('as bytes of a message may be base64, as JSON has them', async () => {
    const { runner, load } = await stage({ agent: llm('a', answers('seen')) });
    const data = new Uint8Array([137, 80]);
    const picture = { parts: [{ inlineData: { mimeType: 'image/png', data: 'iVA=' } }] };
    await runner.run({ ...WHO, newMessage: picture });
    const [asked] = (await load()).events;
    assert.deepEqual(asked!.content!.parts, [{ inlineData: { mimeType: 'image/png', data } }]);
    // What was written is read.
    const { content } = JSON.parse(JSON.stringify(asked)) as EventData;
    assert.deepEqual(content, { role: 'user', ...picture });
    for (const wrong of ['iVA', '?', 'iV=A']) {
      const part = { inlineData: { mimeType: 'image/png', data: wrong } };
      assert.equal(
        await refusal(() => runner.run({ ...WHO, newMessage: { parts: [part] } })),
        'E_INVALID_INVOCATION message.parts[0].inlineData.data: must be bytes',
      );
    }
  });

  it('may have base64 for the bytes of an event, in every place that takes one', async () => {
    const picture = { parts: [{ inlineData: { mimeType: 'image/png', data: 'iVA=' } }] };
    const data = new Uint8Array([137, 80]);
    const parts = [{ inlineData: { mimeType: 'image/png', data } }];
    const { service, load } = await stage({ agent: llm('a', answers()) });
    const session = await load();
    await service.appendEvent(session, { author: 'a', content: picture });
    assert.deepEqual(session.events[0]!.content, { parts });
    // What JSON has of an event is one.
    const { id: _, ...json } = JSON.parse(JSON.stringify(session.events[0])) as EventData<string>;
    assert.deepEqual(json.content, picture);
    await service.appendEvent(session, json);
    assert.deepEqual(new Event(json).content, { parts });
    assert.deepEqual(
      (await load()).events.map(({ content }) => content),
      [{ parts }, { parts }],
    );
    for (const wrong of ['iVA', '?', 5]) {
      const part = { inlineData: { mimeType: 'image/png', data: any(wrong) } };
      assert.equal(
        await refusal(() =>
          service.appendEvent(session, { author: 'a', content: { parts: [part] } }),
        ),
        'E_INVALID_EVENT content.parts[0].inlineData.data: must be bytes',
      );
    }
    const generator = new Script('a', async function* () {
      yield any({ content: picture });
    });
    const agents = [
      generator,
      llm('a', () => ({ content: picture })),
      llm('a', async function* () {
        yield { content: picture };
      }),
      llm('a', answers(), { beforeAgentCallback: () => picture }),
      llm('a', answers(), { beforeModelCallback: () => ({ content: picture }) }),
    ];
    for (const agent of agents) {
      const { say } = await stage({ agent });
      assert.deepEqual((await say())[0]!.content!.parts, parts);
    }
    const plugin: Plugin = { name: 'p', onUserMessage: () => picture };
    const { say, load: stored } = await stage({ agent: llm('a', answers('x')), plugins: [plugin] });
    await say();
    assert.deepEqual((await stored()).events[0]!.content!.parts, parts);
  });

  it('as a text or as bytes is what a frame holds: the part is named', async () => {
    const long = 'x'.repeat(17 << 20);
    const why = '17825792 bytes are more than a frame holds';
    const { runner, service, load } = await stage({ agent: llm('a', answers()) });
    const most = 16 << 20;
    const part = { inlineData: { mimeType: 'a/b', data: new Uint8Array(17 << 20) } };
    for (const [newMessage, field] of [
      [long, 'message.parts[0].text'],
      [{ parts: [{ text: 'x' }, part] }, 'message.parts[1].inlineData.data'],
    ] as const) {
      await assert.rejects(runner.run({ ...WHO, newMessage }), {
        code: 'E_ABI_LIMIT_EXCEEDED',
        message: `A limit of the ABI is exceeded: ${field} of 17825792 bytes is over the limit of ${most}`,
        details: { limit: 'frame', max: most, actual: 17 << 20, field },
      });
    }
    const half = { text: long.slice(0, 9 << 20) };
    await assert.rejects(runner.run({ ...WHO, newMessage: { parts: [half, half] } }), (error) => {
      assert.ok(isTurncoreError(error, 'E_ABI_LIMIT_EXCEEDED'), String(error));
      assert.equal((error.details as { limit: string }).limit, 'frame');
      return true;
    });
    const session = await load();
    assert.equal(
      await refusal(() => service.appendEvent(session, text(long, { author: 'a' }))),
      `E_INVALID_EVENT content.parts[0].text: ${why}`,
    );
    const state = { a: { b: long } };
    for (const [call, field] of [
      [() => service.createSession({ ...KEY, sessionId: 'x', state }), 'a.b'],
      [
        () => service.appendEvent(session, { author: 'a', actions: { stateDelta: state } }),
        'actions.stateDelta.a.b',
      ],
    ] as const) {
      assert.equal(await refusal(call), `E_INVALID_STATE ${field}: ${why}`);
    }
    const tool: SessionTool = { name: 't', description: 't', runAsync: () => ({ a: long }) };
    const caller = await stage({ agent: llm('a', answers(calls('t'), 'x'), { tools: [tool] }) });
    const [, told] = await caller.say();
    assert.deepEqual(told!.getFunctionResponses()[0]!.response, {
      error: `The value is invalid: result.a: ${why}`,
    });
    const of: [agent: LlmAgent, refused: string][] = [
      [llm('a', () => long), `E_INVALID_EVENT content.parts[0].text: ${why}`],
      [
        llm('a', answers(), { beforeAgentCallback: () => long }),
        `E_INVALID_EVENT beforeAgent.parts[0].text: ${why}`,
      ],
      [
        llm('a', answers(), { beforeAgentCallback: ({ state: own }) => void (own['a'] = long) }),
        `E_INVALID_STATE a: ${why}`,
      ],
    ];
    for (const [agent, refused] of of) {
      const { say } = await stage({ agent });
      assert.equal(await refusal(() => say()), refused);
    }
  });

  it('as actions in place of others are: what was written and saved stays', async () => {
    type Ctx = CallbackContext | ToolContext;
    const whole = { 'state.a': 1, 'state.b': 2, f: 0 };
    const of: [name: string, change: (ctx: Ctx) => void, expected?: object][] = [
      ['nothing', () => undefined],
      ['actions', (ctx) => (ctx.actions = any({}))],
      ['eventActions', (ctx) => (ctx.eventActions = any({}))],
      ['none', (ctx) => (ctx.actions = any(null))],
      [
        'others',
        (ctx) => (ctx.actions = new EventActions({ stateDelta: { c: 3 } })),
        { 'state.c': 3 },
      ],
      ['frozen ones', (ctx) => (ctx.actions = Object.freeze(new EventActions()))],
      ['a delta', (ctx) => (ctx.actions.stateDelta = { c: 3 }), { 'state.c': 3 }],
      ['a frozen delta', (ctx) => (ctx.actions.stateDelta = any(Object.freeze({ b: 0 })))],
      [
        'no deltas',
        (ctx) => Object.assign(ctx.actions, { stateDelta: null, artifactDelta: undefined }),
      ],
      ['a late delta', (ctx) => (ctx.actions.artifactDelta = {})],
    ];
    const work = async (ctx: Ctx, change: (ctx: Ctx) => void): Promise<void> => {
      ctx.state['a'] = 1;
      change(ctx);
      ctx.state['b'] = 2;
      await ctx.saveArtifact('f', { text: 'x' });
    };
    for (const [name, change, more] of of) {
      const callback = llm('a', answers('fine'), {
        beforeAgentCallback: (ctx) => work(ctx, change),
      });
      const tool: SessionTool = {
        name: 't',
        description: 't',
        runAsync: (_, ctx) => work(ctx, change),
      };
      const caller = llm('a', answers(calls('t'), 'fine'), { tools: [tool] });
      for (const agent of [callback, caller]) {
        const { say, load, service } = await stage({ agent });
        await say();
        const { state } = await load();
        const found: Record<string, unknown> = await service.listArtifacts(KEY);
        for (const [key, value] of Object.entries(state)) found[`state.${key}`] = value;
        assert.deepEqual(found, { ...whole, ...more }, name);
      }
    }
    const wrong: [wrong: unknown, field: string, why: string][] = [
      [5, 'actions', 'E_INVALID_EVENT beforeAgent.actions: must be a map (agent "a")'],
      [new Map(), 'actions', 'E_INVALID_EVENT beforeAgent.actions: a Map cannot be encoded'],
      [
        5,
        'actions.stateDelta',
        'E_INVALID_EVENT beforeAgent.actions.stateDelta: must be a map (agent "a")',
      ],
    ];
    for (const [given, field, why] of wrong) {
      const beforeAgentCallback = (ctx: CallbackContext): void => {
        if (field === 'actions') ctx.actions = any(given);
        else ctx.actions.stateDelta = any(given);
        ctx.state['a'] = 1;
      };
      const { say } = await stage({ agent: llm('a', answers(), { beforeAgentCallback }) });
      assert.equal(await refusal(() => say()), why);
    }
  });

  it('as the session of an invocation has no other state put in place of its own', async () => {
    let thrown: unknown;
    const beforeAgentCallback = ({ session }: CallbackContext): void => {
      try {
        (session as { state: object }).state = { a: 1 };
      } catch (error) {
        thrown = error;
      }
    };
    const { say } = await stage({ agent: llm('a', answers('x'), { beforeAgentCallback }) });
    await say();
    assert.ok(thrown instanceof TypeError, String(thrown));
  });

  it('in place of a message by a plugin has parts: the error names the hook', async () => {
    for (const given of [{}, { role: 'user' }, { parts: [] }, { parts: null }, { content: {} }]) {
      const plugin: Plugin = { name: 'p', onUserMessage: () => any(given) };
      const { say, load } = await stage({ agent: llm('a', answers()), plugins: [plugin] });
      assert.equal(
        await refusal(() => say()),
        'E_INVALID_EVENT onUserMessage.parts: must not be empty (plugin "p")',
      );
      assert.equal((await load()).events.length, 0);
    }
  });

  it('to functions of events is an event, and a list of them', async () => {
    for (const given of [null, 5, 'text', [], ...nameless()]) {
      for (const call of [
        () => new Event(any(given)),
        () => isFinalResponse(any(given)),
        () => functionCalls(any(given)),
        () => functionResponses(any(given)),
        () => pendingCalls([any(given)]),
      ]) {
        assert.equal(await refusal(call), 'E_INVALID_EVENT must be an event');
      }
      const actions = 'E_INVALID_EVENT actions: must be an object';
      assert.equal(await refusal(() => new EventActions(any(given))), actions);
      if (given === null) continue;
      assert.match(
        await refusal(() => new Event({ actions: any(given) })),
        /^E_INVALID_EVENT actions: (?:must be an object|a \w+ cannot be encoded)$/u,
      );
    }
    for (const given of [null, undefined, 5, {}, 'text']) {
      assert.equal(
        await refusal(() => pendingCalls(any(given))),
        'E_INVALID_VALUE events: must be a list',
      );
    }
    for (const parts of [5, {}, [null], ['text']]) {
      const content = { parts: any(parts) };
      for (const call of [isFinalResponse, functionCalls, functionResponses]) {
        assert.equal(
          await refusal(() => call({ content })),
          'E_INVALID_EVENT content.parts: must be a list of parts',
        );
      }
    }
  });

  it('as the end of a rewind is an id: without one no agent runs', async () => {
    const { runner, load } = await stage({ agent: llm('a', answers('never')) });
    for (const rewindBeforeInvocationId of [undefined, null, 1]) {
      const input = { ...WHO, rewindBeforeInvocationId: any(rewindBeforeInvocationId) };
      assert.equal(
        await refusal(() => runner.rewind(input)),
        'E_INVALID_INVOCATION rewindBeforeInvocationId: must be a string',
      );
    }
    assert.equal((await load()).events.length, 0);
  });

  it('by a generator is an event', async () => {
    for (const given of [undefined, null, 5, 'text', [], ...nameless()]) {
      const agent = new Script('a', async function* () {
        yield any(given);
      });
      const { say, load } = await stage({ agent });
      assert.equal(await refusal(() => say()), 'E_INVALID_EVENT must be an event');
      assert.deepEqual(lines((await load()).events), ['user: hello']);
    }
    const of: [EventData, string][] = [
      [{ actions: any(5) }, 'actions: must be a map'],
      [{ longRunningToolIds: any(5) }, 'longRunningToolIds: must be a list'],
      [{ longRunningToolIds: 'abc' }, 'longRunningToolIds: must be a list'],
    ];
    for (const [event, why] of of) {
      const agent = new Script('a', async function* () {
        yield event;
      });
      const { say } = await stage({ agent });
      assert.equal(await refusal(() => say()), `E_INVALID_EVENT ${why}`);
    }
  });

  it('of the state and of artifacts in actions is by name: nothing else is dropped', async () => {
    const map = new Map([['k', 1]]);
    const of: [ActionsData, string][] = [
      [{ stateDelta: any(map) }, 'E_INVALID_STATE actions.stateDelta: a Map cannot be encoded'],
      [{ stateDelta: any('abc') }, 'E_INVALID_EVENT actions.stateDelta: must be a map'],
      [{ stateDelta: any(5) }, 'E_INVALID_EVENT actions.stateDelta: must be a map'],
      [{ stateDelta: any([1]) }, 'E_INVALID_EVENT actions.stateDelta: must be a map'],
      [
        { artifactDelta: any(map) },
        'E_INVALID_EVENT actions.artifactDelta: a Map cannot be encoded',
      ],
    ];
    for (const [actions, why] of of) {
      for (const given of [actions, new EventActions(actions)]) {
        const agent = new Script('a', async function* () {
          yield { actions: given };
        });
        const { say } = await stage({ agent });
        assert.equal(await refusal(() => say()), why);
      }
    }
  });

  it('by a model is a text or an answer, and nothing is no answer', async () => {
    for (const given of [5, true, [], ...nameless()]) {
      const { say } = await stage({ agent: llm('a', () => any(given)) });
      assert.equal(
        await refusal(() => say()),
        'E_INVALID_EVENT response: must be a text or an object',
      );
    }
    for (const given of [undefined, null]) {
      const { say, load } = await stage({ agent: llm('a', () => any(given)) });
      assert.equal(
        await refusal(() => say()),
        'E_INVOCATION_UNFINISHED the model of agent "a" gave no answer',
      );
      assert.deepEqual(lines((await load()).events), ['user: hello']);
    }
  });

  it('by a model that does not stream can be encoded as a part of a stream can', async () => {
    const args: Record<string, unknown> = {};
    args['self'] = args;
    const whole: AgentResponse = { content: { parts: [{ functionCall: { name: 't', args } }] } };
    for (const model of [() => whole, () => Promise.resolve(whole), answers(whole)]) {
      const { say } = await stage({ agent: llm('a', model) });
      assert.equal(
        await refusal(() => say()),
        'E_INVALID_EVENT content.parts[0].functionCall.args.self: the value contains itself',
      );
    }
  });

  it('by a callback or a plugin is what it answers with', async () => {
    for (const given of [5, true, [], ...nameless()]) {
      for (const name of ['beforeAgent', 'afterAgent', 'beforeModel', 'afterModel']) {
        const agent = llm('a', answers('x'), { [`${name}Callback`]: () => given });
        const { say } = await stage({ agent });
        assert.equal(
          await refusal(() => say()),
          `E_INVALID_EVENT ${name}: must be a text or an object (agent "a")`,
        );
      }
      const onEvent = (): never => any(given);
      const { say } = await stage({
        agent: llm('a', answers('x')),
        plugins: [{ name: 'p', onEvent }],
      });
      assert.equal(
        await refusal(() => say()),
        'E_INVALID_EVENT onEvent: must be an event (plugin "p")',
      );
    }
  });

  it('by code that decides whether a person is asked is a boolean or what is shown: no tool runs unasked', async () => {
    for (const given of [1, 'yes', [], '']) {
      let ran = 0;
      const tool: SessionTool = {
        name: 't',
        description: 't',
        requireConfirmation: () => any(given),
        runAsync: () => ran++,
      };
      const { say } = await stage({
        agent: llm('a', answers(calls('t'), 'done'), { tools: [tool] }),
      });
      assert.equal(
        await refusal(() => say()),
        'E_INVALID_AGENT confirm: the callback must give a boolean or a map (agent "a")',
      );
      assert.equal(ran, 0);
    }
  });

  it('as the parts of artifacts are texts and bytes', async () => {
    const { service } = await stage({ agent: llm('a', answers()) });
    const session = (await service.getSession(KEY))!;
    const inline = 'inlineData must have a mimeType, a string, and data, a Uint8Array';
    const of: [string, unknown, string][] = [
      ['f', undefined, 'must be a part with text or inlineData'],
      ['f', {}, 'must be a part with text or inlineData'],
      ['f', { text: 5 }, 'must be a part with text or inlineData'],
      ['f', { inlineData: { mimeType: 'a/b', data: 'text' } }, inline],
      ['f', { inlineData: { data: new Uint8Array(1) } }, inline],
      [any(5), { text: 'x' }, 'must have a name'],
      ['user:', { text: 'x' }, 'must have a name'],
    ];
    for (const [name, part, why] of of) {
      assert.equal(
        await refusal(() => service.saveArtifact(session, name, any(part))),
        `E_INVALID_EVENT artifact: ${why}`,
      );
    }
    assert.deepEqual(await service.listArtifacts(KEY), {});
    for (const version of ['0', 0.5, NaN, [0]]) {
      assert.equal(
        await refusal(() => service.loadArtifact(KEY, 'f', any(version))),
        'E_INVALID_INVOCATION version: must be an integer',
      );
    }
    assert.equal(
      await refusal(() => service.loadArtifact(KEY, any(5))),
      'E_INVALID_EVENT artifact: must have a name',
    );
  });

  it('as the state of a session is an object', async () => {
    const { service } = await stage({ agent: llm('a', answers()) });
    for (const state of [5, 'text', [1], null, ...nameless(), new Set(['a']), Promise.resolve()]) {
      assert.equal(
        await refusal(() => service.createSession({ ...KEY, sessionId: 'x', state: any(state) })),
        'E_INVALID_STATE state: must be an object',
      );
    }
    assert.equal(await service.getSession({ ...KEY, sessionId: 'x' }), undefined);
  });

  it('as what may be missing in a configuration may be null, too', async () => {
    const agent = llm('a', answers('fine'), { tools: any(null) });
    const none: Record<string, unknown> = { plugins: null, compaction: null, host: null };
    const { say } = await stage({ agent, ...none });
    assert.deepEqual(lines(await say()), ['a: fine']);
    assert.ok(new SessionService({ host: any(null) }).host);
  });

  it('as a signal may be null, as for fetch', async () => {
    const { runner } = await stage({ agent: llm('a', answers('fine')) });
    const input = { ...WHO, newMessage: 'hello', signal: any(null) };
    assert.deepEqual(lines(await runner.run(input)), ['a: fine']);
  });

  it('has no member of a misspelled name, which would have no effect', async () => {
    const { runner, service, load } = await stage({ agent: llm('a', answers('never')) });
    const session = (await load()) as never;
    const input = 'E_INVALID_INVOCATION ';
    const unknown = 'is not a known field';
    const tries: readonly (readonly [refused: string, call: () => unknown])[] = [
      [`${input}input: must be an object`, () => runner.run(any(undefined))],
      [
        `${input}message: ${unknown}; did you mean newMessage?`,
        () => runner.run(any({ ...WHO, message: 'hello' })),
      ],
      [
        `${input}abortSignal: ${unknown}; did you mean signal?`,
        () => runner.run(any({ ...WHO, newMessage: 'hello', abortSignal: undefined })),
      ],
      [`${input}runConfig: ${unknown}`, () => runner.run(any({ ...WHO, runConfig: {} }))],
      [
        `${input}signal: must be an AbortSignal`,
        () => runner.run(any({ ...WHO, newMessage: 'hello', signal: {} })),
      ],
      [
        `${input}appName: the runner is of app`,
        () => runner.run({ ...WHO, appName: 'other', newMessage: 'hello' }),
      ],
      [`${input}invocationId: ${unknown}`, () => runner.rewind(any({ ...WHO, invocationId: 'x' }))],
      [
        `${input}initialState: ${unknown}; did you mean state?`,
        () => service.createSession(any({ appName: 'app', userId: 'u', initialState: {} })),
      ],
      [`${input}session: must be an object`, () => service.createSession(any(undefined))],
      [
        'E_INVALID_STATE state: must be an object',
        () => service.createSession(any({ ...KEY, sessionId: 'm', state: new Map([['a', 1]]) })),
      ],
      [`${input}upTo: ${unknown}`, () => service.forkSession(any({ ...KEY, upTo: 'e' }))],
      [`${input}limit: ${unknown}`, () => service.getSession(KEY, any({ limit: 1 }))],
      [`${input}last: must be an integer from 1 on`, () => service.getSession(KEY, { last: 0 })],
      [
        `${input}since: must be a time in ms since the Unix epoch`,
        () => service.getSession(KEY, any({ since: 'today' })),
      ],
      [
        `${input}limit: must be an integer from 1 on`,
        () => service.listPage({ appName: 'app' }, { limit: 0 }),
      ],
      [
        `${input}user: ${unknown}; did you mean userId?`,
        () => service.listSessions(any({ appName: 'app', user: 'u' })),
      ],
      [
        `${input}cursor: must be a string`,
        () => service.listPage({ appName: 'app' }, any({ cursor: 5 })),
      ],
      [`${input}recent: must be an object`, () => service.getSession(KEY, any(new Map()))],
      [`${input}options: must be an object`, () => service.forkSession(KEY, any(new Map()))],
      [
        `${input}session: must be what createSession or getSession gave`,
        () => service.retry(any(undefined), () => 1),
      ],
      ...[null, undefined, 5, {}].map(
        (run) =>
          [`${input}run: must be a function`, () => service.retry(session, any(run))] as const,
      ),
      ...[0, -1, 1.5, NaN, '3', null].map(
        (attempts) =>
          [
            `${input}attempts: must be an integer from 1 on`,
            () => service.retry(session, () => 1, any(attempts)),
          ] as const,
      ),
      [
        'E_INVALID_VALUE host: must be a Host or options of one',
        () => new SessionService({ host: any(5) }),
      ],
      [
        `${input}upto: ${unknown}; did you mean upTo?`,
        () => service.forkSession(KEY, any({ upto: 'x' })),
      ],
      [`${input}appName: must be a non-empty string`, () => service.getSession(any(undefined))],
      [
        `${input}session: must be what createSession or getSession gave`,
        () => service.appendEvent(any(KEY), { author: 'a' }),
      ],
      [
        'E_INVALID_EVENT actions.stateDeltas: is not a member of actions; did you mean stateDelta?',
        () =>
          service.appendEvent(session, any({ author: 'a', actions: { stateDeltas: { x: 1 } } })),
      ],
      [
        'E_INVALID_VALUE options: must be a plain object; a store goes into its member store',
        () => new SessionService(any(fullMemoryStore())),
      ],
      [
        `E_INVALID_VALUE stor: ${unknown}; did you mean store?`,
        () => new SessionService(any({ stor: fullMemoryStore() })),
      ],
    ];
    for (const [refused, call] of tries) assert.equal(await refusal(call), refused);
    assert.equal((await load()).events.length, 0);
    const page = await service.listSessions({ appName: 'app' });
    assert.equal(page.length, 1, 'no session was made');
    // What lists tell of a session names it.
    await runner.run({ ...page[0]!, newMessage: 'hello' });
    assert.equal((await service.listSessions(page[0]!)).length, 1);
  });

  it('as actions has no member of a misspelled name in agents, callbacks and tools', async () => {
    const known = 'is not a member of actions; did you mean transferToAgent?';
    const wrong = any({ transferToAgents: 'b' });
    const custom = new Script('a', async function* () {
      yield { content: { parts: [{ text: 'x' }] }, actions: wrong };
    });
    const callback = llm('a', answers('never'), {
      beforeAgentCallback: (ctx) => void Object.assign(ctx.actions, wrong),
    });
    for (const agent of [custom, callback]) {
      const { runner, load } = await stage({ agent });
      assert.equal(
        await refusal(() => runner.run({ ...WHO, newMessage: 'hello' })),
        `E_INVALID_EVENT actions.transferToAgents: ${known}`,
      );
      assert.equal((await load()).events.length, 1);
    }
    const tool: SessionTool = {
      name: 't',
      description: 'A tool.',
      runAsync: (_, ctx) => void Object.assign(ctx.actions, wrong),
    };
    const { runner } = await stage({
      agent: llm('a', answers(calls('t'), 'done'), { tools: [tool] }),
    });
    const [, told] = await runner.run({ ...WHO, newMessage: 'hello' });
    const [answer] = told!.getFunctionResponses();
    assert.match(String(answer!.response!['error']), /actions\.transferToAgents: is not a member/u);
  });

  it('as a list of whose sessions names an application, and a user unless it is all of them', async () => {
    const { service } = await stage({ agent: llm('a', answers()) });
    await service.createSession({ appName: 'app', userId: 'v/w', sessionId: 't%' });
    await service.createSession({ appName: 'app2', userId: 'u', sessionId: 's' });
    const all = await service.listSessions({ appName: 'app' });
    assert.deepEqual(all.map(({ userId, sessionId }) => `${userId} ${sessionId}`).sort(), [
      'u s',
      'v/w t%',
    ]);
    assert.equal((await service.listPage({ appName: 'app' }, { limit: 1 })).sessions.length, 1);
    assert.equal(
      await refusal(() => service.listSessions(any({}))),
      'E_INVALID_INVOCATION appName: must be a non-empty string',
    );
    assert.equal(
      await refusal(() => service.listSessions({ appName: 'app', userId: '' })),
      'E_INVALID_INVOCATION userId: must be a non-empty string',
    );
  });
});

describe('a runner', { skip }, () => {
  it('tells all that is wrong with its agents and plugins, and what is likely meant', () => {
    const one = llm('one', answers());
    const model = answers();
    const tool = { name: 't', description: 't', runAsync: () => 1 };
    const config = {
      appName: '',
      agent: new SequentialAgent({
        name: 'root',
        subAgents: [
          new LlmAgent(any({ name: 'a', instructions: 'x', model: undefined })),
          new LlmAgent(any({ model, beforeToolCallback: [() => 1, 5], afterModelCallback: 'x' })),
          new LlmAgent(any({ name: 'c', model, tools: 5, instruction: 5, confirmTools: ['t'] })),
          new LlmAgent({
            name: 'd',
            model,
            tools: [any(null), any({ ...tool, requireConfirmation: 'yes', isLongRunning: 1 })],
            longRunningTools: ['t', 'z'],
          }),
          any({ name: 'e' }),
          one,
          new LlmAgent({ name: 'k', model, outputKey: 'temp_x' }),
          new LlmAgent({ name: 'l', model, outputKey: 'app:' }),
          new LlmAgent(any({ name: 'm', model, outputKey: 5 })),
          new LlmAgent({ name: 'n', model, outputKey: 'user:x' }),
        ],
      }),
      plugins: any([null, { name: 'p', beforeRun: 5 }]),
    };
    let details: unknown;
    try {
      new Runner({ ...config, sessionService: new SessionService() });
    } catch (error) {
      assert.ok(isTurncoreError(error, 'E_INVALID_AGENT'), String(error));
      ({ details } = error);
    }
    const a = 'agent.subAgents';
    assert.deepEqual(details, [
      'appName: must be a non-empty string',
      `${a}[0].instructions: is not a known field; did you mean instruction?`,
      `${a}[0].model: must be the options of a model, an engine, or a function`,
      `${a}[1].name: must be a non-empty string`,
      `${a}[1].afterModelCallback: must be a function`,
      `${a}[1].beforeToolCallback[1]: must be a function`,
      `${a}[2].instruction: must be a text or a function`,
      `${a}[2].tools: must be a list`,
      `${a}[2].confirmTools: there is no tool "t"`,
      `${a}[3].tools[0]: must be a tool`,
      `${a}[3].tools[1].requireConfirmation: must be a boolean or a function`,
      `${a}[3].tools[1].isLongRunning: must be a boolean`,
      `${a}[3].longRunningTools: there is no tool "z"`,
      `${a}[4]: must be an agent`,
      `${a}[6].outputKey: a scope is app:, user: or temp:; did you mean "temp:x"?`,
      `${a}[7].outputKey: a name must not be empty`,
      `${a}[8].outputKey: must be a string`,
      'plugins[0]: must be a plugin',
      'plugins[1].beforeRun: must be a function',
    ]);
    for (const maxModelCalls of [0, -1, 1.5, any('5')]) {
      assert.throws(
        () => new Runner({ appName: 'app', agent: llm('a', model), maxModelCalls }),
        (error) =>
          isTurncoreError(error, 'E_INVALID_AGENT') &&
          error.message.endsWith('maxModelCalls: must be an integer from 1 on'),
      );
    }
  });

  it('refuses names that it, its tools and its plugins do not have, and says what is likely meant', async () => {
    const agent = llm('a', answers());
    const tool = { name: 't', description: 't', runAsync: () => 1 };
    const unknown = (name: string, meant: string): string =>
      `${name}: is not a known field; did you mean ${meant}?`;
    const given: [config: object, wrong: string][] = [
      [{ maxLlmCalls: 5 }, unknown('maxLlmCalls', 'maxModelCalls')],
      [{ sessionServce: 1 }, unknown('sessionServce', 'sessionService')],
      [{ artifactService: 1 }, 'artifactService: is not a known field'],
    ];
    const inTool: [tool: object, wrong: string][] = [
      [{ ...tool, parameters: {} }, unknown('parameters', 'inputSchema')],
      [{ ...tool, schema: {} }, unknown('schema', 'inputSchema')],
      [{ ...tool, longRunning: true }, unknown('longRunning', 'isLongRunning')],
      [{ ...tool, requireConfirm: true }, unknown('requireConfirm', 'requireConfirmation')],
      [{ ...tool, runAsync: undefined }, 'runAsync: must be a function'],
      [
        { name: 't', description: 't', execute: () => 1 },
        `${unknown('execute', 'runAsync')}; agent.tools[0].runAsync: must be a function`,
      ],
    ];
    for (const [wrong, why] of inTool) {
      const of = llm('a', answers(), { tools: [any(wrong)] });
      given.push([{ agent: of }, `agent.tools[0].${why}`]);
    }
    const agentAsTool = llm('a', answers(), { tools: [any(agent)] });
    const wrap = 'agent.tools[0]: must be a tool: make one of the agent with AgentTool';
    given.push([{ agent: agentAsTool }, wrap]);
    class Late {
      readonly name = 'late';
      afterRunCallback(): void {
        throw new Error('is no hook');
      }
    }
    const inPlugin: [plugin: object, name: string, meant: string][] = [
      [{ name: 'p', beforeRunCallback: () => 'x' }, 'beforeRunCallback', 'beforeRun'],
      [{ name: 'p', onUserMesage: () => 'x' }, 'onUserMesage', 'onUserMessage'],
      [{ name: 'p', onevent: () => 'x' }, 'onevent', 'onEvent'],
      [new Late(), 'afterRunCallback', 'afterRun'],
    ];
    for (const [plugin, name, meant] of inPlugin) {
      given.push([
        { plugins: [plugin] },
        `plugins[0].${name}: is not a hook; did you mean ${meant}?`,
      ]);
    }
    for (const [config, wrong] of given) {
      assert.equal(
        await refusal(() => new Runner(any({ appName: 'app', agent, ...config }))),
        `E_INVALID_AGENT ${wrong}`,
      );
    }
    assert.equal(
      await refusal(() => new Runner(any(undefined))),
      'E_INVALID_AGENT config: must be an object',
    );
  });

  it('names the agent and the tool of a wrong definition', () => {
    const tool = { name: 'look', description: '', runAsync: () => 1 };
    const agent = llm('a', answers('x'), { tools: [tool] });
    const why = "The tool's definition is invalid: `description` must be a non-empty string";
    assert.throws(
      () => new Runner({ appName: 'app', agent }),
      (error) => {
        assert.ok(isTurncoreError(error, 'E_INVALID_AGENT'), String(error));
        assert.ok(error.message.endsWith(`agent "a", tool "look": ${why}`), error.message);
        assert.ok(isTurncoreError(error.cause, 'E_INVALID_INITIAL_TOOL_VALUE'));
        return true;
      },
    );
  });

  it('takes plugins and tools that are objects of classes with more', async () => {
    class Counter implements Plugin {
      readonly name = 'counter';
      readonly beforeTurn = (): number => this.#count();
      #n = 0;
      onEvent(): void {
        this._onEvents();
        this.onEvents();
      }
      _onEvents(): void {
        this.#n++;
      }
      /** Its name is like a hook's that is there. */
      onEvents(): void {
        this.#n++;
      }
      get beforeRuns(): never {
        throw new Error('a getter runs');
      }
      #count(): number {
        return this.#n;
      }
    }
    class Add implements SessionTool {
      readonly name = 'add';
      readonly description = 'Adds.';
      readonly parameters = 2;
      runAsync(): number {
        return this.parameters;
      }
    }
    const counter = new Counter();
    const agent = llm('a', answers(calls('add'), 'done'), { tools: [new Add()] });
    const { say } = await stage({ agent, plugins: [counter] });
    assert.deepEqual(lines(await say()), ['a: add()', 'a: add = {"result":2}', 'a: done']);
    assert.equal(counter.beforeTurn(), 6); // twice for each event
  });

  it('takes a store that keeps events only', async () => {
    const agent = llm('a', answers());
    for (const store of [memoryStore(), {}, null, 5]) {
      for (const make of [
        () => new SessionService({ store: any(store) }),
        () => new Runner({ appName: 'app', agent, store: any(store) }),
      ]) {
        assert.equal(
          await refusal(make),
          'E_INVALID_VALUE store: must keep events: fullMemoryStore() of turncore/stores/memory does, memoryStore() does not',
        );
      }
    }
  });

  it('refuses configurations that are none, and tells what is wrong', async () => {
    const made = llm('b', answers());
    const tries: readonly (readonly [refused: string, call: () => unknown])[] = [
      ['config: must be an object', () => new LlmAgent(any(undefined))],
      ['subAgents: must be a list', () => new SequentialAgent({ name: 's', subAgents: any(made) })],
      ['config: must have the agent as a member: { agent }', () => new AgentTool(any(made))],
      ['name: is not a known field', () => new AgentTool(any({ name: 'n', agent: made }))],
      ['agent: must be an agent', () => new AgentTool(any({}))],
      [
        'compaction.kep: is not a known field; did you mean keep?',
        () => new Runner({ appName: 'app', agent: made, compaction: any({ tokens: 1, kep: 1 }) }),
      ],
      [
        'sessionService: must be a SessionService',
        () => new Runner({ appName: 'app', agent: made, sessionService: any({}) }),
      ],
      [
        'store: the session service has a store of its own',
        () =>
          new Runner({
            ...{ appName: 'app', agent: made, store: fullMemoryStore() },
            sessionService: new SessionService(),
          }),
      ],
    ];
    for (const [refused, call] of tries) {
      assert.equal(await refusal(call), `E_INVALID_AGENT ${refused}`);
    }
    const { runner } = await stage({
      agent: new Script(
        'c',
        any(() => Promise.resolve()),
      ),
    });
    assert.equal(
      await refusal(() => runner.run({ ...WHO, newMessage: 'hello' })),
      'E_INVALID_AGENT agent c: runAsyncImpl must be an async generator',
    );
  });

  it('takes classes of its users that are configured with more', () => {
    class Own extends LlmAgent {
      constructor(config: { readonly name: string; readonly topic: string }) {
        super({ ...config, model: answers() });
      }
    }
    new Runner({ appName: 'app', agent: new Own({ name: 'a', topic: 'x' }) });
  });
});
