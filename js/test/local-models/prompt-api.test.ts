/** The adapter of the Prompt API, over a fake that does as the specification says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type EngineProgress,
  type LanguageModelLike,
  type LanguageModelSession,
  promptAPIEngine,
} from '../../src/entries/models.js';
import { createRunner, isTurncoreError } from '../../src/index.js';
import { abortAfter, all, later, request } from './harness.js';

interface Prompt {
  readonly role: string;
  readonly content: string;
}

/** Sessions that answer a list of chunks. */
class FakeLanguageModel implements LanguageModelLike {
  status = 'available';
  open = 0;
  readonly created: Record<string, unknown>[] = [];
  readonly prompts: { input: Prompt[]; options: Record<string, unknown> }[] = [];
  readonly #chunks: readonly unknown[];

  constructor(chunks: readonly unknown[] = ['a', '', 'b']) {
    this.#chunks = chunks;
  }

  availability(): Promise<string> {
    return Promise.resolve(this.status);
  }

  async create(options: Record<string, unknown> = {}): Promise<LanguageModelSession> {
    this.created.push(options);
    const signal = options['signal'] as AbortSignal | undefined;
    signal?.throwIfAborted();
    const target = new EventTarget();
    (options['monitor'] as ((m: EventTarget) => void) | undefined)?.(target);
    for (const loaded of this.status === 'downloadable' ? [0, 0.5, 1] : []) {
      target.dispatchEvent(Object.assign(new Event('downloadprogress'), { loaded }));
    }
    await later();
    const roles = ((options['initialPrompts'] ?? []) as Prompt[]).map(({ role }) => role);
    if (roles.lastIndexOf('system') > 0) throw new TypeError('system must come first');
    this.open++;
    let alive = true;
    return {
      contextUsage: 42,
      promptStreaming: (given: never, how: object = {}) => {
        const input = given as Prompt[];
        if (input.some(({ role }) => !['user', 'assistant'].includes(role))) {
          throw new TypeError('role');
        }
        this.prompts.push({ input, options: how as Record<string, unknown> });
        return this.#stream((how as { signal: AbortSignal }).signal);
      },
      destroy: () => {
        if (alive) this.open--;
        alive = false;
      },
    };
  }

  async *#stream(signal: AbortSignal): AsyncGenerator {
    for (const chunk of this.#chunks) {
      await later();
      signal.throwIfAborted();
      yield chunk;
    }
  }
}

describe('the adapter of the Prompt API', () => {
  it('gives media as blobs', async () => {
    const api = new FakeLanguageModel();
    const engine = promptAPIEngine({ languageModel: api, capabilities: { media: ['image'] } });
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
      { type: 'input_audio', input_audio: { data: 'aGVsbG8=', format: 'wav' } },
    ] as const;
    await all(engine.generate(request({ messages: [{ role: 'user', content }] })));
    const parts = api.prompts[0]!.input[0]!.content as unknown as {
      type: string;
      value: string | Blob;
    }[];
    const seen = parts.map(async ({ type, value }) =>
      typeof value === 'string' ? [type, value] : [type, value.type, await value.text()],
    );
    assert.deepEqual(await Promise.all(seen), [
      ['text', 'What is this?'],
      ['image', 'image/png', 'hello'],
      ['audio', 'audio/wav', 'hello'],
    ]);
    await assert.rejects(
      all(
        engine.generate(
          request({
            messages: [
              { role: 'user', content: [{ type: 'video_url', video_url: { url: 'data:,' } }] },
            ],
          }),
        ),
      ),
      /takes no video_url/,
    );
  });

  it('prompts a session of its own, with the conversation before', async () => {
    const api = new FakeLanguageModel();
    const engine = promptAPIEngine({ languageModel: api, create: { samplingMode: 'balanced' } });
    const schema = { type: 'object' };
    const parts = await all(
      engine.generate(
        request({
          messages: [
            { role: 'system', content: 'S' },
            { role: 'user', content: 'Q' },
            { role: 'assistant', content: null },
            { role: 'tool', content: 'R', tool_call_id: 'c' },
          ],
          schema,
        }),
      ),
    );
    assert.deepEqual(parts, [
      { text: 'a' },
      { text: 'b' },
      { finish: 'stop', usage: { totalTokens: 42 } },
    ]);
    const { signal, ...created } = api.created[1]!;
    assert.ok(signal instanceof AbortSignal);
    assert.deepEqual(created, {
      samplingMode: 'balanced',
      initialPrompts: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'Q' },
        { role: 'assistant', content: '' },
      ],
    });
    assert.deepEqual(api.prompts[0]!.input, [{ role: 'user', content: 'R' }]);
    assert.equal(api.prompts[0]!.options['responseConstraint'], schema);
    assert.equal(api.open, 1, 'the session that keeps the model');
    await engine.dispose();
    assert.equal(api.open, 0);
  });

  it('takes the sampling that the browser lets a page choose, with the usual rest', async () => {
    const api = Object.assign(new FakeLanguageModel(), {
      params: () => Promise.resolve({ defaultTemperature: 1, defaultTopK: 3 }),
    });
    const engine = promptAPIEngine({ languageModel: api, create: { samplingMode: 'balanced' } });
    await all(engine.generate(request({ options: { temperature: 0.2 } })));
    await all(engine.generate(request({ options: { top_k: 1, samplingMode: 'creative' } })));
    await all(engine.generate(request()));
    assert.deepEqual(
      api.created.slice(1).map(({ initialPrompts: _, signal: __, ...chosen }) => chosen),
      [
        { samplingMode: 'balanced', temperature: 0.2, topK: 3 },
        { samplingMode: 'creative', temperature: 1, topK: 1 },
        { samplingMode: 'balanced' },
      ],
    );
  });

  it('refuses the options that the browser has not, before it loads anything', async () => {
    const api = new FakeLanguageModel();
    const engine = promptAPIEngine({ languageModel: api });
    const options = { max_tokens: 9, seed: 1, stop: ['x'], temperature: 0, top_k: 1, top_p: 0.5 };
    await assert.rejects(all(engine.generate(request({ options }))), {
      code: 'E_CHAT_INVALID_OPTIONS',
      details: ['max_tokens', 'seed', 'stop', 'top_p', 'temperature', 'top_k'].map(
        (name) => `\`${name}\` is not for engine prompt-api`,
      ),
    });
    assert.deepEqual(api.created, []);
    await all(engine.generate(request({ options: { max_tokens: null } })));
  });

  it('fails the turn with the options that it refuses', async () => {
    const engine = promptAPIEngine({ languageModel: new FakeLanguageModel() });
    const runner = createRunner({ model: { engine, max_tokens: 9 } });
    const { error } = await runner.stream({ message: 'hi' }).result;
    assert.ok(isTurncoreError(error, 'E_CHAT_INVALID_OPTIONS'), String(error));
    assert.match(error.message, /`max_tokens` is not for engine prompt-api/);
  });

  it('tells thoughts from text where the session shows them', async () => {
    const api = new FakeLanguageModel([
      { type: 'thought', value: 'hm' },
      { type: 'text', value: 'a' },
      { type: 'image', value: 1 },
    ]);
    const parts = await all(promptAPIEngine({ languageModel: api }).generate(request()));
    assert.deepEqual(parts.slice(0, 2), [{ reasoning: 'hm' }, { text: 'a' }]);
    assert.equal(parts.length, 3);
  });

  it('stops when it is told to', async () => {
    const api = new FakeLanguageModel(Array.from({ length: 1000 }, () => 'x'));
    const engine = promptAPIEngine({ languageModel: api });
    assert.equal(await abortAfter(2, (r) => engine.generate(r)), 2);
    assert.equal(api.open, 1);
    assert.equal(await abortAfter(0, (r) => engine.generate(r)), 0);
    assert.equal(api.open, 1);
  });

  it('tells of a download', async () => {
    const api = new FakeLanguageModel();
    api.status = 'downloadable';
    const told: EngineProgress[] = [];
    const engine = promptAPIEngine({ languageModel: api, onProgress: (p) => told.push(p) });
    await engine.load();
    assert.deepEqual(told, [
      { phase: 'loading' },
      { phase: 'loading', progress: 0 },
      { phase: 'loading', progress: 0.5 },
      { phase: 'compiling', progress: 1 },
      { phase: 'ready' },
    ]);
  });

  it('fails where there is no model, and tries again', async () => {
    const api = new FakeLanguageModel();
    api.status = 'unavailable';
    const engine = promptAPIEngine({ languageModel: api });
    await assert.rejects(engine.load(), {
      code: 'E_MODEL_UNSUPPORTED',
      message: /the browser's own model is unavailable/,
    });
    api.status = 'available';
    await engine.load();
    await assert.rejects(promptAPIEngine().load(), {
      code: 'E_MODEL_UNSUPPORTED',
      message: /this browser has no Prompt API/,
    });
  });
});
