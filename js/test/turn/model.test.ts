/**
 * Answers of engines: what the host makes of an engine that generates, fails, talks nonsense or never ends.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { EffectKind, Op } from '../../src/abi/frames.gen.js';
import { ChatExecutor, isTurncoreError } from '../../src/index.js';
import type { ModelEngine, ModelPart, ModelRequest } from '../../src/chat/model-engine.js';
import { fakeTurn } from './fake-instance.js';

/** What the module gets of an answer: the lines, then how it ended. */
interface Answer {
  text: string;
  chunks: Uint8Array[];
  /** Nothing, or the error of the Result. */
  failed: { code: string; message: string } | undefined;
  settled: Promise<void>;
}

const REQUEST = { messages: [{ role: 'user', content: 'hi' }], options: { seed: 1 } };

/** Lets an engine answer in a turn whose module asks for one answer, and cancels it a moment later if it is to. */
function ask(generate: ModelEngine['generate'], { model = 'engine', cancel = false } = {}): Answer {
  const executor = new ChatExecutor({ engine: { generate } });
  let settle: () => void;
  const answer: Answer = {
    text: '',
    chunks: [],
    failed: undefined,
    settled: new Promise((resolve) => (settle = resolve)),
  };
  const body = new TextEncoder().encode(JSON.stringify(REQUEST));
  fakeTurn((frame) => {
    switch (frame[0]) {
      case Op.StartTurn:
        return [
          [Op.Effect, frame[1], 1, EffectKind.Model, 0, '', 1, [model, body, []]],
          ...(cancel ? [[Op.Timer, frame[1], 5]] : []),
        ];
      case Op.Chunk:
        assert.equal(frame[4], 0);
        answer.chunks.push(frame[6] as Uint8Array);
        answer.text += new TextDecoder().decode(frame[6] as Uint8Array);
        return [];
      case Op.Result: {
        const error = frame[4] as unknown[] | null;
        if (error !== null) {
          answer.failed = { code: error[2] as string, message: error[3] as string };
        }
        settle();
        return [[Op.End, frame[1], 0, 0, null]];
      }
      case Op.Tick:
        return [[Op.Cancel, frame[1], 1]];
      default:
        return [];
    }
  }, executor);
  return answer;
}

async function* parts(list: readonly unknown[]): AsyncGenerator<ModelPart> {
  for (const part of list) {
    await Promise.resolve();
    yield part as ModelPart;
  }
}

describe('an engine', () => {
  it('is given the request and a signal, and its parts cross as lines', async () => {
    let request: ModelRequest | undefined;
    const answer = ask((r) => {
      request = r;
      return parts([
        { text: 'a\n"b"', reasoning: 'r' },
        { toolCall: { index: 0, id: 'c', name: 'n', arguments: '{' } },
        { usage: { promptTokens: 3 }, finish: 'stop', text: undefined },
      ]);
    });
    await answer.settled;
    const { signal, ...rest } = request!;
    assert.deepEqual(rest, REQUEST);
    assert.ok(signal instanceof AbortSignal && !signal.aborted);
    assert.equal(answer.failed, undefined);
    assert.equal(
      answer.text,
      '{"reasoning":"r","text":"a\\n\\"b\\""}\n' +
        '{"toolCall":{"index":0,"id":"c","name":"n","arguments":"{"}}\n' +
        '{"usage":{"promptTokens":3},"finish":"stop"}\n',
    );
  });

  it('may promise its parts', async () => {
    const answer = ask(() => Promise.resolve(parts([{ text: 'later' }])));
    await answer.settled;
    assert.equal(answer.text, '{"text":"later"}\n');
  });

  it('may say much at once: it crosses in pieces', async () => {
    const text = 'ä'.repeat(100_000);
    const answer = ask(() => parts([{ text }]));
    await answer.settled;
    assert.equal(answer.chunks.length, 4);
    assert.ok(answer.chunks.every((chunk) => chunk.length <= 64 << 10));
    const bytes = Buffer.concat(answer.chunks).toString();
    assert.deepEqual(JSON.parse(bytes), { text });
  });

  it('that fails fails the effect with its words', async () => {
    const boom = (): never => {
      throw new Error('out of memory');
    };
    const late = async function* (): AsyncGenerator<ModelPart> {
      yield { text: 'x' };
      await Promise.resolve();
      boom();
    };
    for (const generate of [boom, () => Promise.reject(new Error('out of memory')), late]) {
      const answer = ask(generate);
      await answer.settled;
      assert.equal(answer.failed?.code, 'E_MODEL_FAILED');
      assert.match(answer.failed.message, /: out of memory$/);
    }
  });

  it('that talks nonsense is left, and told so', async () => {
    let left = false;
    const answer = ask(async function* () {
      try {
        yield { text: 'x' };
        yield { content: 'y' } as ModelPart;
      } finally {
        left = true;
        await Promise.resolve();
      }
    });
    await answer.settled;
    await Promise.resolve();
    assert.equal(answer.failed?.code, 'E_MODEL_INVALID_PART');
    assert.match(answer.failed.message, /`content` is not a known field/);
    assert.equal(answer.text, '{"text":"x"}\n');
    assert.ok(left);
  });

  it('that gives no parts is told so', async () => {
    for (const nothing of [undefined, null, 'text', ['text'], { text: 'x' }]) {
      const answer = ask(() => nothing as never);
      await answer.settled;
      assert.equal(answer.failed?.code, 'E_MODEL_FAILED');
      assert.match(answer.failed.message, /generate must give an async iterable/);
    }
  });

  it('of another name is not there', async () => {
    const answer = ask(() => parts([{ text: 'x' }]), { model: 'other' });
    await answer.settled;
    assert.equal(answer.failed?.code, 'E_MODEL_UNKNOWN');
  });

  it('that never ends is stopped at once, whatever it does about its signal', async () => {
    const never = new Promise<never>(() => undefined);
    let signal: AbortSignal | undefined;
    const engines: ModelEngine['generate'][] = [
      () => never,
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) }),
      () => ({
        [Symbol.asyncIterator]: () => ({ next: () => never, return: () => never }),
      }),
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => never,
          return: () => Promise.reject(new Error('no')),
        }),
      }),
      async function* () {
        yield { text: 'x' };
        await never;
      },
    ];
    for (const generate of engines) {
      const answer = ask(
        (r) => {
          signal = r.signal;
          return generate(r);
        },
        { cancel: true },
      );
      await answer.settled;
      assert.ok(signal?.aborted);
      assert.ok(answer.failed);
      assert.notEqual(answer.failed.code, 'E_MODEL_FAILED');
    }
  });

  it('must have a function', () => {
    for (const engine of [null, {}, { generate: 1 }]) {
      assert.throws(
        () => new ChatExecutor({ engine: engine as never }),
        (error) => {
          assert.ok(isTurncoreError(error, 'E_CHAT_INVALID_OPTIONS'), String(error));
          assert.match(error.message, /`engine.generate` must be a function/);
          return true;
        },
      );
    }
  });
});
