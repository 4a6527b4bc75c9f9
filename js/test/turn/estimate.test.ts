/**
 * Counting tokens: by tokenizers of the host, by length, and what a warning says about it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type DispatchContext,
  createRunner,
  DispatchRunner,
  MemoryReader,
  SpooledArtifact,
  Tokenizable,
  tokenBudget,
  TurnRunner,
  type TurnRunnerConfig,
} from '../../src/index.js';
import { type WarningEvent } from '../../src/entries/events.js';
import { type Tokenizer } from '../../src/entries/records.js';
import { codeOf, message, recordingCallbacks, type Run, runTurn, skip } from './harness.js';

/** A tokenizer that counts words, and notes what it is asked. */
function words(asked: string[][]): Tokenizer {
  return (texts) => {
    asked.push([...texts]);
    return texts.map((text) => text.split(' ').length);
  };
}

function warnings(run: Run): WarningEvent[] {
  return run.events.filter((event) => event.event === 'warning');
}

describe('estimation', { skip }, () => {
  it('G1, G8: claude and unknown encodings go by length, the latter with one warning a context', async () => {
    const run = await runTurn(async (ctx) => {
      assert.deepEqual(
        ctx.estimateTokens('claude', ['a'.repeat(35), 'a'.repeat(36), '']),
        [10, 11, 0],
      );
      assert.deepEqual(ctx.estimateTokens('q', ['hello world', new Tokenizable('hello')]), [3, 2]);
      assert.equal(new Tokenizable('hello world').estimateTokens('q', ctx), 3);
      assert.deepEqual(ctx.estimateTokens('r', ['x'.repeat(100)]), [25]);
      assert.deepEqual(ctx.estimateTokens('s', []), []);
      assert.throws(() => ctx.estimateTokens('', ['x']), { code: 'E_INVALID_VALUE' });
      await DispatchRunner.dispatch({
        source: ctx,
        executor: (inner) => {
          inner.estimateTokens('q', ['again']); // another context
          inner.ack();
        },
      });
      ctx.ack();
    });
    const told = warnings(run).map((w) => [w.kind, w.payload, w.source, w.iteration]);
    const kind = 'token-estimation-degraded';
    const preview = { encoding: 'q', textPreview: 'hello world' };
    assert.deepEqual(told, [
      [kind, preview, 'dispatch-runner', 0],
      [kind, { encoding: 'r', textPreview: 'x'.repeat(80) }, 'dispatch-runner', 0],
      [kind, { encoding: 'q', textPreview: 'again' }, 'dispatch-runner', 0],
    ]);
    // Outside of a turn it is said to nobody.
    assert.equal(new Tokenizable('hello world').estimateTokens('q'), 3);
  });

  it('G4: a tokenizer of the host counts, all texts in one call, and counts are kept', async () => {
    const asked: string[][] = [];
    const text = new Tokenizable('one two');
    let reads = 0;
    const dynamic = new Tokenizable(() => {
      reads++;
      return 'a b c';
    });
    const run = await runTurn(
      (ctx) => {
        assert.deepEqual(ctx.estimateTokens('q', ['a b', text, 'c']), [2, 2, 1]);
        assert.throws(() => ctx.estimateTokens('q', 'a b'), { message: /texts: must be a list/ });
        assert.equal(text.estimateTokens('q', ctx), 2);
        assert.equal(text.estimateTokens('q', ctx), 2);
        assert.equal(dynamic.estimateTokens('q', ctx), 3);
        assert.equal(dynamic.estimateTokens('q', ctx), 3);
        ctx.ack();
      },
      { tokenizers: { q: words(asked) } },
    );
    assert.deepEqual(asked, [['a b', 'one two', 'c'], ['one two'], ['a b c']]);
    assert.equal(reads, 1);
    assert.deepEqual(warnings(run), []);
  });

  it('G9: a tokenizer that fails degrades to the length, with its error in a warning', async () => {
    const broken = new Error('no vocabulary');
    const failing: [Tokenizer, (error: unknown) => boolean][] = [
      [
        () => {
          throw broken;
        },
        (error) => error === broken,
      ],
      [() => [1, 2], (error) => error instanceof TypeError],
      [(texts) => texts.map(() => -1), (error) => error instanceof TypeError],
      [(texts) => new Array(texts.length) as number[], (error) => error instanceof TypeError],
      [(() => Promise.resolve([1])) as never, (error) => error instanceof TypeError],
    ];
    for (const [q, expected] of failing) {
      const run = await runTurn(
        (ctx) => {
          assert.deepEqual(ctx.estimateTokens('q', ['hello world']), [3]);
          ctx.ack();
        },
        { tokenizers: { q } },
      );
      const [warning, ...more] = warnings(run);
      assert.deepEqual(more, []);
      assert.ok(expected(warning!.error), String(warning!.error));
      assert.deepEqual([warning!.dispatchId, warning!.iteration], [run.events[1]!.dispatchId, 0]);
      assert.deepEqual(run.names.slice(-1), ['tE(ack)']);
    }
  });

  it('an artifact is counted by the tokenizer in one call, and by length when that fails', async () => {
    const asked: string[][] = [];
    const text = 'one two\nthree';
    const artifact = new SpooledArtifact(new MemoryReader(text));
    const run = await runTurn(
      async (ctx) => {
        assert.equal(await artifact.estimateTokens('q', ctx), 2);
        assert.equal(await artifact.estimateTokens('broken', ctx), 4);
        assert.equal(await artifact.estimateTokens('claude', ctx), 4);
        ctx.ack();
      },
      { tokenizers: { q: words(asked), broken: () => [] } },
    );
    assert.deepEqual(asked, [[text]]);
    assert.deepEqual(
      warnings(run).map((w) => w.payload),
      [{ encoding: 'broken', textPreview: text }],
    );
  });

  it('G10: the context that estimates is the one that warns', async () => {
    let late: DispatchContext | undefined;
    const run = await runTurn(
      (ctx) => {
        late = ctx;
        ctx.ack();
      },
      {
        turnInputPipeline: [
          (ctx, next) => {
            ctx.estimateTokens('q', ['x']);
            return next();
          },
        ],
      },
    );
    assert.deepEqual(late!.estimateTokens('z', ['hello world']), [3]);
    assert.deepEqual(
      warnings(run).map((w) => [w.source, w.dispatchId]),
      [['turn-runner', undefined]],
    );
  });

  it('a token budget counts what is new in an iteration in one call', async () => {
    const asked: string[][] = [];
    const config = (tokenizer: Tokenizer): Partial<TurnRunnerConfig> => ({
      tokenizers: { q: tokenizer },
      dispatchInputPipeline: [tokenBudget({ encoding: 'q', limit: 100 })],
    });
    const executor = async (ctx: DispatchContext): Promise<void> => {
      if (ctx.iteration === 2) ctx.ack();
      else await ctx.storeMessage(message(`m${ctx.iteration}`));
    };
    await runTurn(executor, config(words(asked)), { message: 'hi' });
    assert.deepEqual(asked, [['test', 'hi'], ['m0'], ['m1']]);
    const run = await runTurn(
      executor,
      config(() => []),
      { message: 'hi' },
    );
    assert.equal(warnings(run).length, 1);
    assert.deepEqual(run.names.slice(-1), ['tE(ack)']);
  });

  it('a standalone dispatch has its own tokenizers, one with a source those of its turn', async () => {
    const asked: string[][] = [];
    const executor = (ctx: DispatchContext): void => {
      ctx.estimateTokens('q', ['x']);
      ctx.ack();
    };
    await runTurn(
      async (ctx) => {
        await DispatchRunner.dispatch({ source: ctx, executor });
        ctx.ack();
      },
      { tokenizers: { q: words(asked) } },
    );
    assert.deepEqual(asked, [['x']]);
  });

  it('G7: built-in names and anything that is not a function are refused', () => {
    const make = (tokenizers: unknown): unknown => {
      const executorCallback = (ctx: DispatchContext): void => ctx.ack();
      return new TurnRunner({ ...recordingCallbacks(), executorCallback, tokenizers } as never);
    };
    assert.throws(() => make({ claude: () => [] }), {
      code: 'E_TOKEN_ESTIMATOR_SHADOWS_BUILTIN',
    });
    assert.throws(
      () => make({ a: 1, b: (): number[] => [], '': 2 }),
      (error: unknown) => {
        assert.equal(codeOf(error), 'E_INVALID_TURN_RUNNER_CONFIG');
        assert.deepEqual((error as { details: unknown }).details, [
          '`tokenizers.a` must be a function',
          '`tokenizers` must have names that are not empty',
        ]);
        return true;
      },
    );
    assert.throws(() => make(7), { code: 'E_INVALID_TURN_RUNNER_CONFIG' });
    // Beside other violations the built-in name is one of them.
    const claude = (): number[] => [];
    for (const config of [{ tokenizers: { claude }, system: 5 }, { tokenizers: { claude } }]) {
      assert.throws(() => createRunner(config as never), {
        code: 'E_INVALID_TURN_RUNNER_CONFIG',
        message: /`tokenizers\.claude` is built in and cannot be replaced$/,
      });
    }
    const executor = (): void => undefined;
    assert.throws(() => createRunner({ executor, tokenizers: { claude } }), {
      code: 'E_TOKEN_ESTIMATOR_SHADOWS_BUILTIN',
    });
  });
});
