/**
 * The front door: runners with everything filled in, streams and stores.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import {
  ackOnNoToolCalls,
  type AgentConfig,
  createRunner,
  deadline,
  type DispatchExecutorFn,
  type DispatchExecutorHelpers,
  loadConversation,
  memoryStore,
  Message,
  type Store,
  storeCallbacks,
  TurnRunner,
} from '../../src/index.js';
import { MemoryJournal, replay } from '../../src/entries/replay.js';
import { type AgentSettings } from '../../src/entries/runners.js';
import { codeOf, coreModule, message, short, skip, testHost } from './harness.js';

/** The codes of an error and its causes. */
function codes(error: unknown): string[] {
  const list: string[] = [];
  for (let e = error; e instanceof Error; e = e.cause) list.push(codeOf(e));
  return list;
}

/** Answers with what it sees. */
const echo: DispatchExecutorFn = async (ctx, h) => {
  const seen = [...ctx.turnMessages].map((m) => String(m.content)).join('|');
  h.reportMessage('m', seen, { isComplete: true });
  await ctx.storeMessage(
    new Message({
      id: `${ctx.dispatchId}.a`,
      role: 'assistant',
      content: `re: ${seen.split('|').length}`,
      createdAt: 1,
      updatedAt: 1,
    }),
  );
  ctx.ack();
};

const agent = async (config: AgentConfig): ReturnType<typeof make> => make(config);
const make = async (config: AgentConfig) =>
  createRunner({ ...config, host: await testHost(config.host) });

describe('createRunner', { skip }, () => {
  it('keeps the conversation of each session', async () => {
    const runner = await agent({ executor: echo });
    const say = async (text: string, sessionId?: string): Promise<string> =>
      (await runner.stream({ message: text, sessionId }).result).text;
    assert.equal(await say('one'), 'one');
    assert.equal(await say('two'), 'one|re: 1|two');
    assert.equal(await say('three'), 'one|re: 1|two|re: 3|three');
    assert.equal(await say('other', 's2'), 'other');
    assert.equal(await say('four'), 'one|re: 1|two|re: 3|three|re: 5|four');
  });

  it('events come in order, and the result says how it went', async () => {
    const runner = await agent({
      executor: (ctx, h) => {
        h.reportGenerationStats({ promptTokens: 3, completionTokens: 4 });
        h.reportGenerationStats({ promptTokens: 1 });
        h.reportToolCall('c', { tool: 't', args: { a: 1 }, results: 'r', isComplete: true });
        h.reportMessage('m', 'done', { isComplete: true });
        ctx.ack();
      },
    });
    const stream = runner.stream({ message: 'x' });
    const names: string[] = [];
    for await (const event of stream) names.push(short(event));
    assert.deepEqual(names, [
      'tS',
      'dS',
      'iS(0)',
      'stats',
      'stats',
      'tc(true)',
      'msg',
      'iE(0,ack)',
      'dE(ack,1)',
      'tE(ack)',
    ]);
    assert.deepEqual(await stream.result, {
      status: 'ack',
      text: 'done',
      interrupted: false,
      toolCalls: [{ id: 'c', tool: 't', args: { a: 1 }, isError: false, results: 'r' }],
      usage: { promptTokens: 4, completionTokens: 4, totalTokens: 8 },
      object: undefined,
      iterations: 1,
      error: undefined,
    });
    let again = 0;
    for await (const _ of stream) again++;
    assert.equal(again, names.length);
  });

  it('the result says whether the last message was broken off', async () => {
    const ended =
      (reports: (h: DispatchExecutorHelpers) => void, how?: 'nack'): DispatchExecutorFn =>
      (ctx, h) => {
        reports(h);
        if (how === 'nack') ctx.nack(new Error('no'));
        else ctx.ack();
      };
    const broken = { isComplete: true, isInterrupted: true };
    const whole = { isComplete: true };
    const cases: [string, DispatchExecutorFn, unknown][] = [
      ['a mark', ended((h) => h.reportMessage('m', 'x', broken)), ['ack', 'x', true]],
      [
        'a mark of an earlier message',
        ended((h) => {
          h.reportMessage('m', 'x', broken);
          h.reportMessage('n', 'y', whole);
        }, 'nack'),
        ['nack', 'y', false],
      ],
      ['a thought', ended((h) => h.reportThought('t', 'x', broken)), ['ack', '', false]],
      ['never completed', ended((h) => h.reportMessage('m', 'x')), ['ack', 'x', false]],
      [
        'never completed, and a nack',
        ended((h) => h.reportMessage('m', 'x'), 'nack'),
        ['nack', 'x', true],
      ],
      [
        'complete, and a nack',
        ended((h) => h.reportMessage('m', 'x', whole), 'nack'),
        ['nack', 'x', false],
      ],
      ['nothing', ended(() => undefined, 'nack'), ['nack', '', false]],
    ];
    for (const [name, executor, expected] of cases) {
      const { status, text, interrupted } = await (
        await agent({ executor })
      ).stream({ message: 'x' }).result;
      assert.deepEqual([status, text, interrupted], expected, name);
    }
  });

  it('leaving the loop aborts the turn; so does a signal', async () => {
    const executor: DispatchExecutorFn = (ctx, h) =>
      new Promise((_resolve, reject) => {
        h.reportMessage('m', 'x');
        ctx.abortSignal.addEventListener('abort', () => reject(ctx.abortSignal.reason as Error));
      });
    const left = (await agent({ executor })).stream({ message: 'x' });
    for await (const event of left) if (event.event === 'message') break;
    assert.equal((await left.result).status, 'aborted');
    const controller = new AbortController();
    const stopped = (await agent({ executor })).stream({ message: 'x', signal: controller.signal });
    setTimeout(() => controller.abort(), 10);
    assert.equal((await stopped.result).status, 'aborted');
  });

  it('bounds the loop unless that is refused by name', async () => {
    const bounded = await agent({ executor: () => undefined });
    const result = await bounded.stream({ message: 'x' }).result;
    assert.equal(result.status, 'nack');
    assert.equal((result.error as { code: string }).code, 'E_MAX_ITERATIONS');
    const free = await agent({
      executor: (ctx) => {
        if (ctx.iteration === 30) ctx.ack();
      },
      bounds: { maxIterations: false },
    });
    assert.equal((await free.stream({ message: 'x' }).result).iterations, 31);
  });

  it('lists what is wrong with its configuration', () => {
    const bad = { bounds: { maxIterations: 0 }, nonsense: 1 } as unknown as AgentConfig;
    assert.throws(
      () => createRunner(bad),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'E_INVALID_TURN_RUNNER_CONFIG');
        for (const part of ['`executor`', 'maxIterations', 'nonsense']) {
          assert.ok(error.message.includes(part), error.message);
        }
        return true;
      },
    );
  });

  it('names a pipeline and its entries as they were given', () => {
    const belongs = /`dispatchInputPipeline\[0\]` cannot be ackOnNoToolCalls/;
    const wrong: [Partial<AgentSettings>, RegExp][] = [
      [{ dispatchInputPipeline: deadline(5) as never }, /`dispatchInputPipeline` must be a list/],
      [{ turnInputPipeline: echo as never }, /`turnInputPipeline` must be a list/],
      [{ dispatchInputPipeline: [5 as never] }, /`dispatchInputPipeline\[0\]` must be/],
      [{ turnInputPipeline: [deadline(5) as never] }, /`turnInputPipeline\[0\]` cannot be/],
      [{ dispatchInputPipeline: [ackOnNoToolCalls()] }, belongs],
    ];
    for (const [config, message] of wrong) {
      const code = 'E_INVALID_TURN_RUNNER_CONFIG';
      assert.throws(() => createRunner({ executor: echo, ...config }), { code, message });
    }
  });

  it('a stream that cannot begin throws in the loop, and its result tells', async () => {
    const runner = createRunner({ executor: echo, host: { module: Uint8Array.of(0) } });
    const stream = runner.stream({ message: 'x' });
    const { status, error } = await stream.result;
    assert.deepEqual([status, codeOf(error)], ['failed', 'E_INVALID_MODULE']);
    await assert.rejects(
      async () => {
        for await (const _ of stream) assert.fail('no event');
      },
      { code: 'E_INVALID_MODULE' },
    );
  });

  it('a second stream of a live turn gets all of its events', async () => {
    const runner = await agent({
      executor: async (ctx, h) => {
        h.reportMessage('m', 'x', { isComplete: true });
        await new Promise((resolve) => setTimeout(resolve, 5));
        ctx.ack();
      },
    });
    const first = runner.stream({ message: 'x', turnId: 't' });
    const second = runner.stream({ message: 'x', turnId: 't' });
    const [a, b] = await Promise.all([first.result, second.result]);
    assert.equal(a, b);
  });
});

describe('stores', { skip }, () => {
  it('a runner of callbacks, with the middleware added by hand', async () => {
    const store = memoryStore();
    const runner = new TurnRunner({
      ...storeCallbacks(store, { session: () => 'mine' }),
      executorCallback: echo,
      turnInputPipeline: [loadConversation(store, { session: () => 'mine' })],
      host: await testHost(),
    });
    for (const text of ['a', 'b']) await runner.run({ systemPrompt: 'x', message: text });
    const loaded = await store.load('mine');
    assert.deepEqual(
      [...loaded.messages].map((m) => String(m.content)),
      ['a', 're: 1', 'b', 're: 3'],
    );
  });

  it('records that a store gives back as copies are not doubled', async () => {
    const stored: Message[] = [message('old', 'user')];
    const store: Store = {
      load: () => ({
        messages: stored.map((m) => message(m.id, m.role, String(m.content))),
        thoughts: [],
        toolCalls: [],
        memories: [],
        retrievables: [],
        instructions: [],
      }),
      commit: (_session, { deltas }) => {
        for (const delta of deltas) {
          if (delta.op === 'store' && delta.record instanceof Message) stored.push(delta.record);
        }
        return '';
      },
      putBytes: () => assert.fail('nothing writes bytes'),
      openBytes: () => assert.fail('nothing reads bytes'),
    };
    const runner = await agent({ executor: echo, store });
    const { text } = await runner.stream({ message: 'new' }).result;
    assert.equal(text, 'old|new');
  });
});

describe('the chat executor', { skip }, () => {
  const sse = (text: string): string =>
    [
      { choices: [{ index: 0, delta: { role: 'assistant', content: text.slice(0, 3) } }] },
      { choices: [{ index: 0, delta: { content: text.slice(3) }, finish_reason: 'stop' }] },
    ]
      .map((chunk) => `data: ${JSON.stringify({ id: 'x', ...chunk })}\n\n`)
      .join('') + 'data: [DONE]\n\n';

  async function withServer(
    run: (url: string, requests: { auth: string | undefined; body: string }[]) => Promise<void>,
  ): Promise<void> {
    const requests: { auth: string | undefined; body: string }[] = [];
    const server = createServer((req, res) => {
      let body = '';
      req.on('data', (part: Buffer) => (body += part.toString()));
      req.on('end', () => {
        requests.push({ auth: req.headers.authorization, body });
        if (req.url?.startsWith('/moved') === true) {
          res.writeHead(307, { location: 'http://localhost.invalid/v1/chat/completions' }).end();
          return;
        }
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.end(sse('hello there'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await run(`http://127.0.0.1:${port}`, requests);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it('streams an answer, with the key sent to the origin it is for', async () => {
    await withServer(async (url, requests) => {
      const runner = await agent({
        model: { baseURL: `${url}/v1`, model: 'test', apiKey: 'secret' },
        system: 'be brief',
      });
      const { text, status, error } = await runner.stream({ message: 'hi' }).result;
      assert.deepEqual([status, text, error], ['ack', 'hello there', undefined]);
      assert.equal(requests[0]!.auth, 'Bearer secret');
      const body = JSON.parse(requests[0]!.body) as { messages: { role: string }[] };
      assert.deepEqual(
        body.messages.map((m) => m.role),
        ['system', 'user'],
      );
      await runner.stream({ message: 'again' }).result;
      const second = JSON.parse(requests[1]!.body) as { messages: unknown[] };
      assert.equal(second.messages.length, 4);
    });
  });

  it('has no key if there is none', async () => {
    await withServer(async (url, requests) => {
      const apiKey = null as unknown as string;
      const runner = await agent({ model: { baseURL: `${url}/v1`, model: 'test', apiKey } });
      await runner.stream({ message: 'hi' }).result;
      assert.equal(requests[0]!.auth, undefined);
    });
  });

  it('a redirect to another origin gets no key and fails', async () => {
    await withServer(async (url, requests) => {
      const runner = await agent({
        model: {
          baseURL: `${url}/moved`,
          model: 'test',
          apiKey: 'secret',
          retry: { maxAttempts: 1 },
        },
      });
      const { status, error } = await runner.stream({ message: 'hi' }).result;
      assert.equal(status, 'nack');
      assert.ok(codes(error).includes('E_HTTP_NOT_ALLOWED'), codes(error).join(' < '));
      assert.equal(requests.length, 1);
    });
  });

  it('an origin that is not allowed is not requested', async () => {
    await withServer(async (url, requests) => {
      const runner = await agent({
        model: { baseURL: `${url}/v1`, model: 'test' },
        host: { allowedOrigins: ['https://example.com'] },
      });
      const { status } = await runner.stream({ message: 'hi' }).result;
      assert.equal(status, 'nack');
      assert.equal(requests.length, 0);
    });
  });
});

describe('journals', { skip }, () => {
  it('of a turn replay to the same bytes', async () => {
    const journals: MemoryJournal[] = [];
    const runner = await agent({
      executor: echo,
      host: {
        verify: false,
        journal: () => {
          const journal = new MemoryJournal();
          journals.push(journal);
          return journal;
        },
      },
    });
    for (const text of ['one', 'two', 'three']) await runner.stream({ message: text }).result;
    assert.equal(journals.length, 3);
    for (const journal of journals) {
      const report = await replay(journal.bytes(), await coreModule());
      assert.equal(report.difference, undefined);
      assert.ok(report.frames > 10, `${report.frames} frames`);
    }
  });
});
