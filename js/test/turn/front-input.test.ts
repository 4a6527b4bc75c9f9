/**
 * Wrong configurations of `createRunner`, of hosts, and wrong input of turns: each is refused by a typed error that
 * names the field as the caller wrote it.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';

import {
  type AgentInput,
  createRunner,
  DispatchRunner,
  Host,
  TurnRunner,
} from '../../src/index.js';
import {
  loadConversation,
  Media,
  memoryStore,
  Message,
  storeCallbacks,
  type TurncoreError,
} from '../../src/index.js';
import { codeOf, message, recordingCallbacks, skip, testHost } from './harness.js';

const executor = (ctx: { ack(): void }): void => {
  ctx.ack();
};

function refused(make: () => unknown): TurncoreError {
  try {
    make();
  } catch (error) {
    return error as TurncoreError;
  }
  return assert.fail('nothing was refused');
}

/** Options of a host, each with what is said of it. */
const hosts: readonly (readonly [host: unknown, ...violations: string[]])[] = [
  [5, '`host` must be an object or a Host'],
  [[], '`host` must be an object or a Host'],
  [
    { allowedOrigin: ['https://a.example'] },
    '`host.allowedOrigin` is not a known field; did you mean `allowedOrigins`?',
  ],
  [{ allowedOrigins: 'https://a.example' }, '`host.allowedOrigins` must be a list'],
  ...[5, '', 'a.example', '*', 'ftp://a.example'].map(
    (origin) =>
      [
        { allowedOrigins: ['https://a.example', origin] },
        '`host.allowedOrigins` must have origins such as https://example.com',
      ] as const,
  ),
  [
    { credentials: { key: { header: 'x', value: 'v', origins: ['a.example'] } } },
    '`host.credentials.key.origins` must have origins such as https://example.com',
  ],
  [
    { clock: 5, fetch: 'x', verify: 'yes' },
    '`host.clock` must be a function',
    '`host.fetch` must be a function',
    '`host.verify` must be a boolean',
  ],
  [
    { limits: { frames: 1, string: 0, array: 1.5, depth: 10 } },
    '`host.limits.frames` is not a known field; did you mean `frame`?',
    '`host.limits.string` must be a whole number from 1 on',
    '`host.limits.array` must be a whole number from 1 on',
  ],
  [{ maxMemory: '1' }, '`host.maxMemory` must be a number of bytes'],
  [{ highWater: Number.NaN }, '`host.highWater` must be a number of bytes'],
  [
    { credentials: { key: { header: 'x', value: 5, origin: 'https://a.example' }, other: null } },
    '`host.credentials.key.origins` is required',
    '`host.credentials.key.origin` is not a known field; did you mean `origins`?',
    '`host.credentials.key.value` must be a string or a function',
    '`host.credentials.other` must be an object',
  ],
];

describe('options of a host', () => {
  for (const [host, ...violations] of hosts) {
    it(`refused: ${violations.join('; ')}`, async () => {
      const code = 'E_INVALID_TURN_RUNNER_CONFIG';
      for (const make of [
        () =>
          new TurnRunner({
            ...recordingCallbacks(),
            executorCallback: executor,
            host: host as never,
          }),
        () => createRunner({ executor, host: host as never }),
      ]) {
        const error = refused(make);
        assert.equal(codeOf(error), code);
        assert.deepEqual(error.details, violations);
      }
      await assert.rejects(
        DispatchRunner.dispatch({ raw: {} as never, executor, host: host as never }),
        { code: 'E_INVALID_LLM_DISPATCH_INPUT', details: violations },
      );
      if (!violations[0]!.startsWith('`host`')) {
        const error = refused(() => new Host(host as never));
        assert.equal(codeOf(error), 'E_INVALID_VALUE');
        assert.deepEqual(
          error.details,
          violations.map((text) => text.replace('host.', '')),
        );
      }
    });
  }

  it('with a module named twice', () => {
    const config = { ...recordingCallbacks(), executorCallback: executor, module: 'file:///a' };
    const error = refused(() => new TurnRunner({ ...config, host: { module: 'file:///b' } }));
    assert.deepEqual(error.details, [
      '`module` is another name of `host.module`, give only one of them',
    ]);
    const shared = refused(() => new TurnRunner({ ...config, host: new Host() }));
    assert.deepEqual(shared.details, ['`module` cannot be given with a Host, which has one']);
  });

  it('that are null count as absent, and Infinity is no bound', () => {
    const host = { clock: null, limits: null, highWater: Infinity, module: null } as never;
    assert.ok(createRunner({ executor, host }));
  });
});

/** Configurations of `createRunner`, each with what is said of it. */
const configs: readonly (readonly [config: unknown, ...violations: string[]])[] = [
  [undefined, 'the configuration must be an object'],
  [[], 'the configuration must be an object'],
  [{}, 'exactly one of `model` and `executor` is required'],
  [{ executor: 5 }, '`executor` must be a function or a chat executor'],
  [{ model: 'gpt' }, '`model` must be an object'],
  [{ model: { model: 'm', apiKey: 5 } }, '`model.apiKey` must be a non-empty string'],
  [{ model: { model: 'm', apiKey: '' } }, '`model.apiKey` must be a non-empty string'],
  [
    { model: { model: 'm', api_key: 'k' } },
    '`model.api_key` is not a known field; did you mean `apiKey`?',
  ],
  [
    { executor, system: 5, store: 5 },
    '`store` must be an object',
    '`system` must be a string or a Tokenizable',
  ],
  [{ executor, system: '' }, '`system` must be a non-empty string'],
  [
    { executor, store: { load: executor } },
    '`store.commit` must be a function',
    '`store.putBytes` must be a function',
    '`store.openBytes` must be a function',
  ],
  [
    { executor, bounds: { maxIteration: 3 } },
    '`bounds.maxIteration` is not a known field; did you mean `maxIterations`?',
  ],
  [{ executor, bounds: 3 }, '`bounds` must be an object'],
  [{ executor, turnInputPipeline: executor }, '`turnInputPipeline` must be a list'],
  [
    { executor, turnInputPipeline: [executor, 5], dispatchInputPipeline: [6] },
    '`turnInputPipeline[1]` must be a function or a ready-made middleware',
    '`dispatchInputPipeline[0]` must be a function or a ready-made middleware',
  ],
  [{ executor, llmInputMiddleware: [] }, '`llmInputMiddleware` is not a known field'],
];

describe('configurations of createRunner', () => {
  for (const [config, ...violations] of configs) {
    it(`refused: ${violations.join('; ')}`, () => {
      const error = refused(() => createRunner(config as never));
      assert.equal(codeOf(error), 'E_INVALID_TURN_RUNNER_CONFIG');
      assert.deepEqual(error.details, violations);
    });
  }

  it('whose fields are null are as without them', () => {
    const config = { executor, model: null, store: null, system: null, bounds: null, schema: null };
    assert.ok(createRunner(config as never));
  });
});

/** Input of a turn, each with what is said of it. */
const inputs: readonly (readonly [input: unknown, ...violations: string[]])[] = [
  [undefined, 'the turn input must be an object'],
  [null, 'the turn input must be an object'],
  [5, 'the turn input must be an object'],
  [[], 'the turn input must be an object'],
  [
    { sessionId: 5, message: 5, foo: 1 },
    '`message` must be a string or a Message',
    '`sessionId` must be a string',
    '`foo` is not a known field',
  ],
  [{ signal: {} }, '`signal` must be an instance of AbortSignal'],
  [
    { signal: AbortSignal.abort(), turnAbortController: 5 },
    '`turnAbortController` must be an instance of AbortController',
  ],
  [{ sessionId: 'a', stash: 5 }, '`stash` must be an object'],
];

describe('input of an ordinary turn', { skip }, () => {
  for (const [input, ...violations] of inputs) {
    it(`refused: ${violations.join('; ')}`, async () => {
      const runner = createRunner({ executor, host: await testHost() });
      const heard: unknown[] = [];
      runner.observe('turnStart', (event) => heard.push(event));
      // `run` rejects, it does not throw.
      const running = runner.run(input as AgentInput);
      const expected = { code: 'E_INVALID_TURN_CONTEXT' };
      await assert.rejects(running, expected);
      const error = refused(() => runner.stream(input as AgentInput));
      assert.equal(codeOf(error), 'E_INVALID_TURN_CONTEXT');
      assert.deepEqual(error.details, violations);
      assert.deepEqual(heard, []);
    });
  }

  it('that is refused leaves no listener on the caller’s signal', async () => {
    const runner = createRunner({ executor, host: await testHost() });
    const { signal } = new AbortController();
    assert.throws(() => runner.stream({ signal, systemPrompt: '' }), expectedCode);
    await assert.rejects(runner.run({ signal, systemPrompt: '' }), expectedCode);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('keeps the session where the stash is null', async () => {
    const store = memoryStore();
    const runner = createRunner({ executor, store, host: await testHost() });
    await runner.run({ message: 'hello', sessionId: 'a', stash: null, signal: null } as never);
    assert.equal([...(await store.load('a')).messages].length, 1);
    assert.equal([...(await store.load('default')).messages].length, 0);
  });
});

const expectedCode = { code: 'E_INVALID_TURN_CONTEXT' };

describe('a session’s id that is not a string', { skip }, () => {
  it('is nobody’s session, and not the default one', async () => {
    const store = memoryStore();
    const runner = new TurnRunner({
      ...storeCallbacks(store),
      turnInputPipeline: [loadConversation(store)],
      executorCallback: async (ctx) => {
        await ctx.storeMessage(message('m'));
        ctx.ack();
      },
      host: await testHost(),
    });
    for (const text of [undefined, 'hello']) {
      const stream = runner.stream({
        systemPrompt: 'test',
        message: text,
        stash: { sessionId: 7 },
      });
      const { status, error } = await stream.result;
      assert.equal(status, 'failed');
      let cause: unknown = error;
      while (codeOf(cause) !== 'E_INVALID_SESSION_ID') cause = (cause as Error).cause;
      assert.match((cause as Error).message, /stash\.sessionId: must be a string/);
    }
    assert.equal([...(await store.load('default')).messages].length, 0);
  });
});

describe('storeCallbacks and loadConversation', { skip }, () => {
  const uses = { storeCallbacks, loadConversation };

  for (const [name, use] of Object.entries(uses)) {
    it(`${name} refuses anything that is not a store, and settings that are none`, () => {
      const store = memoryStore();
      for (const [field, ...args] of [
        ['store', undefined],
        ['store', null],
        ['store.load', {}],
        ['store.commit', { load: () => 1 }],
        ['options', store, 5],
        ['options.session', store, { session: 5 }],
      ] as const) {
        const error = refused(() => (use as (...args: readonly unknown[]) => unknown)(...args));
        assert.equal(codeOf(error), 'E_INVALID_VALUE', field);
        assert.deepEqual(error.details, { field });
      }
    });
  }

  it('take no session for one whose id is no string', async () => {
    const store = memoryStore();
    for (const id of [undefined, 5, null]) {
      const runner = new TurnRunner({
        ...storeCallbacks(store, { session: () => id as never }),
        executorCallback: async (ctx) => {
          await ctx.storeMessage(message('m'));
          ctx.ack();
        },
        host: await testHost(),
      });
      const { status, error } = await runner.stream({ systemPrompt: 'test' }).result;
      assert.equal(status, 'failed');
      assert.equal(codeOf(error), 'E_STORAGE_COMMIT_ERROR');
      assert.match((error as Error).message, /session: must be a string/);
      assert.equal([...(await store.load(id as never)).messages].length, 0);
    }
  });
});

describe('attachments of a turn', { skip }, () => {
  const image = (): Media =>
    Media.userAttachment({
      ...{ id: 'p', kind: 'image', mimeType: 'image/png', filename: 'p.png' },
      reader: { stream: () => new ReadableStream(), byteLength: () => 3 },
    });

  it('go with a message that is text, or stand alone', async () => {
    for (const text of ['What is this?', undefined]) {
      let told: Message | undefined;
      const runner = createRunner({
        executor: (ctx) => {
          told = [...ctx.turnMessages].at(-1);
          ctx.ack();
        },
        host: await testHost(),
      });
      const media = image();
      const input = { attachments: [media], standingInstructions: ['Be brief.'] };
      await runner.run(text === undefined ? input : { ...input, message: text });
      assert.deepEqual(told?.attachments, [media]);
      assert.equal(told?.content?.toString(), text);
    }
  });

  it('are refused where they are none, and beside a Message', async () => {
    const runner = createRunner({ executor, host: await testHost() });
    const message = new Message({
      ...{ id: 'm', role: 'user', content: 'x', createdAt: 1, updatedAt: 1 },
    });
    for (const [input, violation] of [
      [{ attachments: [5] }, '`attachments[0]` must be an instance of Media'],
      [{ attachments: [] }, '`attachments` must have at least one entry'],
      [
        { message, attachments: [image()] },
        '`attachments` cannot be given beside a Message, which has its own',
      ],
    ] as const) {
      const error = refused(() => runner.stream(input as never));
      assert.equal(error.code, 'E_INVALID_TURN_CONTEXT');
      assert.ok(error.message.includes(violation), error.message);
    }
  });
});
