/**
 * Turns on a server: clients that start them, come back, settle gates, abort and go away.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createRunner,
  type DispatchExecutorFn,
  isTurncoreError,
  type TurnEvent,
  type TurnStream,
} from '../../src/index.js';
import {
  connect,
  type ConnectOptions,
  createTurnServer,
  type RemoteRunner,
  type ServerInput,
  type TurnServer,
  type TurnServerOptions,
} from '../../src/entries/remote.js';
import { type AgentInput, type AgentRunner } from '../../src/index.js';
import { skip, testHost } from './harness.js';

const URL = 'http://server.test/turns';

interface Setup {
  readonly runner: AgentRunner;
  readonly server: TurnServer;
  readonly client: RemoteRunner<ServerInput>;
  /** The requests, as method and path, with what answered them. */
  readonly requests: string[];
  readonly responses: Response[];
}

type Send = NonNullable<ConnectOptions['fetch']>;

/** A server, and a client of it in the same process. */
async function setUp(
  executor: DispatchExecutorFn,
  {
    network,
    connect: more,
    ...options
  }: TurnServerOptions<AgentInput> & {
    /** Changes what the network does. */
    readonly network?: (send: Send) => Send;
    readonly connect?: ConnectOptions;
  } = {},
): Promise<Setup> {
  const runner = createRunner({ executor, host: await testHost() });
  const server = createTurnServer<AgentInput>(runner, options);
  const requests: string[] = [];
  const responses: Response[] = [];
  const send: Send = async (url, init) => {
    const request = new Request(url, init);
    requests.push(`${request.method} ${new globalThis.URL(url).pathname}`);
    const response = await server.fetch(request);
    responses.push(response);
    return response;
  };
  const client = connect(URL, {
    fetch: network?.(send) ?? send,
    retryDelay: () => 0,
    ...more,
  });
  return { runner, server, client, requests, responses };
}

async function collect(stream: TurnStream): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** A promise and what settles it. */
function later<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  return { promise: new Promise<T>((given) => (resolve = given)), resolve: (v) => resolve(v) };
}

const post = (path: string, body: unknown, headers = {}): Request =>
  new Request(URL + path, { method: 'POST', body: JSON.stringify(body), headers });
const get = (path: string, headers = {}): Request => new Request(URL + path, { headers });

async function errorIn(
  response: Response,
): Promise<readonly [status: number, code: string, message: string]> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code, error.message];
}

const answer: DispatchExecutorFn = async (ctx, helpers) => {
  for (const word of ['One ', 'two ', 'three']) {
    helpers.reportMessage('m', word);
    await Promise.resolve();
  }
  helpers.reportMessage('m', '', { isComplete: true });
  ctx.ack();
};

describe('turns on a server', { skip }, () => {
  it('look as if they ran here', async () => {
    const { client, runner, requests } = await setUp(answer);
    const heard: string[] = [];
    client.on('message', ({ aDelta }) => heard.push(aDelta));
    client.observe('turnEnd', ({ status }) => heard.push(status));
    const { text, status } = await client.stream({ message: 'hi', sessionId: 's' }).result;
    assert.deepEqual([text, status, heard.join('')], ['One two three', 'ack', 'One two threeack']);
    await client.run({ message: 'again', turnId: 'a/b' });
    assert.deepEqual(requests, ['POST /turns', 'POST /turns']);
    const here = await runner.stream({ message: 'hi', sessionId: 's' }).result;
    assert.equal(here.text, text);
  });

  it('settle gates for every client', async () => {
    const { client, server, requests } = await setUp(async (ctx, helpers) => {
      const schema = { type: 'string' };
      const gate = { id: 'may/I', reason: 'May I?', payload: { n: 1 }, createdAt: 0, schema };
      const first = await ctx.waitFor(gate);
      const second = await ctx
        .waitFor({ ...gate, id: 'b' })
        .catch((error: unknown) => (error as Error).message);
      const third = await ctx
        .waitFor({ ...gate, id: 'c' })
        .catch((error: unknown) => (error as Error).name);
      helpers.reportMessage('m', [first, second, third].join(' '), { isComplete: true });
      ctx.ack();
    });
    const stream = client.stream({ message: 'hi', turnId: 'a/b' });
    for await (const event of stream) {
      if (event.event !== 'turnGateOpen') continue;
      const gate = client.gate(event.id)!;
      assert.equal(gate, event);
      if (event.id === 'may/I') {
        await assert.rejects(() => gate.resolve(1), {
          code: 'E_INVALID_TURN_GATE_RESOLUTION',
        });
        await assert.rejects(() => gate.resolve('x', { digest: 'other' }), {
          code: 'E_INVALID_TURN_GATE_RESOLUTION',
        });
        for (const options of [{ digset: 'x' }, 5, ['x']]) {
          await assert.rejects(() => gate.resolve('x', options as object), {
            code: 'E_INVALID_VALUE',
          });
        }
        const bad = [Number.NaN, 1n << 60n, new Map(), () => 1, Symbol('s'), { f: () => 1 }];
        for (const value of [...bad, new Uint8Array(1)]) {
          await assert.rejects(() => gate.resolve(value), { code: 'E_INVALID_VALUE' });
        }
        const { digest } = event;
        const refusals = [
          [{}, 400, 'E_TURN_REQUEST_INVALID'],
          [{ value: 1, abort: true }, 400, 'E_TURN_REQUEST_INVALID'],
          [{ value: 1, digest: 2 }, 400, 'E_TURN_REQUEST_INVALID'],
          [{ error: 'no' }, 400, 'E_TURN_REQUEST_INVALID'],
          [{ abort: 1 }, 400, 'E_TURN_REQUEST_INVALID'],
          [{ value: 'x', Digest: 'other' }, 400, 'E_TURN_REQUEST_INVALID'],
          [{ abort: true, digest }, 400, 'E_TURN_REQUEST_INVALID'],
          [{ value: 'x', digest: 'other' }, 422, 'E_INVALID_TURN_GATE_RESOLUTION'],
        ] as const;
        for (const [body, status, code] of refusals) {
          const refused = await errorIn(await server.fetch(post('/a%2Fb/gates/may%2FI', body)));
          assert.deepEqual(refused.slice(0, 2), [status, code]);
        }
        const unknown = await errorIn(await server.fetch(post('/a%2Fb/gates/other', { value: 1 })));
        assert.deepEqual(unknown.slice(0, 2), [404, 'E_TURN_GATE_UNKNOWN']);
        const path = '/a%2Fb/gates/may%2FI';
        const response = await server.fetch(post(path, { value: 'yes', digest }));
        assert.equal(response.status, 204);
        const [status, code] = await errorIn(await server.fetch(post(path, { value: 'no' })));
        assert.deepEqual([status, code], [409, 'E_TURN_GATE_SETTLED']);
        await assert.rejects(() => gate.abort(), { code: 'E_TURN_GATE_SETTLED' });
      } else if (event.id === 'b') {
        await gate.reject(new RangeError('no'));
      } else {
        await gate.abort();
      }
    }
    assert.equal((await stream.result).text, 'yes no E_TURN_GATE_ABORTED');
    assert.deepEqual(client.gates(), []);
    assert.ok(requests.includes('POST /turns/a%2Fb/gates/may%2FI'));
  });

  it('are aborted by request, and tell their end', async () => {
    const { client, runner } = await setUp(async (ctx, helpers) => {
      helpers.reportMessage('m', 'word');
      await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
    });
    const statuses: string[] = [];
    runner.observe('turnEnd', ({ status }) => statuses.push(status));
    const stream = client.stream({ message: 'hi' });
    for await (const event of stream) if (event.event === 'message') break;
    const result = await stream.result;
    assert.deepEqual([result.status, result.text, result.interrupted], ['aborted', 'word', true]);
    const early = new AbortController();
    early.abort();
    const aborted = await client.stream({ message: 'hi', signal: early.signal }).result;
    assert.equal(aborted.status, 'aborted');
    assert.deepEqual(statuses, ['aborted']);
  });

  it('are not asked for when they are aborted before', async () => {
    const { client, requests } = await setUp(answer);
    const stream = client.stream({ message: 'hi', signal: AbortSignal.abort() });
    assert.equal((await stream.result).status, 'aborted');
    const second = client.stream({ message: 'hi' });
    second.abort();
    const { status, iterations } = await second.result;
    assert.deepEqual([status, iterations, requests], ['aborted', 0, []]);
    const slow = later<object>();
    const { client: other, requests: asked } = await setUp(answer, {
      connect: { headers: () => slow.promise as Promise<Record<string, string>> },
    });
    const third = other.stream({ message: 'hi' });
    await new Promise(setImmediate);
    third.abort();
    slow.resolve({});
    assert.equal((await third.result).status, 'aborted');
    assert.deepEqual(asked, []);
  });

  it('get the values that gates here get', async () => {
    const { client } = await setUp(async (ctx, helpers) => {
      const value = await ctx.waitFor({ id: 'g', reason: '?', payload: null, createdAt: 0 });
      helpers.reportMessage('m', JSON.stringify(value), { isComplete: true });
      ctx.ack();
    });
    const value = { at: new Date(5), n: 7n, none: undefined, list: [undefined] };
    client.observe('turnGateOpen', (gate) => {
      gate.resolve(value);
    });
    const { text } = await client.stream({ message: 'hi' }).result;
    assert.deepEqual(JSON.parse(text), { at: 5, n: 7, list: [null] });
  });

  it('end by the signal of a client that attaches', async () => {
    const { client } = await setUp(async (ctx, helpers) => {
      helpers.reportMessage('m', 'word');
      await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
    });
    const stream = client.stream({ message: 'hi', turnId: 't' });
    const controller = new AbortController();
    const same = client.stream({ message: 'hi', turnId: 't', signal: controller.signal });
    assert.equal(same, stream);
    client.on('message', () => controller.abort());
    assert.equal((await stream.result).status, 'aborted');
  });

  it('are read on after every cut', async () => {
    const whole = await setUp(answer);
    const expected = (await collect(whole.client.stream({ message: 'hi', turnId: 't' }))).map((e) =>
      JSON.stringify(e),
    );
    const bytes = new Uint8Array(await (await whole.server.fetch(get('/t/events'))).arrayBuffer());
    for (let size = 0; size < bytes.length; size += 13) {
      let cuts = 0;
      const { client, requests } = await setUp(answer, {
        onDisconnect: 'continue',
        network: (send) => async (url, init) => {
          const response = await send(url, init);
          if (cuts++ > 0) return response;
          const sent = new Uint8Array(await response.arrayBuffer()).subarray(0, size);
          return new Response(sent, response);
        },
      });
      const stream = client.stream({ message: 'hi', turnId: 't' });
      const lines: string[] = [];
      let text = '';
      for await (const event of stream) {
        if (event.event === 'message' && !event.isComplete) text += event.aDelta;
        else lines.push(JSON.stringify(event));
      }
      assert.equal(text, 'One two three', `cut after ${size}`);
      assert.deepEqual(
        lines,
        expected.filter((line) => !line.includes('"isComplete":false')),
      );
      assert.equal((await stream.result).status, 'ack');
      assert.deepEqual(requests, ['POST /turns', 'GET /turns/t/events']);
    }
  });

  it('are given up when connections keep failing, and while servers refuse', async () => {
    let attempts = 0;
    const failing = await setUp(answer, {
      network: () => () => {
        attempts += 1;
        return attempts % 2 === 0
          ? Promise.reject(new TypeError('fetch failed'))
          : Promise.resolve(new Response('busy', { status: 503 }));
      },
      connect: { retries: 3 },
    });
    const { error } = await failing.client.stream({ message: 'hi' }).result;
    assert.ok(isTurncoreError(error, 'E_TURN_STREAM_CUT'));
    assert.equal(attempts, 4);
    await assert.rejects(failing.client.run({ message: 'hi' }), { code: 'E_TURN_STREAM_CUT' });

    const refusing = await setUp(answer, {
      network: () => () => Promise.resolve(new Response('<h1>No</h1>', { status: 403 })),
    });
    await assert.rejects(collect(refusing.client.stream({ message: 'hi' })), {
      code: 'E_TURN_REQUEST_REFUSED',
      status: 403,
    });
  });

  it('run once for all requests with their id', async () => {
    const go = later();
    let runs = 0;
    const { server } = await setUp(async (ctx, helpers) => {
      runs += 1;
      await go.promise;
      helpers.reportMessage('m', 'once', { isComplete: true });
      ctx.ack();
    });
    const both = [1, 2].map(() => server.fetch(post('', { message: 'hi', turnId: 't' })));
    const responses = await Promise.all(both);
    const late = server.fetch(post('', { message: 'hi', turnId: 't' }));
    go.resolve();
    const texts = await Promise.all([...responses, await late].map((response) => response.text()));
    assert.match(texts[0]!, /once[^]*event:end/);
    assert.deepEqual(texts, Array(3).fill(texts[0]));
    const after = await server.fetch(post('', { message: 'hi', turnId: 't' }));
    assert.equal(await after.text(), texts[0]);
    assert.equal(runs, 1);
    assert.equal(after.headers.get('content-location'), '/turns/t/events');
    const nothing = await server.fetch(get('/t/events', { 'last-event-id': '99' }));
    assert.equal(nothing.status, 204);
  });

  it('end when their last client goes away, or run on', async () => {
    for (const onDisconnect of ['abort', 'continue'] as const) {
      const go = later();
      const { server, runner } = await setUp(
        async (ctx, helpers) => {
          helpers.reportMessage('m', 'word');
          const aborted = new Promise((resolve) =>
            ctx.abortSignal.addEventListener('abort', resolve),
          );
          await Promise.race([aborted, go.promise]);
          ctx.ack();
        },
        { onDisconnect },
      );
      const ended = later<string>();
      runner.observe('turnEnd', ({ status }) => ended.resolve(status));
      const first = await server.fetch(post('', { message: 'hi', turnId: 't' }));
      const second = await server.fetch(get('/t/events'));
      await first.body!.cancel();
      const reader = second.body!.getReader();
      await reader.read();
      await reader.cancel();
      const back = server.fetch(post('', { message: 'hi', turnId: 't' }));
      if (onDisconnect === 'continue') go.resolve();
      const status = onDisconnect === 'abort' ? 'aborted' : 'ack';
      assert.equal(await ended.promise, status);
      assert.match(await (await back).text(), new RegExp(`event:end\\ndata:{"status":"${status}"`));
    }
  });

  it('keep what there is room for', async () => {
    const go = later();
    const filled = later();
    const { server } = await setUp(
      async (ctx, helpers) => {
        for (let i = 0; i < 100; i++) helpers.reportMessage('m', 'x'.repeat(100));
        filled.resolve();
        await go.promise;
        ctx.ack();
      },
      { maxReplayBytes: 10_000 },
    );
    const slow = await server.fetch(post('', { message: 'hi', turnId: 'a' }));
    await filled.promise;
    const reader = slow.body!.getReader();
    let text = '';
    const utf8 = new TextDecoder();
    for (let read; !(read = await reader.read()).done;) text += utf8.decode(read.value);
    assert.match(text, /event:fault\ndata:{"code":"E_TURN_EVENTS_LOST"/);
    go.resolve();
    const second = await server.fetch(post('', { message: 'hi', turnId: 'b' }));
    await second.text();
    const third = await server.fetch(post('', { message: 'hi', turnId: 'c' }));
    await third.text();
    const [status, code] = await errorIn(await server.fetch(get('/b/events')));
    assert.deepEqual([status, code], [410, 'E_TURN_EVENTS_LOST']);
    const again = await errorIn(await server.fetch(post('', { message: 'hi', turnId: 'b' })));
    assert.equal(again[1], 'E_TURN_EVENTS_LOST');
  });

  it('take what the server’s own input makes of a body', async () => {
    const { client, server } = await setUp(
      (ctx, helpers) => {
        helpers.reportMessage('m', ctx.systemPrompt.toString(), { isComplete: true });
        ctx.ack();
      },
      {
        input: async ({ language }, request) => {
          await Promise.resolve();
          if (request.headers.get('authorization') !== 'Bearer ada') throw new Error('secret why');
          return { message: 'hi', systemPrompt: `Speak ${language as string}.` };
        },
        headers: { 'access-control-allow-origin': '*' },
        connect: { headers: () => Promise.resolve({ authorization: 'Bearer ada' }) },
      },
    );
    const { text } = await client.stream({ language: 'Norwegian' }).result;
    assert.equal(text, 'Speak Norwegian.');
    const refused = await server.fetch(post('', {}));
    assert.equal(refused.status, 500);
    assert.equal(refused.headers.get('access-control-allow-origin'), '*');
  });

  it('are refused with what the server’s own input throws', async () => {
    let thrown: unknown;
    const { server } = await setUp(answer, {
      input: () => {
        throw thrown;
      },
      headers: { 'x-more': 'y' },
    });
    const cases: readonly (readonly [unknown, number])[] = [
      [Object.assign(new Error('who are you'), { status: 401 }), 401],
      [Object.assign(new Error('busy'), { status: 599 }), 599],
      [Object.assign(new Error('odd'), { status: 200 }), 500],
      [Object.assign(new Error('odd'), { status: '401' }), 500],
      [new Error('why'), 500],
      [null, 500],
      [undefined, 500],
      ['text', 500],
    ];
    for (const [error, status] of cases) {
      thrown = error;
      const response = await server.fetch(post('', { message: 'hi' }));
      assert.deepEqual([response.status, response.headers.get('x-more')], [status, 'y']);
    }
    thrown = new Response('log in', { status: 403, headers: { 'x-own': 'z' } });
    const response = await server.fetch(post('', { message: 'hi' }));
    const own = [response.headers.get('x-own'), response.headers.get('x-more')];
    assert.deepEqual([response.status, await response.text(), ...own], [403, 'log in', 'z', 'y']);
  });

  it('are refused when the runner refuses them', async () => {
    const { server, client } = await setUp(answer, {
      input: () => ({ message: 7 as unknown as string }),
    });
    const [status, code, message] = await errorIn(await server.fetch(post('', { turnId: 't' })));
    assert.deepEqual([status, code], [400, 'E_INVALID_TURN_CONTEXT']);
    assert.match(message, /message/);
    await assert.rejects(client.run({}), { code: 'E_INVALID_TURN_CONTEXT' });
  });
});

describe('a turn server', () => {
  const runner = createRunner({ executor: (ctx) => ctx.ack() });
  const server = createTurnServer(runner, { maxBodyBytes: 1000 });
  const raw = (body: BodyInit | null): Request => new Request(URL, { method: 'POST', body });

  const cases: readonly (readonly [
    name: string,
    request: Request,
    status: number,
    code: string,
    says: RegExp,
  ])[] = [
    ['another path', new Request('http://server.test/'), 404, 'E_TURN_REQUEST_INVALID', /nothing/],
    ['a path that goes on', post('/t/events/x', {}), 404, 'E_TURN_REQUEST_INVALID', /nothing/],
    ['a gate without an id', post('/t/gates', {}), 404, 'E_TURN_REQUEST_INVALID', /nothing/],
    ['a wrong escape', get('/%ff/events'), 400, 'E_TURN_REQUEST_INVALID', /escape/],
    ['another method', get(''), 405, 'E_TURN_REQUEST_INVALID', /POST/],
    ['another method for events', post('/t/events', {}), 405, 'E_TURN_REQUEST_INVALID', /GET/],
    ['no body', raw(null), 400, 'E_TURN_REQUEST_INVALID', /JSON/],
    ['no JSON', raw('message=hi'), 400, 'E_TURN_REQUEST_INVALID', /JSON/],
    ['a list', raw('[]'), 400, 'E_TURN_REQUEST_INVALID', /object/],
    [
      'a body that is too long',
      raw(JSON.stringify({ message: 'x'.repeat(1000) })),
      413,
      'E_TURN_REQUEST_INVALID',
      /1000 bytes/,
    ],
    ['no message', post('', {}), 400, 'E_TURN_REQUEST_INVALID', /`message`/],
    ['an empty message', post('', { message: '' }), 400, 'E_TURN_REQUEST_INVALID', /`message`/],
    [
      'a session that is a number',
      post('', { message: 'hi', sessionId: 1 }),
      400,
      'E_TURN_REQUEST_INVALID',
      /`sessionId`/,
    ],
    [
      'an id that is a number',
      post('', { message: 'hi', turnId: 1 }),
      400,
      'E_TURN_REQUEST_INVALID',
      /`turnId`/,
    ],
    [
      'an id that is too long',
      post('', { message: 'hi', turnId: 'x'.repeat(257) }),
      400,
      'E_TURN_REQUEST_INVALID',
      /256/,
    ],
    [
      'an id with half a pair',
      post('', { message: 'hi', turnId: '\ud800' }),
      400,
      'E_TURN_REQUEST_INVALID',
      /`turnId`/,
    ],
    [
      'an unknown member',
      post('', { message: 'hi', systemPrompt: 'x' }),
      400,
      'E_TURN_REQUEST_INVALID',
      /`systemPrompt`/,
    ],
    ['an unknown turn', get('/t/events'), 404, 'E_TURN_UNKNOWN', /: t$/],
    ['a gate of an unknown turn', post('/t/gates/g', { value: 1 }), 404, 'E_TURN_UNKNOWN', /: t$/],
    ['the abort of an unknown turn', post('/t/abort', {}), 404, 'E_TURN_UNKNOWN', /: t$/],
  ];
  for (const [name, request, status, code, says] of cases) {
    it(`refuses ${name}`, async () => {
      const refused = await errorIn(await server.fetch(request));
      assert.deepEqual(refused.slice(0, 2), [status, code]);
      assert.match(refused[2], says);
    });
  }

  it('rejects options that are none', () => {
    const bad: readonly (readonly [unknown, RegExp])[] = [
      [{ onDisconnect: 'stop' }, /`onDisconnect`/],
      [{ maxReplayBytes: 0 }, /`maxReplayBytes`/],
      [{ maxBodyBytes: Number.NaN }, /`maxBodyBytes`/],
      [{ input: 5 }, /`input`/],
      [{ ondisconnect: 'continue' }, /`ondisconnect`.*`onDisconnect`/],
      [{ headers: { 'bad name': 'x' } }, /`headers`/],
      [{ headers: 5, input: 'x' }, /`input`.*`headers`/],
      [null, /options/],
    ];
    for (const [options, message] of bad) {
      const make = (): unknown => createTurnServer(runner, options as object);
      assert.throws(make, { code: 'E_INVALID_VALUE', message });
    }
    for (const none of [undefined, null, {}, { stream: 5 }]) {
      const make = (): unknown => createTurnServer(none as unknown as AgentRunner);
      assert.throws(make, { code: 'E_INVALID_VALUE', message: /runner/ });
    }
  });
});

describe('a connection to a server', () => {
  it('rejects an address and options that are none', () => {
    for (const url of ['', '/turns', 'ftp://server.test/turns', 'http://server.test/turns?x=1']) {
      assert.throws(() => connect(url), { code: 'E_INVALID_VALUE' }, url);
    }
    const bad: readonly (readonly [unknown, RegExp])[] = [
      [{ retries: -1 }, /`retries`/],
      [{ retry: 1 }, /`retry`/],
      [{ headers: 5 }, /`headers`/],
      [{ fetch: 5 }, /`fetch`/],
      [{ retryDelay: 5 }, /`retryDelay`/],
      [{ credentials: 'yes' }, /`credentials`/],
      [null, /options/],
    ];
    for (const [options, message] of bad) {
      const make = (): unknown => connect(URL, options as object);
      assert.throws(make, { code: 'E_INVALID_VALUE', message });
    }
  });

  it('rejects other values than responses', async () => {
    const fetch = (() => Promise.resolve()) as unknown as Send;
    const { error } = await connect(URL, { fetch }).stream({ message: 'hi' }).result;
    assert.ok(isTurncoreError(error, 'E_INVALID_VALUE'));
    assert.match(error.message, /fetch/);
  });

  it('rejects an input that cannot be sent', () => {
    const client = connect(URL, { fetch: () => Promise.reject(new Error('not reached')) });
    assert.throws(() => client.stream({ turnId: '\ud800' }), { code: 'E_INVALID_VALUE' });
    const big = { n: 1n };
    assert.throws(() => client.stream({ message: 'hi', big }), { code: 'E_INVALID_VALUE' });
    assert.equal(client.gates().length, 0);
  });

  it('gives up when it is aborted and the server does not answer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked = later();
    const client = connect(URL, {
      fetch: (_, { signal }) => {
        asked.resolve();
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      },
      retryDelay: () => 1e6,
    });
    const stream = client.stream({ message: 'hi' });
    await asked.promise;
    stream.abort();
    t.mock.timers.tick(5000);
    assert.equal((await stream.result).status, 'aborted');
  });
});
