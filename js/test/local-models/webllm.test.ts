/** The adapter of WebLLM, over a fake that does as the library does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type EngineProgress, webLLMEngine, type WebLLMLike } from '../../src/entries/models.js';
import { abortAfter, all, later, request } from './harness.js';

/**
 * One answer at a time: a lock is taken by create, and given back when the stream was read to its end. An interrupt is
 * forgotten when a stream begins.
 */
class FakeWebLLM implements WebLLMLike {
  requests: Record<string, unknown>[] = [];
  unloads = 0;
  decoded = 0;
  #interrupted = false;
  #free: Promise<void> = Promise.resolve();
  readonly #words: number;
  readonly chat = { completions: { create: (given: never) => this.#create(given) } };

  constructor(count: number) {
    this.#words = count;
  }

  async #create(given: never): Promise<unknown> {
    const turn = this.#free;
    let leave!: () => void;
    this.#free = new Promise((resolve) => (leave = resolve));
    await turn;
    this.requests.push(given);
    return this.#stream(leave);
  }

  async *#stream(release: () => void): AsyncGenerator {
    this.#interrupted = false;
    let finish = 'stop';
    for (let i = 0; i < this.#words; i++) {
      if (this.#interrupted) {
        finish = 'abort';
        break;
      }
      await later();
      this.decoded++;
      yield { choices: [{ delta: { content: `${i} ` }, finish_reason: null }] };
    }
    yield { choices: [{ delta: {}, finish_reason: finish }] };
    yield { choices: [], usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 } };
    release();
  }

  interruptGenerate(): void {
    this.#interrupted = true;
  }

  unload(): Promise<void> {
    this.unloads++;
    return Promise.resolve();
  }
}

const make = (count: number): { engine: ReturnType<typeof webLLMEngine>; library: FakeWebLLM } => {
  const library = new FakeWebLLM(count);
  return {
    library,
    engine: webLLMEngine({ load: () => Promise.resolve(library), needs: { webGPU: false } }),
  };
};

describe('the adapter of WebLLM', () => {
  it('streams text, the end and what it cost', async () => {
    const { engine, library } = make(2);
    const parts = await all(
      engine.generate(request({ options: { temperature: 0.5 }, schema: { type: 'object' } })),
    );
    assert.deepEqual(parts, [
      { text: '0 ' },
      { text: '1 ' },
      { finish: 'stop' },
      { usage: { promptTokens: 4, completionTokens: 2, totalTokens: 6 } },
    ]);
    assert.deepEqual(library.requests, [
      {
        temperature: 0.5,
        messages: [{ role: 'user', content: 'hi' }],
        stream: true,
        stream_options: { include_usage: true },
        response_format: { type: 'json_object', schema: '{"type":"object"}' },
      },
    ]);
  });

  it('hands grammars and tools over', async () => {
    const { engine, library } = make(0);
    const tools = [{ type: 'function', function: { name: 'f' } }] as const;
    await all(engine.generate(request({ grammar: 'root ::= "a"', tools })));
    assert.deepEqual(library.requests[0]!['response_format'], {
      type: 'grammar',
      grammar: 'root ::= "a"',
    });
    assert.deepEqual(library.requests[0]!['tools'], tools);
  });

  it('refuses the options that the library ignores', async () => {
    const { engine, library } = make(0);
    await assert.rejects(all(engine.generate(request({ options: { top_k: 1, min_p: 0.1 } }))), {
      code: 'E_CHAT_INVALID_OPTIONS',
      details: ['`min_p` is not for engine webllm', '`top_k` is not for engine webllm'],
    });
    assert.deepEqual(library.requests, []);
  });

  it('gives the lock back when an answer is stopped, wherever it stands', async () => {
    const { engine, library } = make(1000);
    assert.equal(await abortAfter(2, (r) => engine.generate(r)), 2);
    assert.ok(library.decoded < 5, `decoded ${library.decoded}`);
    library.decoded = 0;
    // Aborted between create and the first chunk, where the library forgets that it was interrupted.
    const controller = new AbortController();
    const answer = (await engine.generate(request({ signal: controller.signal })))[
      Symbol.asyncIterator
    ]();
    const first = answer.next();
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    controller.abort();
    assert.equal((await first.catch(() => ({ done: true }))).done, true);
    assert.ok(library.decoded < 5, `decoded ${library.decoded}`);
    for await (const _ of await engine.generate(request())) break;
    assert.ok(library.decoded < 10, `decoded ${library.decoded}`);
  });

  it('stops one that waits without stopping the one that runs', async () => {
    const { engine } = make(20);
    const first = all(engine.generate(request()));
    await later();
    const waiting = abortAfter(0, (r) => engine.generate(r));
    assert.equal((await first).length, 22);
    assert.equal(await waiting, 0);
  });

  it('tells how loading goes, and unloads', async () => {
    const told: EngineProgress[] = [];
    const library = new FakeWebLLM(0);
    const engine = webLLMEngine({
      load: (report) => {
        report({ progress: 0.25, text: 'Fetching param cache' });
        report({ progress: 1, text: 'Loading GPU shader modules' });
        return Promise.resolve(library);
      },
      onProgress: (progress) => told.push(progress),
      needs: { webGPU: false },
    });
    await engine.load();
    await engine.dispose();
    assert.deepEqual(told, [
      { phase: 'loading' },
      { phase: 'loading', progress: 0.25, detail: 'Fetching param cache' },
      { phase: 'compiling', progress: 1, detail: 'Loading GPU shader modules' },
      { phase: 'ready' },
      { phase: 'disposed' },
    ]);
    assert.equal(library.unloads, 1);
  });

  it('needs WebGPU, and says so before it downloads anything', async () => {
    const gpu = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
    try {
      const engine = webLLMEngine({ load: () => assert.fail('loaded') });
      await assert.rejects(engine.load(), {
        code: 'E_MODEL_UNSUPPORTED',
        message: /this browser has no WebGPU/,
      });
    } finally {
      Object.defineProperty(globalThis, 'navigator', gpu ?? { value: undefined });
    }
  });

  it('cancels a download by the signal', async () => {
    const library = new FakeWebLLM(0);
    let cancelled = (): void => undefined;
    const engine = webLLMEngine({
      load: async (_, signal) => {
        signal.addEventListener('abort', () => void library.unload().then(cancelled));
        // As reload() does: it ends without an error.
        await new Promise<void>((resolve) => (cancelled = resolve));
        return library;
      },
      needs: { webGPU: false },
    });
    const loading = engine.load();
    await later();
    const disposed = engine.dispose();
    await assert.rejects(loading, /disposed of while it was loading/);
    await disposed;
    assert.equal(library.unloads, 2);
  });
});
