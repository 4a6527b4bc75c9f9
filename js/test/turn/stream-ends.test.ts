/**
 * How a loop over a turn's events ends, and what its result tells.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type DispatchExecutorFn, TurncoreError, type TurnStream } from '../../src/index.js';
import { makeRun, short, skip } from './harness.js';

/** Goes through a stream. @returns the names of its events and what the loop threw */
async function loop(stream: TurnStream): Promise<{ names: string[]; thrown: unknown }> {
  const names: string[] = [];
  try {
    for await (const event of stream) names.push(short(event));
  } catch (thrown) {
    return { names, thrown };
  }
  return { names, thrown: undefined };
}

async function streamOf(executor: DispatchExecutorFn, config = {}): Promise<TurnStream> {
  const { runner } = await makeRun(executor, config);
  return runner.stream({ systemPrompt: 'test' });
}

describe('a loop over the events of a turn', { skip }, () => {
  const no = new Error('no');

  it('throws what the turn was nacked with, after the last event, and again in a second loop', async () => {
    const stream = await streamOf((ctx) => ctx.nack(no));
    for (const { names, thrown } of [await loop(stream), await loop(stream)]) {
      assert.equal(names.at(-1), 'tE(nack)');
      assert.equal(thrown, no);
    }
    const { status, error } = await stream.result;
    assert.deepEqual([status, error], ['nack', no]);
  });

  it('throws what the turn failed with', async () => {
    const fail = (): never => {
      throw no;
    };
    const stream = await streamOf((ctx) => ctx.ack(), { turnInputPipeline: [fail] });
    const { names, thrown } = await loop(stream);
    assert.equal(names.at(-1), 'tE(failed)');
    assert.equal((thrown as Error).cause, no);
    assert.equal((await stream.result).error, thrown);
  });

  it('ends quietly when the turn was aborted or acked', async () => {
    const aborted = await streamOf((ctx) => ctx.abort(no));
    assert.deepEqual((await loop(aborted)).thrown, undefined);
    assert.equal((await aborted.result).status, 'aborted');
    const acked = await streamOf((ctx) => ctx.ack());
    assert.deepEqual((await loop(acked)).thrown, undefined);
  });

  it('of partial objects throws the same', async () => {
    const stream = await streamOf((ctx) => ctx.nack(no));
    await assert.rejects(
      async () => {
        for await (const _ of stream.partialObjects()) assert.fail('no object');
      },
      (thrown) => thrown === no,
    );
  });
});

describe('the JSON of a result', { skip }, () => {
  it('keeps code, message and cause of an error', async () => {
    const cause = new RangeError('too long');
    const error = new TurncoreError('E_MINE', 'mine', { cause });
    const result = await (await streamOf((ctx) => ctx.nack(error))).result;
    const json = (await Response.json(result).json()) as Record<string, unknown>;
    assert.deepEqual(json['error'], {
      code: 'E_MINE',
      message: 'mine',
      cause: { code: 'RangeError', message: 'too long' },
    });
    assert.deepEqual([json['status'], json['iterations']], ['nack', 1]);
    assert.equal(result.error, error);
  });

  it('keeps those of a plain error, and leaves out none', async () => {
    const failed = await (await streamOf((ctx) => ctx.nack(new Error('plain')))).result;
    assert.deepEqual(failed.toJSON()['error'], { code: 'Error', message: 'plain' });
    const { result } = await streamOf((ctx, h) => {
      h.reportMessage('m', 'done', { isComplete: true });
      ctx.ack();
    });
    const ended = await result;
    assert.deepEqual(JSON.parse(JSON.stringify(ended)), {
      status: 'ack',
      text: 'done',
      interrupted: false,
      toolCalls: [],
      usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
      iterations: 1,
    });
    assert.deepEqual(structuredClone(ended), ended);
  });
});
