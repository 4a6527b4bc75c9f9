/** The adapter of transformers.js, over a fake that does as the library does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type EngineProgress,
  type TextGenerator,
  transformersEngine,
  type TransformersLike,
} from '../../src/entries/models.js';
import { abortAfter, all, later, request } from './harness.js';

class TextStreamer {
  readonly options: {
    skip_prompt: boolean;
    skip_special_tokens: boolean;
    callback_function: (text: string) => void;
    token_callback_function: (ids: bigint[]) => void;
  };
  constructor(tokenizer: never, options: never) {
    assert.equal(tokenizer, 'tokenizer');
    this.options = options;
  }
}
class InterruptableStoppingCriteria {
  interrupted = false;
  interrupt(): void {
    this.interrupted = true;
  }
}
const transformers: TransformersLike = { TextStreamer, InterruptableStoppingCriteria };

interface Call {
  readonly messages: unknown;
  readonly max_new_tokens: number;
  readonly streamer: TextStreamer;
  readonly stopping_criteria: InterruptableStoppingCriteria;
}

/** A pipeline that says words up to a bound. It must not be called while it runs. */
function fakePipeline(count: number): TextGenerator & { calls: Call[]; disposed: boolean } {
  let busy = false;
  const generate = async (messages: never, given: never): Promise<unknown> => {
    assert.ok(!busy, 'it runs already');
    busy = true;
    const options = given as Call;
    pipeline.calls.push({ ...options, messages });
    const { streamer, stopping_criteria: criteria } = options;
    try {
      for (let i = 0; i < Math.min(count, options.max_new_tokens); i++) {
        await later();
        if (count === 13) throw new Error('out of memory');
        streamer.options.token_callback_function([1n]);
        streamer.options.callback_function(`${i} `);
        if (criteria.interrupted) break;
      }
      return [{ generated_text: 'all of it' }];
    } finally {
      busy = false;
    }
  };
  const pipeline = Object.assign(generate, {
    tokenizer: 'tokenizer',
    calls: [] as Call[],
    disposed: false,
    dispose: () => {
      pipeline.disposed = true;
      return Promise.resolve();
    },
  });
  return pipeline;
}

describe('the adapter of transformers.js', () => {
  it('streams text and counts tokens', async () => {
    const pipeline = fakePipeline(2);
    const engine = transformersEngine({ transformers, load: () => Promise.resolve(pipeline) });
    const parts = await all(
      engine.generate(
        request({
          options: { temperature: 0.5, top_k: 9, max_tokens: 9, no_repeat_ngram_size: 2 },
        }),
      ),
    );
    assert.deepEqual(parts, [
      { text: '0 ' },
      { text: '1 ' },
      { finish: 'stop', usage: { completionTokens: 2 } },
    ]);
    const { streamer, stopping_criteria, ...rest } = pipeline.calls[0]!;
    assert.ok(streamer.options.skip_prompt && streamer.options.skip_special_tokens);
    assert.ok(!stopping_criteria.interrupted);
    assert.deepEqual(rest, {
      messages: [{ role: 'user', content: 'hi' }],
      tools: null,
      top_k: 9,
      no_repeat_ngram_size: 2,
      temperature: 0.5,
      do_sample: true,
      max_new_tokens: 9,
    });
  });

  it('seeds the random numbers of a library that has them', async () => {
    const seeds: number[] = [];
    const pipeline = fakePipeline(1);
    const engine = transformersEngine({
      transformers: { ...transformers, random: { seed: (n: number) => seeds.push(n) } },
      load: () => Promise.resolve(pipeline),
    });
    await all(engine.generate(request({ options: { seed: 7 } })));
    await all(engine.generate(request()));
    assert.deepEqual(seeds, [7]);
    assert.ok(!('seed' in pipeline.calls[0]!));
  });

  it('refuses the options that the library ignores, before it loads anything', async () => {
    const engine = transformersEngine({ transformers, load: () => assert.fail() });
    const options = { top_p: 0.9, stop: 'x', seed: 1, min_p: 0.1, frequency_penalty: 1 };
    await assert.rejects(all(engine.generate(request({ options }))), {
      code: 'E_CHAT_INVALID_OPTIONS',
      details: ['frequency_penalty', 'min_p', 'stop', 'top_p', 'seed'].map(
        (name) => `\`${name}\` is not for engine transformers.js`,
      ),
    });
  });

  it('does not sample at a temperature of 0, and tells when the bound was met', async () => {
    const pipeline = fakePipeline(100);
    const engine = transformersEngine({ transformers, load: () => Promise.resolve(pipeline) });
    const parts = await all(
      engine.generate(request({ options: { temperature: 0, max_tokens: 3 } })),
    );
    assert.deepEqual(parts.at(-1), { finish: 'length', usage: { completionTokens: 3 } });
    const call = pipeline.calls[0] as unknown as Record<string, unknown>;
    assert.equal(call['do_sample'], false);
    assert.ok(!('temperature' in call));
  });

  it('stops when it is told to, and when nobody takes more', async () => {
    const pipeline = fakePipeline(1000);
    const engine = transformersEngine({ transformers, load: () => Promise.resolve(pipeline) });
    assert.ok((await abortAfter(2, (r) => engine.generate(r))) < 5);
    for await (const _ of await engine.generate(request())) break;
    assert.ok(pipeline.calls.every(({ stopping_criteria: c }) => c.interrupted));
    assert.equal(pipeline.calls.length, 2);
  });

  it('answers one request after another; one that has left is not begun', async () => {
    const pipeline = fakePipeline(5);
    const engine = transformersEngine({ transformers, load: () => Promise.resolve(pipeline) });
    const controller = new AbortController();
    const answers = [
      all(engine.generate(request())),
      all(engine.generate(request({ signal: controller.signal }))),
      all(engine.generate(request())),
    ];
    await later();
    controller.abort();
    const [first, second, third] = await Promise.allSettled(answers);
    assert.equal(first!.status, 'fulfilled');
    assert.equal(second!.status, 'rejected');
    assert.equal(third!.status, 'fulfilled');
    assert.equal(pipeline.calls.length, 2);
  });

  it('fails with the words of the library, and goes on', async () => {
    const pipeline = fakePipeline(13);
    const engine = transformersEngine({ transformers, load: () => Promise.resolve(pipeline) });
    await assert.rejects(all(engine.generate(request())), /out of memory/);
    await assert.rejects(all(engine.generate(request())), /out of memory/);
  });

  it('tells how loading goes, and disposes', async () => {
    const told: EngineProgress[] = [];
    const pipeline = fakePipeline(0);
    const engine = transformersEngine({
      transformers,
      load: (progress) => {
        progress({ status: 'initiate', file: 'model.onnx' });
        progress({ status: 'progress', file: 'model.onnx', progress: 50 });
        progress({ status: 'ready' });
        return Promise.resolve(pipeline);
      },
      onProgress: (p) => told.push(p),
    });
    await engine.load();
    assert.deepEqual(JSON.parse(JSON.stringify(told)), [
      { phase: 'loading' },
      { phase: 'loading', detail: 'initiate model.onnx' },
      { phase: 'loading', progress: 0.5, detail: 'progress model.onnx' },
      { phase: 'compiling', detail: 'ready' },
      { phase: 'ready' },
    ]);
    await engine.dispose();
    assert.ok(pipeline.disposed);
  });

  it('tells the progress of all files together where the library does', async () => {
    const told: [string, number | undefined][] = [];
    const engine = transformersEngine({
      transformers,
      load: (progress) => {
        progress({ status: 'download', file: 'a.json' });
        progress({ status: 'progress_total', progress: 1 });
        progress({ status: 'progress', file: 'a.json', progress: 100 });
        progress({ status: 'done', file: 'a.json' });
        progress({ status: 'progress_total', progress: 100 });
        progress({ status: 'done', file: 'b.onnx' });
        return Promise.resolve(fakePipeline(0));
      },
      onProgress: ({ phase, progress }) => told.push([phase, progress]),
    });
    await engine.load();
    assert.deepEqual(told, [
      ['loading', undefined],
      ['loading', undefined],
      ['loading', 0.01],
      ['loading', 0.01],
      ['loading', 1],
      ['compiling', 1],
      ['ready', undefined],
    ]);
  });
});
