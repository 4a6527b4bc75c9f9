/**
 * Wrong arguments of the methods that contexts and helpers have: each is refused by a typed error that names the field,
 * where it was made, and the turn goes on.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  createRunner,
  type DispatchContext,
  type DispatchExecutorHelpers,
  fetchTool,
  MemoryReader,
  Tokenizable,
  Tool,
  ToolRegistry,
  toolCallChecksum,
  type TurncoreError,
} from '../../src/index.js';
import { codeOf, runTurn, skip } from './harness.js';

/** Where a method is, its name, and what it is called with. */
type Misuse = readonly [
  on: 'ctx' | 'helpers' | 'log' | 'stash',
  method: string,
  ...args: readonly unknown[],
];

/** A list in a list in a list. */
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

const wrong: Readonly<Record<string, Misuse>> = {
  id: ['helpers', 'reportMessage', 3, 'x'],
  aDelta: ['helpers', 'reportThought', 't'],
  report: ['helpers', 'reportToolCall', 'c'],
  tool: ['helpers', 'reportToolCall', 'c', { tool: 3 }],
  stats: ['helpers', 'reportGenerationStats'],
  'stats.promptTokens': ['helpers', 'reportGenerationStats', { promptTokens: '9' }],
  'stats.cachedTokens': ['helpers', 'reportGenerationStats', { cachedTokens: -1 }],
  'stats.model': ['helpers', 'reportGenerationStats', { model: 5 }],
  line: ['log', 'info'],
  kind: ['log', 'warn', { message: 'm' }],
  message: ['log', 'error', { kind: 'k' }],
  checksum: ['ctx', 'toolCallCount'],
  handler: ['ctx', 'onAck', 3],
  texts: ['ctx', 'estimateTokens', 'claude'],
  ids: ['ctx', 'replaceToolCallGroup', 'abc', []],
  'ids[1]': ['ctx', 'replaceToolCallGroup', ['a', 1], []],
  replacements: ['ctx', 'replaceToolCallGroup', ['a']],
  'replacements[0]': ['ctx', 'replaceToolCallGroup', ['a'], [{}]],
  record: ['ctx', 'storeMessage', { id: 'm' }],
  text: ['ctx', 'deleteStandingInstruction'],
  bytes: ['ctx', 'storeMediaBytes', 'm', 5],
  content: ['ctx', 'emitMessage'],
  toolName: ['ctx', 'emitToolExecutionStart', {}],
  'a.b': ['stash', 'set', 'a.b', nested(60)],
  'a[3]': ['stash', 'set', 'a', [1, 2, 3, Symbol('s')]],
  wide: ['stash', 'set', 'wide', Array(8193).fill(0)],
  large: ['stash', 'set', 'large', 'x'.repeat(20e6)],
};

describe('wrong arguments', { skip }, () => {
  it('are refused by the name of the field, and the turn goes on', async () => {
    const run = await runTurn(async (ctx, helpers) => {
      const targets = { ctx, helpers, log: helpers.log, stash: ctx.stash };
      for (const [field, [on, method, ...args]] of Object.entries(wrong)) {
        const target = targets[on] as unknown as Record<string, (...args: unknown[]) => unknown>;
        const error = await Promise.resolve()
          .then(() => target[method]!(...args))
          .then(
            () => undefined,
            (thrown: unknown) => thrown as Error & { details?: { field: string } },
          );
        assert.equal(codeOf(error), 'E_INVALID_VALUE', field);
        assert.ok(error?.details?.field.startsWith(field), `${field}: ${error?.message}`);
      }
      assert.deepEqual(ctx.stash.all(), {});
      ctx.stash.set('a.b', nested(59));
      ctx.ack();
    });
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
    assert.ok(!run.names.some((name) => /^(msg|th|tc|log|stats)/.test(name)), run.names.join(' '));
  });

  it('have no misspelled names, which would have no effect', async () => {
    const misspelled: readonly (readonly [why: string, ...Misuse])[] = [
      [
        '`options.complete` M `isComplete`?',
        'helpers',
        'reportMessage',
        'm',
        'x',
        { complete: true },
      ],
      [
        '`options.isCompleted` M `isComplete`?',
        'helpers',
        'reportThought',
        't',
        'x',
        { isCompleted: true },
      ],
      [
        '`options.final` is not a known field',
        'helpers',
        'reportMessage',
        'm',
        'x',
        { final: true },
      ],
      [
        'options: must be an object',
        'helpers',
        'reportMessage',
        'm',
        'x',
        new Map([['isComplete', true]]),
      ],
      [
        '`report.arguments` M `args`?',
        'helpers',
        'reportToolCall',
        'c',
        { tool: 't', arguments: {} },
      ],
      ['`report.result` M `results`?', 'helpers', 'reportToolCall', 'c', { tool: 't', result: 1 }],
      ['report: must be an object', 'helpers', 'reportToolCall', 'c', new Map()],
      [
        '`stats.prompt_tokens` M `promptTokens`?',
        'helpers',
        'reportGenerationStats',
        { prompt_tokens: 1 },
      ],
      [
        '`stats.totalToken` M `totalTokens`?',
        'helpers',
        'reportGenerationStats',
        { totalToken: 1 },
      ],
      ['stats: must be an object', 'helpers', 'reportGenerationStats', new Map()],
    ];
    const tool = new Tool({
      name: 't',
      description: 't',
      inputSchema: { type: 'object' },
      handler: () => 'done',
    });
    const run = await runTurn(
      async (ctx, helpers) => {
        for (const [why, on, method, ...args] of misspelled) {
          const target = { ctx, helpers, log: helpers.log, stash: ctx.stash }[on];
          const reason = why.replace('M', 'is not a known field; did you mean');
          assert.throws(
            () =>
              (target as unknown as Record<string, (...a: unknown[]) => void>)[method]!(...args),
            { code: 'E_INVALID_VALUE', message: `The value is invalid: ${reason}` },
          );
        }
        const call = tool.executor(ctx) as (args: object, options: unknown) => Promise<unknown>;
        for (const [options, why] of [
          [{ providerCallID: 'x' }, '`options.providerCallID` M `providerCallId`?'],
          ['x', 'options: must be an object'],
          [5, 'options: must be an object'],
        ] as const) {
          const reason = why.replace('M', 'is not a known field; did you mean');
          await assert.rejects(call({}, options), {
            code: 'E_INVALID_VALUE',
            message: `The value is invalid: ${reason}`,
          });
        }
        assert.equal(await call({}, null), 'done');
        // What else a provider tells of its model is kept.
        helpers.reportGenerationStats({ promptTokens: 1, modelId: 'x', raw: { prompt_tokens: 1 } });
        ctx.ack();
      },
      { fetchToolsCallback: () => [tool] },
    );
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
    assert.ok(!run.names.some((name) => /^(msg|th|tc)/.test(name)), run.names.join(' '));
  });

  it('have no text and no bytes that no frame holds: the part is named', async () => {
    const long = 'x'.repeat(17 << 20);
    const tool = new Tool({
      name: 't',
      description: 't',
      inputSchema: { type: 'object' },
      handler: () => long,
    });
    const why = '17825792 bytes are more than a frame holds';
    const run = await runTurn(
      async (ctx, helpers) => {
        for (const part of [long, 'é'.repeat(17 << 19), new Uint8Array(17 << 20)]) {
          for (const call of [tool.executor(ctx), (a: never) => tool.validate(a)]) {
            await assert.rejects(call({ a: { b: [part] } } as never), (error: TurncoreError) => {
              assert.equal(error.code, 'E_INVALID_TOOL_ARGS');
              assert.ok(error.message.endsWith(`args.a.b[0]: ${why}`), error.message);
              return true;
            });
          }
        }
        const field = (name: string): object => ({
          code: 'E_INVALID_VALUE',
          message: `The value is invalid: ${name}: ${why}`,
          details: { field: name },
        });
        const report = { tool: 't', args: { a: long } };
        assert.throws(() => helpers.reportToolCall('c', report), field('args.a'));
        const stats = { raw: long };
        assert.throws(() => helpers.reportGenerationStats(stats), field('stats.raw'));
        assert.throws(() => toolCallChecksum('t', long), field('args'));
        const gate = { id: 'g', reason: 'r', payload: [long], createdAt: 1 };
        await assert.rejects(ctx.waitFor(gate), {
          code: 'E_INVALID_INITIAL_TURN_GATE_VALUE',
          message: /payload\[0\]: 17825792 bytes are more than a frame holds$/u,
        });
        // A result stays on the host, however large it is.
        assert.equal(await tool.executor(ctx)({ a: 'é'.repeat(5 << 20) }), long);
        ctx.ack();
      },
      { fetchToolsCallback: () => [tool] },
    );
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
  });

  it('of a stash to begin with are listed with the rest of the input', async () => {
    const stash = { f: () => 1 };
    await assert.rejects(
      runTurn(() => undefined, {}, { systemPrompt: '', stash }),
      (error: Error) => {
        assert.equal(codeOf(error), 'E_INVALID_TURN_CONTEXT');
        assert.match(error.message, /`systemPrompt`.*stash\.f: a function cannot be encoded/);
        return true;
      },
    );
  });
});

describe('tools', { skip }, () => {
  const tool = new Tool({
    name: 't',
    description: 't',
    inputSchema: { type: 'object' },
    handler: () => 'done',
  });

  it('are called in a dispatch, with an object', async () => {
    const seen: unknown[] = [];
    await runTurn(
      async (ctx) => {
        for (const args of [undefined, null] as never[]) {
          for (const call of [tool.executor(ctx), (a: never) => tool.validate(a)]) {
            await assert.rejects(call(args), (error: TurncoreError) => {
              assert.equal(error.code, 'E_INVALID_TOOL_ARGS');
              assert.match(error.message, /t: the value must be object, not (undefined|null)$/);
              assert.equal(codeOf(error.cause), 'VALIDATION_EXCEPTION');
              seen.push(error);
              return true;
            });
          }
        }
        for (const call of [tool.executor(ctx), (a: never) => tool.validate(a)]) {
          await assert.rejects(call({ a: () => 1 } as never), (error: TurncoreError) => {
            assert.equal(error.code, 'E_INVALID_TOOL_ARGS');
            assert.match(error.message, /args\.a: a function cannot be encoded/);
            assert.equal(codeOf(error.cause), 'E_INVALID_VALUE');
            return true;
          });
        }
        ctx.ack();
      },
      {
        turnInputPipeline: [
          async (ctx, next) => {
            for (const wrong of [ctx, {}, undefined] as never[]) {
              assert.throws(() => tool.executor(wrong), {
                code: 'E_INVALID_VALUE',
                message: /ctx: must be a DispatchContext/,
              });
              seen.push(wrong);
            }
            await next();
          },
        ],
      },
    );
    assert.equal(seen.length, 7);
  });

  it('are put together from registries', () => {
    const registry = new ToolRegistry([tool]);
    const wrong: [string, () => unknown][] = [
      ['tools', () => new ToolRegistry(5 as never)],
      ['tool', () => new ToolRegistry([5 as never])],
      ['registries', () => ToolRegistry.merge(undefined as never)],
      ['registries', () => ToolRegistry.merge([registry, {} as never])],
      ['onCollision', () => ToolRegistry.merge([registry], { onCollision: 'perhaps' as never })],
      ['ctx', () => registry.bindContext({} as never)],
    ];
    for (const [field, run] of wrong) {
      assert.throws(run, { code: 'E_INVALID_VALUE', details: { field } }, field);
    }
  });
});

describe('wrong arguments of constructors', () => {
  it('are refused by the name of the field', () => {
    const wrong: [string, () => unknown][] = [
      ['text', () => new Tokenizable(5 as never)],
      ['text', () => new Tokenizable('x').set(undefined as never)],
      ['content', () => new MemoryReader({} as never)],
      ['listener', () => createRunner({ executor: () => undefined }).on('message', 5 as never)],
    ];
    for (const [field, run] of wrong) {
      assert.throws(run, { code: 'E_INVALID_VALUE', details: { field } }, field);
    }
    assert.throws(() => fetchTool(undefined as never), { code: 'E_INVALID_INITIAL_TOOL_VALUE' });
  });
});

describe('a gate that nobody awaits', { skip }, () => {
  it('is no unhandled rejection when its turn ends', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      const run = await runTurn((ctx) => {
        void ctx.waitFor({ id: 'g', reason: 'r', payload: 1, createdAt: 1 });
        ctx.ack();
      });
      assert.deepEqual(run.names.slice(-2), ['gC(aborted)', 'tE(ack)']);
      await new Promise((resolve) => setTimeout(resolve, 10));
    } finally {
      process.off('unhandledRejection', note);
    }
    assert.deepEqual(unhandled, []);
  });
});

describe('a log line', { skip }, () => {
  it('never fails: what is not JSON-like is logged as a text', async () => {
    const self: Record<string, unknown> = {};
    self['self'] = self;
    const cases: [unknown, unknown][] = [
      [new RangeError('far'), 'RangeError: far'],
      [
        { error: new TypeError('no'), n: 10n ** 30n },
        /^\{"error":\{"code":"TypeError","message":"no"\},"n":"10+"\}$/,
      ],
      [self, '[object Object]'],
      [Object.assign(Object.create(null) as object, { f: () => 1 }), '{}'],
      [Symbol('s'), 'Symbol(s)'],
      [nested(70), /^\[{70}1/],
      [{ plain: true }, { plain: true }],
    ];
    let kept: DispatchExecutorHelpers | undefined;
    const run = await runTurn((ctx: DispatchContext, helpers) => {
      kept = helpers;
      for (const [payload] of cases) helpers.log.error({ kind: 'k', message: 'm', payload });
      ctx.ack();
    });
    const logged = run.events.filter((e) => e.event === 'log');
    assert.equal(logged.length, cases.length);
    cases.forEach(([, want], i) => {
      const got = logged[i]!.payload;
      if (want instanceof RegExp) assert.match(got as string, want);
      else assert.deepEqual(got, want);
    });
    kept!.log.info({ kind: 'k', message: 'after the end' });
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
  });
});
