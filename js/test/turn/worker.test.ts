/**
 * Turns over the connection between a page and its worker. Here both ends lie in one thread, so that a test can hold
 * each.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';

import * as z from 'zod';

import {
  type AgentRunner,
  createRunner,
  type DispatchExecutorFn,
  isTurncoreError,
  Media,
  MemoryReader,
  Tool,
  toolCallChecksum,
  TurncoreError,
  type TurnEvent,
  type TurnStream,
} from '../../src/index.js';
import type { RawMedia } from '../../src/entries/records.js';
import { E_INVALID_TURN_CONTEXT, E_NOT_CLONEABLE } from '../../src/entries/errors.js';
import {
  type AnyPageTool,
  createWorkerRunner,
  type MakeRunner,
  PageTool,
  serveRunner,
  type WorkerInput,
  type WorkerRunner,
} from '../../src/entries/worker.js';
import type { AnyTool } from '../../src/entries/tools.js';
import { skip, testHost } from './harness.js';

/** A runner of turns on the other side of a channel, which ends with the test. */
function connect(
  t: TestContext,
  make: MakeRunner,
  tools: readonly AnyPageTool[] = [],
): WorkerRunner {
  const { port1, port2 } = new MessageChannel();
  const runner = createWorkerRunner(port1, { tools });
  t.after(() => runner.terminate());
  serveRunner(make, port2);
  return runner;
}

const running =
  (executor: DispatchExecutorFn) =>
  async (tools: readonly AnyTool[]): Promise<AgentRunner> =>
    createRunner({ executor, tools, host: await testHost() });

const answer: DispatchExecutorFn = (ctx, helpers) => {
  const said = [...ctx.turnMessages].at(-1)!.content;
  helpers.reportThought('t', 'hm', { isComplete: true });
  for (const word of ['You ', 'said: ']) helpers.reportMessage('answer', word);
  helpers.reportMessage('answer', String(said), { isComplete: true });
  ctx.ack();
};

const lines = (events: readonly TurnEvent[]): string[] =>
  events.map((event) => JSON.stringify(event));

async function eventsOf(stream: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe('a runner in a worker', { skip }, () => {
  it('tells the events of a runner here, and its result', async (t) => {
    const input = { message: 'hello', turnId: 't1', stash: { day: new Date(5) } };
    const here = (await running(answer)([])).stream(input);
    const there = connect(t, running(answer)).stream(input);
    const [want, got] = await Promise.all([eventsOf(here), eventsOf(there)]);
    assert.deepEqual(lines(got), lines(want));
    assert.deepEqual(await there.result, await here.result);
    for (const [i, event] of got.entries()) {
      assert.equal(Object.getPrototypeOf(event), Object.getPrototypeOf(want[i]!));
      assert.deepEqual(Object.entries(event), Object.entries(want[i]!));
    }
    const full = got.flatMap((event) => (event.event === 'message' ? [event.full] : []));
    assert.deepEqual(full, ['You ', 'You said: ', 'You said: hello']);
  });

  it('tells listeners, runs turns side by side, and attaches to a turn that runs', async (t) => {
    const runner = connect(t, running(answer));
    const heard: string[] = [];
    runner.on('message', ({ turnId, full, isComplete }) => {
      if (isComplete) heard.push(`${turnId}: ${full}`);
    });
    const first = runner.stream({ message: 'one', turnId: 'a' });
    assert.equal(runner.stream({ turnId: 'a' }), first);
    await Promise.all([first.result, runner.run({ message: 'two', turnId: 'b' })]);
    assert.deepEqual(heard.sort(), ['a: You said: one', 'b: You said: two']);
  });

  it('keeps the conversation in the worker, by session', async (t) => {
    const seen: number[] = [];
    const runner = connect(
      t,
      running((ctx) => {
        seen.push([...ctx.turnMessages].length);
        ctx.ack();
      }),
    );
    await runner.run({ message: 'one' });
    await runner.run({ message: 'two' });
    await runner.run({ message: 'three', sessionId: 'other' });
    assert.deepEqual(seen, [1, 2, 1]);
  });

  it('sends five thousand deltas in few messages, none with the text so far', async (t) => {
    const executor: DispatchExecutorFn = (ctx, helpers) => {
      for (let i = 0; i < 5000; i++) helpers.reportMessage('m', 'ten chars ');
      helpers.reportMessage('m', '', { isComplete: true });
      ctx.ack();
    };
    const { port1, port2 } = new MessageChannel();
    const runner = createWorkerRunner(port1);
    t.after(() => runner.terminate());
    const { mock } = t.mock.method(MessagePort.prototype, 'postMessage');
    serveRunner(running(executor), port2);
    const stream = runner.stream({ message: 'go' });
    const events = await eventsOf(stream);
    assert.equal(events.filter(({ event }) => event === 'message').length, 5001);
    assert.equal((await stream.result).text, 'ten chars '.repeat(5000));
    const sent = mock.calls.map((call) => JSON.stringify((call.arguments as unknown[])[0]));
    assert.ok(sent.length < 200, `${sent.length} messages`);
    const bytes = sent.join('').length;
    assert.ok(bytes > 5000 * 10 && bytes < 5000 * 300, `${bytes} bytes`);
  });

  it('refuses an input that cannot cross, and tells what is wrong with one that can', async (t) => {
    const runner = connect(t, running(answer));
    const bad = { message: 'x', stash: { f: () => 1 } } as never;
    assert.throws(() => runner.stream(bad), /`stash\.f` is a function/);
    await assert.rejects(runner.run(bad), E_NOT_CLONEABLE);
    const controller = { message: 'x', turnAbortController: new AbortController() } as never;
    assert.throws(() => runner.stream(controller), /`turnAbortController` is an instance of Abort/);
    const stream = runner.stream({ message: '' });
    await assert.rejects(eventsOf(stream), E_INVALID_TURN_CONTEXT);
    assert.equal((await stream.result).status, 'failed');
    await assert.rejects(runner.run({ mesage: 'x' } as never), /did you mean `message`/);
    assert.equal((await runner.stream({ message: 'x' }).result).status, 'ack');
  });

  it('takes attachments with their bytes and facts', async (t) => {
    const attachment = (name: string, stream: () => ReadableStream<Uint8Array>): Media =>
      Media.userAttachment({
        kind: 'document',
        mimeType: 'text/plain',
        filename: name,
        reader: { stream, byteLength: () => undefined },
        stash: { pages: { value: 3, trustTier: 'third-party-private' } },
      });
    const bytes = new Uint8Array(300_000).fill(7);
    const given = [
      attachment('kept.txt', () => new Blob([bytes]).stream()),
      attachment('empty.txt', () => new Blob([]).stream()),
    ];
    const seen: unknown[] = [];
    const runner = connect(
      t,
      running(async (ctx) => {
        for (const media of [...ctx.turnMessages].at(-1)!.attachments) {
          assert.ok(media instanceof Media);
          const twice = [await media.asBytes(), await media.asBytes()];
          seen.push([media.toJSON(), twice, await media.byteLength()]);
        }
        ctx.ack();
      }),
    );
    const { status } = await runner.stream({ message: 'look', attachments: given }).result;
    assert.equal(status, 'ack');
    assert.deepEqual(seen, [
      [given[0]!.toJSON(), [bytes, bytes], bytes.length],
      [given[1]!.toJSON(), [new Uint8Array(), new Uint8Array()], 0],
    ]);
    assert.equal(bytes.length, 300_000);
    await runner.run({ attachments: [given[0]!] });
    assert.equal(seen.length, 3);
  });

  it('refuses attachments that cannot cross, by name', async (t) => {
    const runner = connect(t, running(answer));
    const failing = (given: Partial<RawMedia>): Media =>
      Media.userAttachment({
        kind: 'image',
        mimeType: 'image/png',
        filename: 'dot.png',
        reader: new MemoryReader('x'),
        ...given,
      });
    const start = (attachments: unknown): TurnStream =>
      runner.stream({ message: 'x', attachments } as WorkerInput);
    assert.throws(() => start('a'), /attachments: must be a list of Media/);
    assert.throws(() => start([failing({}), new Blob(['x'])]), /attachments\[1\]: must be a Media/);
    const reader = {
      stream: () => Promise.reject(new TypeError('the file is gone')),
      byteLength: () => 1,
    };
    const { status, error } = await start([failing({ reader })]).result;
    assert.equal(status, 'failed');
    assert.ok(isTurncoreError(error, 'E_NOT_CLONEABLE'));
    assert.match(error.message, /`attachments\[0\]\.reader` cannot be read: the file is gone/);
    assert.deepEqual(error.details, { field: 'attachments[0].reader' });
    assert.ok(error.cause instanceof TypeError);
    await assert.rejects(runner.run({ message: 'x', attachments: [] }), E_INVALID_TURN_CONTEXT);
    assert.equal((await runner.stream({ message: 'x' }).result).status, 'ack');
  });

  it('rejects a turn whose host cannot start, as here', async (t) => {
    const module = new Uint8Array([0, 1, 2]);
    const runner = connect(t, () => createRunner({ executor: answer, host: { module } }));
    await assert.rejects(runner.run({ message: 'x' }), /E_INVALID_MODULE|module/i);
  });
});

describe('errors of a turn in a worker', { skip }, () => {
  for (const [name, thrown] of Object.entries({
    'of Turncore': TurncoreError.of('E_OVERLOADED', 'slow down', {
      details: { retryAfterMs: 5 },
      cause: new TypeError('inner'),
    }),
    'of the language': new RangeError('far'),
    'that are strings': 'just text',
  })) {
    it(`${name} have their class and code, and are one object`, async (t) => {
      const runner = connect(
        t,
        running((ctx) => ctx.nack(thrown)),
      );
      let reported: unknown;
      runner.observe('error', (error) => (reported = error));
      const stream = runner.stream({ message: 'x' });
      await assert.rejects(eventsOf(stream), (error) => {
        assert.deepEqual(error, thrown);
        return true;
      });
      const { status, error } = await stream.result;
      assert.equal(status, 'nack');
      assert.deepEqual(error, thrown);
      if (typeof thrown === 'object') {
        assert.equal(Object.getPrototypeOf(error), Object.getPrototypeOf(thrown));
        assert.equal(error, reported);
      }
    });
  }

  it('stand for values of events that cannot cross', async (t) => {
    const gone = new Uint8Array(4);
    structuredClone(gone, { transfer: [gone.buffer] });
    const runner = connect(
      t,
      running((ctx, helpers) => {
        helpers.log.info({ kind: 'note', message: 'a line', payload: { date: new Date(7) } });
        helpers.reportToolCall('c', {
          tool: 'x',
          args: {},
          results: { f: () => 1, gone, kept: new Map([[1, 2]]) },
          isComplete: true,
        });
        ctx.ack();
      }),
    );
    const events = await eventsOf(runner.stream({ message: 'x' }));
    const call = events.find(({ event }) => event === 'toolCall') as { results?: unknown };
    const { f, gone: lost, kept } = call.results as Record<string, unknown>;
    assert.ok(isTurncoreError(f, 'E_NOT_CLONEABLE') && f.message.includes('`toolCall.results.f`'));
    assert.ok(isTurncoreError(lost, 'E_NOT_CLONEABLE'));
    assert.deepEqual(kept, new Map([[1, 2]]));
    const log = events.find(({ event }) => event === 'log') as { payload?: unknown };
    assert.deepEqual(log.payload, { date: 7 });
    assert.equal(events.at(-1)!.event, 'turnEnd');
  });
});

describe('gates of a turn in a worker', { skip }, () => {
  const asking: DispatchExecutorFn = async (ctx, helpers) => {
    const said = await ctx.waitFor({
      id: 'g',
      reason: 'Delete?',
      payload: { path: '/a' },
      createdAt: 1000,
      schema: { type: 'boolean' },
    });
    helpers.reportMessage('m', `said ${String(said)}`, { isComplete: true });
    ctx.ack();
  };

  it('are settled with a value, once', async (t) => {
    const runner = connect(t, running(asking));
    const stream = runner.stream({ message: 'x', turnId: 't' });
    for await (const event of stream) {
      if (event.event !== 'turnGateOpen') continue;
      const gate = runner.gate('g', 't')!;
      assert.equal(gate, event);
      assert.deepEqual(
        [gate.reason, gate.payload, gate.isSettled],
        ['Delete?', { path: '/a' }, false],
      );
      await assert.rejects(async () => gate.resolve('text'), {
        code: 'E_INVALID_TURN_GATE_RESOLUTION',
      });
      await assert.rejects(async () => gate.resolve(true, { digest: 'other' }), {
        code: 'E_INVALID_TURN_GATE_RESOLUTION',
      });
      await assert.rejects(async () => gate.resolve(() => 1), { code: 'E_NOT_CLONEABLE' });
      assert.equal(gate.isSettled, false);
      const both = await Promise.allSettled([
        (async () => gate.resolve(true, { digest: gate.digest }))(),
        (async () => gate.resolve(false))(),
      ]);
      assert.deepEqual(
        both.map(({ status }) => status),
        ['fulfilled', 'rejected'],
      );
      const [, late] = both as [unknown, { readonly reason?: unknown }];
      assert.ok(isTurncoreError(late.reason, 'E_TURN_GATE_SETTLED'));
      assert.equal(gate.isSettled, true);
      assert.equal(runner.gate('g'), undefined);
    }
    assert.equal((await stream.result).text, 'said true');
  });

  it('are settled with an error, or aborted', async (t) => {
    const runner = connect(t, running(asking));
    const why = new RangeError('too late');
    for (const [settle, code] of [
      ['reject', 'RangeError'],
      ['abort', 'E_TURN_GATE_ABORTED'],
    ] as const) {
      runner.observeOnce('turnGateOpen', (gate) => gate[settle](why));
      const { status, error } = await runner.stream({ message: 'x' }).result;
      const cause = isTurncoreError(error) ? (error.cause ?? error) : error;
      assert.equal(status, 'nack');
      const { code: own, name } = cause as TurncoreError;
      assert.equal(own ?? name, code);
    }
  });
});

describe('an abort of a turn in a worker', { skip }, () => {
  const words: DispatchExecutorFn = async (ctx, helpers) => {
    for (let i = 0; i < 8 && !ctx.abortSignal.aborted; i++) {
      helpers.reportMessage('m', `${i} `);
      await new Promise((resolve) => setTimeout(resolve));
    }
    ctx.ack();
  };

  it('comes through at every event, with its reason', async (t) => {
    const reasons: unknown[] = [];
    const runner = connect(
      t,
      running(async (ctx, helpers) => {
        ctx.abortSignal.addEventListener('abort', () => reasons.push(ctx.abortSignal.reason));
        await words(ctx, helpers);
      }),
    );
    const count = (await eventsOf(runner.stream({ message: 'x' }))).length;
    for (let at = 0; at < count - 3; at++) {
      const leave = new AbortController();
      const stream = runner.stream({ message: 'x', signal: leave.signal, sessionId: String(at) });
      let seen = 0;
      if (at === 0) leave.abort(new Error('why 0'));
      for await (const _ of stream) if (++seen === at) leave.abort(new Error(`why ${at}`));
      assert.equal((await stream.result).status, 'aborted', `at event ${at}`);
    }
    assert.ok(reasons.every((reason) => /^why \d+$/.test((reason as Error).message)));
    assert.ok(reasons.length > 5, `${reasons.length} reasons`);
  });

  it('comes through at every await of the start', async (t) => {
    for (let ticks = 0; ticks < 40; ticks++) {
      const runner = connect(t, running(words));
      const stream = runner.stream({ message: 'x' });
      for (let i = 0; i < ticks; i++)
        await (i % 4 === 3 ? new Promise((r) => setImmediate(r)) : null);
      stream.abort();
      const { status } = await stream.result;
      assert.ok(status === 'aborted', `${status} after ${ticks} ticks`);
      runner.terminate();
    }
  });

  it('is what leaving the loop does', async (t) => {
    const runner = connect(t, running(words));
    const stream = runner.stream({ message: 'x' });
    for await (const { event } of stream) if (event === 'message') break;
    assert.equal((await stream.result).status, 'aborted');
  });

  it('needs no worker that serves', async () => {
    const { port1, port2 } = new MessageChannel();
    const runner = createWorkerRunner(port1);
    const stream = runner.stream({ message: 'x' });
    stream.abort();
    assert.deepEqual(await eventsOf(stream), []);
    assert.equal((await stream.result).status, 'aborted');
    runner.terminate();
    port2.close();
  });

  it('happens to the turns of a page that goes', async () => {
    const { port1, port2 } = new MessageChannel();
    const runner = createWorkerRunner(port1);
    const aborted = new Promise<unknown>((resolve) => {
      serveRunner(
        running((ctx) => {
          ctx.abortSignal.addEventListener('abort', () => resolve(ctx.abortSignal.reason));
          return new Promise(() => undefined);
        }),
        port2,
      );
    });
    const stream = runner.stream({ message: 'x' });
    for await (const { event } of stream) {
      if (event === 'iterationStart') runner.terminate();
      if (event === 'iterationStart') break;
    }
    assert.ok(isTurncoreError(await aborted, 'E_WORKER_ENDED'));
    assert.equal((await stream.result).status, 'failed');
  });
});

describe('tools of the page', { skip }, () => {
  const calling =
    (name: string, args: unknown): DispatchExecutorFn =>
    async (ctx, helpers) => {
      const result = await ctx.tools.get(name)!.executor(ctx)(args);
      helpers.reportMessage('m', JSON.stringify(result), { isComplete: true });
      ctx.ack();
    };
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', default: 3 } },
    required: ['city'],
  } as const;
  const texts = { name: 'look', description: 'Looks' };
  const look = new PageTool<{ city: string; days: number }>({
    ...texts,
    inputSchema: schema,
    handler: ({ city, days }) => ({ told: `${city} ${days}`, at: new Date(0) }),
  });

  it('run beside those of the worker', async (t) => {
    const own = new Tool({
      ...texts,
      name: 'own',
      inputSchema: schema,
      handler: () => 'of the worker',
    });
    const make =
      (executor: DispatchExecutorFn): MakeRunner =>
      async (tools) =>
        createRunner({ executor, tools: [own, ...tools], host: await testHost() });
    const page = connect(t, make(calling('look', { city: 'Oslo' })), [look]);
    const stream = page.stream({ message: 'x' });
    const executions = (await eventsOf(stream)).filter(({ event }) => event.startsWith('toolExec'));
    assert.equal(executions.length, 2);
    const { text } = await stream.result;
    assert.deepEqual(JSON.parse(text), { told: 'Oslo 3', at: '1970-01-01T00:00:00.000Z' });
    const other = connect(t, make(calling('own', { city: 'Oslo' })), [look]);
    assert.equal((await other.stream({ message: 'x' }).result).text, '"of the worker"');
  });

  it('get arguments that the module has checked, and their own schema has changed', async (t) => {
    const search = new PageTool({
      ...texts,
      inputSchema: z.object({ size: z.string().transform((s) => s.length) }),
      jsonSchema: { type: 'object', properties: { size: { type: 'string' } } },
      handler: ({ size }) => size * 2,
    });
    const good = connect(t, running(calling('look', { size: 'four' })), [search]);
    assert.equal((await good.stream({ message: 'x' }).result).text, '8');
    const bad = connect(t, running(calling('look', { size: 4 })), [search]);
    const { error } = await bad.stream({ message: 'x' }).result;
    assert.ok(isTurncoreError((error as Error).cause, 'E_INVALID_TOOL_ARGS'), String(error));
  });

  it('get the key of their call', async (t) => {
    const keys: string[] = [];
    const noted = new PageTool({
      ...texts,
      inputSchema: schema,
      handler: (_, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return '';
      },
    });
    const args = { city: 'x' };
    const runner = connect(t, running(calling('look', args)), [noted]);
    await runner.stream({ message: 'x', turnId: 'T' }).result;
    assert.deepEqual(keys, [`T.d1.0.x.${toolCallChecksum('look', args)}.1`]);
  });

  it('fail as tools here do', async (t) => {
    const failing = (handler: () => never): AnyPageTool =>
      new PageTool({ ...texts, inputSchema: schema, handler });
    const thrown = new TypeError('no city');
    for (const [tool, expected] of [
      [
        failing(() => {
          throw thrown;
        }),
        /no city/,
      ],
      [failing((() => () => 1) as never), /`the result of look` is a function/],
    ] as const) {
      const runner = connect(t, running(calling('look', { city: 'x' })), [tool]);
      const { error } = await runner.stream({ message: 'x' }).result;
      const { cause } = error as Error;
      assert.ok(isTurncoreError(cause, 'E_TOOL_DOWNSTREAM_ERROR'), String(error));
      assert.match((cause.cause as Error).message, expected);
    }
  });

  it('are told when the turn is aborted, and when the worker ends', async (t) => {
    for (const how of ['abort', 'terminate'] as const) {
      let begun!: () => void;
      const begins = new Promise<void>((resolve) => (begun = resolve));
      let told: unknown;
      const slow = new PageTool({
        ...texts,
        inputSchema: schema,
        handler: (_, { signal }) =>
          new Promise<string>((resolve) => {
            signal.addEventListener('abort', () => {
              told = signal.reason;
              resolve('late');
            });
            begun();
          }),
      });
      const runner = connect(t, running(calling('look', { city: 'x' })), [slow]);
      const leave = new AbortController();
      const stream = runner.stream({ message: 'x', signal: leave.signal });
      await begins;
      if (how === 'abort') leave.abort(new Error('enough'));
      else runner.terminate();
      const { status, error } = await stream.result;
      if (how === 'abort') {
        assert.equal(status, 'aborted');
        assert.equal((told as Error).message, 'enough');
      } else {
        assert.ok(isTurncoreError(error, 'E_WORKER_ENDED'));
        assert.equal(told, error);
      }
    }
  });

  it('need a function that takes them', async (t) => {
    const { port1, port2 } = new MessageChannel();
    const runner = createWorkerRunner(port1, { tools: [look] });
    t.after(() => runner.terminate());
    serveRunner(await running(answer)([]), port2);
    await assert.rejects(
      runner.run({ message: 'x' }),
      /a function that takes the page's tools: look/,
    );
  });
});

describe('what is wrong with a worker', { skip }, () => {
  const code = (wanted: string) => (error: unknown) => isTurncoreError(error, wanted);

  it('is told by name', () => {
    const { port1, port2 } = new MessageChannel();
    assert.throws(() => createWorkerRunner(undefined as never), /worker: must be a Worker/);
    assert.throws(() => createWorkerRunner(new URL('a:b') as never), code('E_INVALID_VALUE'));
    assert.throws(() => createWorkerRunner(port1, { tools: {} as never }), /tools: must be a list/);
    assert.throws(() => createWorkerRunner(port1, { tools: [{}] as never }), /tools\[0\]/);
    assert.throws(() => new PageTool({ name: 'x' } as never), code('E_INVALID_INITIAL_TOOL_VALUE'));
    assert.throws(() => new PageTool(undefined as never), code('E_INVALID_INITIAL_TOOL_VALUE'));
    assert.throws(() => serveRunner(() => undefined as never), /channel: .*this is no worker/);
    assert.throws(() => serveRunner({} as never, port2), /runner: must be a runner/);
    assert.throws(() => serveRunner(() => undefined as never, {} as never), /channel: must be/);
    serveRunner(() => undefined as never, port2);
    assert.throws(() => serveRunner(() => undefined as never, port2), /offers a runner already/);
    port1.close();
  });

  it('fails its turns: a runner that cannot be made', async (t) => {
    const runner = connect(t, () => createRunner({} as never));
    await assert.rejects(runner.run({ message: 'x' }), code('E_INVALID_TURN_RUNNER_CONFIG'));
    const none = connect(t, () => ({}) as never);
    await assert.rejects(none.run({ message: 'x' }), code('E_INVALID_VALUE'));
  });

  it('fails its turns: another version of the package', async (t) => {
    const { port1, port2 } = new MessageChannel();
    const runner = createWorkerRunner(port1);
    t.after(() => runner.terminate());
    const { port1: near, port2: far } = new MessageChannel();
    port2.addEventListener('message', (event: MessageEvent<{ turncore: string }>) => {
      const { data } = event;
      const { port } = data as { port?: MessagePort };
      if (port === undefined) port2.postMessage({ turncore: 'ready' });
      else near.postMessage({ ...data, protocol: 99 }, [port]);
    });
    port2.start();
    serveRunner(running(answer), far);
    await assert.rejects(runner.run({ message: 'x' }), (error) => {
      assert.ok(isTurncoreError(error, 'E_WORKER_FAILED'));
      assert.match(error.message, /protocol 99.*same version/);
      return true;
    });
    near.close();
  });

  it('fails its turns: a function that makes none', async () => {
    const runner = createWorkerRunner(() => {
      throw new Error('blocked by policy');
    });
    await assert.rejects(runner.run({ message: 'x' }), /E_WORKER_FAILED|blocked by policy/);
    const wrong = createWorkerRunner(() => 5 as never);
    await assert.rejects(wrong.run({ message: 'x' }), code('E_INVALID_VALUE'));
  });

  it('is not met by the messages of the program', async (t) => {
    const { port1, port2 } = new MessageChannel();
    const runner = createWorkerRunner(port1);
    t.after(() => runner.terminate());
    for (const noise of [null, 5, 'hello', { turncore: 'other' }, { op: 'start' }]) {
      port1.postMessage(noise);
      port2.postMessage(noise);
    }
    serveRunner(running(answer), port2);
    port1.postMessage({ turncore: 'who' });
    assert.equal((await runner.stream({ message: 'x' }).result).status, 'ack');
  });
});
