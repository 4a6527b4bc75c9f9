/**
 * Wrong arguments of the methods that contexts and helpers have: each is refused by a typed error that names the field,
 * where it was made, and the turn goes on.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { DispatchContext, DispatchExecutorHelpers } from '../../src/index.js';
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
