/**
 * Values where they go wrong: live objects, bytes, errors that look like none. Go's tests do the same.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';

import {
  createRunner,
  type DispatchContext,
  DispatchRunner,
  Media,
  Memory,
  MemoryReader,
  Message,
  Retrievable,
  SpooledArtifact,
  Thought,
  Tokenizable,
  Tool,
  ToolCall,
  type TurnContext,
} from '../../src/index.js';
import { MemoryMediaStore } from '../../src/entries/stores.js';
import {
  codeOf,
  fullModule,
  makeRun,
  message,
  runTurn,
  script,
  skip,
  testHost,
} from './harness.js';

const at = { createdAt: 1, updatedAt: 1 };

/** Objects that lead a life of their own. */
const live: Readonly<Record<string, unknown>> = {
  message: message('m'),
  memory: new Memory({ id: 'y', content: 'x', confidence: 1, importance: 1, ...at }),
  thought: new Thought({ id: 't', content: 'x', ...at }),
  toolCall: new ToolCall({
    id: 'c',
    tool: 't',
    args: {},
    checksum: 's',
    isComplete: true,
    isError: false,
    results: 'r',
    completedAt: 1,
    ...at,
  }),
  retrievable: new Retrievable({ id: 'r', content: 'x', trustTier: 'first-party', ...at }),
  instruction: new Tokenizable('x'),
  artifact: new SpooledArtifact(new MemoryReader('x')),
  medium: Media.toolGenerated({
    id: 'p',
    kind: 'image',
    mimeType: 'image/png',
    filename: 'p.png',
    reader: new MemoryReader('x'),
  }),
  tool: new Tool({
    name: 't',
    description: 't',
    inputSchema: { type: 'object' },
    handler: () => 1,
  }),
  function: () => 1,
  symbol: Symbol('s'),
  promise: Promise.resolve(1),
  error: new Error('x'),
  map: new Map([[1, 2]]),
  'in a list': [1, message('m')],
  'in an object': { deep: { m: message('m') } },
};

describe('the stash', { skip }, () => {
  it('refuses live objects by name, and what is there stays readable in later iterations and inside', async () => {
    const put = ({ stash }: TurnContext | DispatchContext): void => {
      for (const [name, value] of Object.entries(live)) {
        assert.throws(() => stash.set('live', value), { code: 'E_INVALID_VALUE' }, name);
        assert.throws(() => stash.set('live', value), /live/, name);
      }
      assert.equal(stash.has('live'), false);
      assert.equal(stash.get('plain.n'), 1);
    };
    const run = await runTurn(
      async (ctx) => {
        put(ctx);
        await DispatchRunner.dispatch({
          source: ctx,
          executor: (inner) => {
            put(inner);
            inner.ack();
          },
        });
        if (ctx.iteration === 3) ctx.ack();
      },
      {
        turnInputPipeline: [
          (ctx, next) => {
            put(ctx);
            return next();
          },
        ],
      },
      { stash: { plain: { n: 1 } } },
    );
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
  });
});

describe('a thousand estimates', { skip }, () => {
  it('ask a tokenizer once for each text, which is made once; a count that is none is not believed', async () => {
    let made = 0;
    let asked = 0;
    let vocabulary: Map<string, number> | undefined;
    const tokenizers = {
      q: (texts: readonly string[]): number[] => {
        if (vocabulary === undefined) {
          vocabulary = new Map();
          made++;
        }
        asked += texts.length;
        return texts.map(() => 7);
      },
      infinite: (texts: readonly string[]) => texts.map(() => Infinity),
      none: (texts: readonly string[]) => texts.map(() => Number.NaN),
    };
    const hostile = [
      '<|endoftext|>',
      '<|im_start|>system',
      '<s>[INST]',
      '\0',
      '\ud800',
      '<|endoftext|>'.repeat(10_000),
    ];
    const run = await runTurn(
      async (ctx) => {
        for (let i = 0; i < 1000; i++) {
          assert.equal(ctx.estimateTokens('q', [`text ${i}`])[0], 7);
          const length = Math.ceil(`text ${i}`.length / 3.5);
          assert.equal(ctx.estimateTokens('claude', [`text ${i}`])[0], length);
        }
        assert.equal(asked, 1000);
        for (const text of hostile) {
          assert.equal(ctx.estimateTokens('q', [text])[0], 7);
          for (const encoding of ['infinite', 'none']) {
            assert.equal(ctx.estimateTokens(encoding, [text])[0], Math.ceil(text.length / 4));
          }
        }
        ctx.ack();
      },
      { tokenizers },
    );
    assert.equal(made, 1);
    const ends = run.names.filter((name) => !/^[tdi]S/.test(name));
    assert.deepEqual(ends, [
      'warn(token-estimation-degraded)',
      'warn(token-estimation-degraded)',
      'iE(0,ack)',
      'dE(ack,1)',
      'tE(ack)',
    ]);
  });
});

describe('bytes', { skip }, () => {
  const all = Uint8Array.from({ length: (1 << 17) + 512 }, (_, i) =>
    i % 2 === 0 ? i / 2 : i >> 9,
  );
  const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  const same = (where: string, got: Uint8Array): void => {
    assert.equal(got.length, all.length, where);
    assert.equal(hash(got), hash(all), where);
  };

  it('stay what they are in conduits, results, media and the stash', async () => {
    const media = new MemoryMediaStore();
    const tool = new Tool({
      name: 'bytes',
      description: 'bytes',
      inputSchema: { type: 'object' },
      handler: () => all.slice(),
    });
    let stored: unknown;
    const run = await runTurn(
      async (ctx) => {
        const reader = await ctx.storeMediaBytes('m', all.slice());
        same('conduit', new Uint8Array(await new Response(await reader.stream()).arrayBuffer()));
        same('result', await tool.executor(ctx)({}));
        ctx.stash.set('bytes', all.slice());
        same('stash', ctx.stash.get('bytes') as Uint8Array);
        const medium = Media.toolGenerated({
          id: 'p',
          kind: 'image',
          mimeType: 'image/png',
          filename: 'p.png',
          reader,
        });
        const fields = { id: 'c', tool: 'bytes', args: {}, checksum: 's', isComplete: true };
        const call = { ...fields, isError: false, results: medium, completedAt: 1, ...at };
        await ctx.storeToolCall(new ToolCall(call));
        ctx.ack();
      },
      {
        storeMediaBytesCallback: (_ctx, id, bytes) => media.write(id, bytes),
        storeToolCallCallback: (_ctx, call: ToolCall) => void (stored = call.results),
      },
    );
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
    same('stored result', await (stored as Media).asBytes());
  });

  it('text with lone surrogates is repaired once, alike wherever it goes', async () => {
    const broken = 'a\ud800b\udc00\ud800\ud83d\ude00\0';
    const whole = broken.replaceAll(/[\ud800-\udfff]/gu, '\ufffd');
    const run = await runTurn(async (ctx, helpers) => {
      helpers.reportMessage('m', broken, { isComplete: true });
      helpers.reportMessage('n', whole, { isComplete: true });
      await ctx.storeMessage(message('m', 'assistant', broken));
      ctx.ack();
    });
    const told = run.events.filter((e) => e.event === 'message').map((e) => e.full);
    assert.deepEqual(told, [whole, whole]);
    assert.equal(run.names.at(-1), 'tE(ack)');
  });
});

describe('who throws nothing', { skip }, () => {
  /** What says nothing of what went wrong. */
  const nothings = [undefined, null, '', 0, false, Number.NaN, new Error('')];
  const boom = (nothing: unknown) => (): never => {
    throw nothing;
  };
  const told = (nothing: unknown): string =>
    nothing instanceof Error
      ? 'an error without a text'
      : JSON.stringify(nothing ?? String(nothing));

  /** That a call fails, whatever it fails with. */
  async function fails(where: string, call: () => unknown): Promise<void> {
    let failed = false;
    try {
      await call();
    } catch {
      failed = true;
    }
    assert.ok(failed, where);
  }

  for (const nothing of nothings) {
    const rejects: () => Promise<never> = () => Promise.reject(nothing); // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- what is tested
    for (const [how, bad] of [
      ['throws', boom(nothing)],
      ['rejects with', rejects],
    ] as const) {
      it(`fails all the same: a callback ${how} ${told(nothing)}`, async () => {
        const refuse = new Tool({
          name: 'r',
          description: 'r',
          inputSchema: { type: 'object' },
          handler: bad,
        });
        const run = await runTurn(
          async (ctx) => {
            assert.equal(ctx.estimateTokens('q', ['abcde'])[0], 2);
            await fails('tool', () => refuse.executor(ctx)({}));
            await fails('reader', () =>
              new SpooledArtifact(
                Object.assign(new MemoryReader('x'), { readAll: bad }),
              ).asString(),
            );
            await fails('nack', () =>
              DispatchRunner.dispatch({
                source: ctx,
                executor: (inner) => inner.nack(nothing),
              }),
            );
            await fails('executor', () => DispatchRunner.dispatch({ source: ctx, executor: bad }));
            await bad();
          },
          {
            tokenizers: { q: bad as never },
            fetchMessagesCallback: bad,
            storeMediaBytesCallback: bad,
            storeMemoryCallback: bad,
            turnInputPipeline: [
              async (ctx, next) => {
                await fails('fetch', () => ctx.fetchMessages());
                await fails('conduit', () => ctx.storeMediaBytes('m', 'x'));
                const memory = { id: 'y', content: 'x', confidence: 1, importance: 1, ...at };
                await fails('store', () => ctx.storeMemory(new Memory(memory)));
                assert.equal(ctx.turnMemories.size, 0);
                await next();
              },
            ],
          },
        );
        assert.equal(run.names.at(-1), 'tE(nack)', run.names.join(' '));
        const failures = run.names.filter((n) => /^(err|warn)/.test(n));
        assert.deepEqual(failures, [
          'warn(token-estimation-degraded)',
          'err(E_LLM_EXECUTION_EXECUTOR_ERROR)',
        ]);
      });

      it(`fails all the same: a model, the network or a credential ${how} ${told(nothing)}`, async () => {
        const late = async function* (): AsyncGenerator<{ text: string }> {
          yield { text: 'x' };
          await bad();
        };
        const module = await fullModule();
        const api = { baseURL: 'http://127.0.0.1/v1', model: 'm', retry: { maxAttempts: 1 } };
        const body = (): Response =>
          new Response(
            new ReadableStream({
              pull: (controller) => {
                controller.error(nothing);
              },
            }),
            { headers: { 'content-type': 'text/event-stream' } },
          );
        const cases = {
          model: { model: { engine: { generate: bad } }, host: { module } },
          'model, late': { model: { engine: { generate: late } }, host: { module } },
          network: { model: api, host: { fetch: bad } },
          body: { model: api, host: { fetch: () => Promise.resolve(body()) } },
          credential: {
            model: { ...api, credential: 'k' },
            host: {
              credentials: { k: { header: 'x-key', origins: ['http://127.0.0.1'], value: bad } },
            },
          },
        };
        for (const [where, { model, host }] of Object.entries(cases)) {
          const runner = createRunner({
            model: model,
            host: await testHost(host as never),
          });
          const { status, error } = await runner.stream({ message: 'hi' }).result;
          assert.equal(status, 'nack', where);
          assert.match(codeOf(error), /^E_/, where);
        }
      });
    }
  }

  it('a gate that is rejected, a turn that is aborted, with nothing', async () => {
    for (const nothing of nothings) {
      let waited = false;
      const run = await makeRun(
        script(async (ctx) => {
          try {
            await ctx.waitFor({ id: 'g', reason: 'why', payload: 1, createdAt: 1 });
          } catch {
            waited = true;
          }
        }),
      );
      run.runner.observe('turnGateOpen', (gate) => gate.reject(nothing as Error));
      await run.runner.run({ systemPrompt: 'test' });
      assert.ok(waited, told(nothing));
      const controller = new AbortController();
      const aborted = await runTurn(
        (ctx) => {
          controller.abort(nothing);
          assert.equal(ctx.aborted, true);
          throw ctx.abortSignal.reason;
        },
        {},
        { turnAbortController: controller },
      );
      assert.equal(aborted.names.at(-1), 'tE(aborted)', told(nothing));
    }
  });
});

describe('attachments', { skip }, () => {
  it('that are none are left out: an empty list is refused where it is made, and none is made', () => {
    const fields = { id: 'm', role: 'user', content: 'x', ...at } as const;
    assert.throws(() => new Message({ ...fields, attachments: [] }), {
      code: 'E_INVALID_INITIAL_MESSAGE_VALUE',
    });
    const bare = new Message({ ...fields, attachments: undefined });
    assert.deepEqual(new Message(JSON.parse(JSON.stringify(bare)) as never), bare);
  });

  it('and every other record come back from JSON', () => {
    for (const [kind, Class] of Object.entries({
      memory: Memory,
      thought: Thought,
      toolCall: ToolCall,
      retrievable: Retrievable,
      message: Message,
    })) {
      const record = live[kind] as { toJSON(): unknown };
      const again = new Class(JSON.parse(JSON.stringify(record)) as never);
      assert.deepEqual(again.toJSON(), record.toJSON(), kind);
    }
  });
});

describe('a promise in the place of a value', { skip }, () => {
  it('is refused, and its failure is nobody’s', async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', hear);
    try {
      const later: () => unknown = () => Promise.reject(new Error('later'));
      const run = await runTurn(
        async (ctx) => {
          assert.equal(ctx.estimateTokens('q', ['abcde'])[0], 2);
          assert.throws(() => new Tokenizable(later as never).render(ctx), {
            code: 'E_TOKENIZABLE_EVALUATOR_INVALID',
          });
          ctx.onAck(later);
          ctx.ack();
        },
        { tokenizers: { q: later as never } },
      );
      assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
      const tool = { name: 'r', description: 'r', inputSchema: { type: 'object' } } as const;
      const artifactConstructor = later as never;
      assert.throws(() => new Tool({ ...tool, artifactConstructor, handler: () => 'x' }), {
        code: 'E_INVALID_INITIAL_TOOL_VALUE',
      });
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.deepEqual(unheard, []);
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of others) process.on('unhandledRejection', listener);
    }
  });
});
