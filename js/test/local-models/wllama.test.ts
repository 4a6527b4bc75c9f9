/** The adapter of wllama, over a fake that does as the library does. The library itself runs in the browser's tests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type PageEngine, wllamaEngine, type WllamaLike } from '../../src/entries/models.js';
import { abortAfter, all, later, request } from './harness.js';

/** What a test lets the model say. */
type Script = (options: Record<string, unknown>) => readonly object[];

/**
 * Streams as wllama does: the signal is looked at before each chunk, and what goes wrong rejects the chunk that comes
 * next, whether somebody waits for it or not.
 */
class FakeWllama implements WllamaLike {
  requests: Record<string, unknown>[] = [];
  running = 0;
  exits = 0;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  createChatCompletion(given: never): Promise<unknown> {
    const options = given as Record<string, unknown>;
    this.requests.push(options);
    const signal = options['abortSignal'] as AbortSignal;
    const chunks = this.#script(options);
    const slots: {
      promise: Promise<unknown>;
      settle: (v: unknown) => void;
      fail: (e: unknown) => void;
    }[] = [];
    const slot = (): void => {
      let settle!: (v: unknown) => void;
      let fail!: (e: unknown) => void;
      const promise = new Promise((yes, no) => {
        settle = yes;
        fail = no;
      });
      slots.push({ promise, settle, fail });
    };
    slot();
    this.running++;
    const run = async (): Promise<void> => {
      for (const chunk of chunks) {
        if (signal.aborted)
          throw Object.assign(new Error('Operation aborted'), { name: 'AbortError' });
        await later();
        if (chunk instanceof Error) throw chunk;
        slots.at(-1)!.settle(chunk);
        slot();
      }
    };
    run()
      .then(
        () => slots.at(-1)!.settle(undefined),
        (error: unknown) => slots.at(-1)!.fail(error),
      )
      .finally(() => this.running--);
    async function* read(): AsyncGenerator {
      for (let i = 0; ; i++) {
        const chunk = await slots[i]!.promise;
        if (chunk === undefined) return;
        yield chunk;
      }
    }
    return Promise.resolve(read());
  }

  exit(): Promise<void> {
    this.exits++;
    return Promise.resolve();
  }
}

const text = (content: string | null): object => ({ choices: [{ delta: { content } }] });
const words = (count: number): object[] => Array.from({ length: count }, (_, i) => text(`${i} `));

function make(script: Script): { engine: PageEngine; wllama: FakeWllama } {
  const wllama = new FakeWllama(script);
  return { wllama, engine: wllamaEngine({ load: () => Promise.resolve(wllama) }) };
}

describe('the adapter of wllama', () => {
  it('takes grammars', () => {
    const { engine } = make(() => []);
    assert.equal(engine.name, 'wllama');
    assert.deepEqual(engine.capabilities, { grammar: 'gbnf' });
  });

  it('streams text, calls, the end and the timings', async () => {
    const { engine, wllama } = make(() => [
      { choices: [{ finish_reason: null, delta: { role: 'assistant', content: null } }] },
      { choices: [{ delta: { reasoning_content: 'hm' } }] },
      text('a'),
      {
        choices: [
          {
            delta: { tool_calls: [{ index: 0, id: 'x', function: { name: 'f', arguments: '{' } }] },
          },
        ],
      },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '}' } }] } }] },
      {
        choices: [{ finish_reason: 'tool_calls', delta: {} }],
        timings: { cache_n: 2, prompt_n: 5, predicted_n: 7 },
      },
    ]);
    const tools = [{ type: 'function', function: { name: 'f' } }] as const;
    const parts = await all(
      engine.generate(request({ options: { temperature: 0 }, tools, grammar: 'root ::= "a"' })),
    );
    assert.deepEqual(parts, [
      { reasoning: 'hm' },
      { text: 'a' },
      { toolCall: { index: 0, id: 'x', name: 'f', arguments: '{' } },
      { toolCall: { index: 0, arguments: '}' } },
      { finish: 'tool_calls' },
      { usage: { promptTokens: 7, completionTokens: 7, totalTokens: 14, cachedTokens: 2 } },
    ]);
    const { abortSignal, ...rest } = wllama.requests[0]!;
    assert.ok(abortSignal instanceof AbortSignal);
    assert.deepEqual(rest, {
      temperature: 0,
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      tools,
      grammar: 'root ::= "a"',
    });
  });

  it('asks for a schema as chat completions does', async () => {
    const { engine, wllama } = make(() => []);
    await all(engine.generate(request({ schema: { type: 'object' } })));
    assert.deepEqual(wllama.requests[0]!['response_format'], {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' } },
    });
  });

  it('stops when it is told to, and leaves no rejection behind', async () => {
    const { engine, wllama } = make(() => words(1000));
    assert.equal(await abortAfter(3, (r) => engine.generate(r)), 3);
    assert.equal(wllama.running, 0);
    assert.equal(await abortAfter(0, (r) => engine.generate(r)), 0);
    assert.equal(wllama.running, 0);
  });

  it('stops when nobody takes more', async () => {
    const { engine, wllama } = make(() => words(1000));
    for await (const _ of await engine.generate(request())) break;
    await later();
    assert.equal(wllama.running, 0);
  });

  it('fails with the words of the library', async () => {
    const { engine } = make(() => [text('a'), new Error('kv cache full')]);
    await assert.rejects(all(engine.generate(request())), /kv cache full/);
  });

  it('exits when it is disposed of', async () => {
    const { engine, wllama } = make(() => []);
    await engine.load();
    await engine.dispose();
    assert.equal(wllama.exits, 1);
  });
});
