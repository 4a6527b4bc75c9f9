/**
 * Summing up sessions.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTurncoreError } from '../../src/index.js';
import type { Compaction, Content, LlmAgent } from '../../src/entries/sessions.js';
import { skip } from '../turn/harness.js';
import { answers, failingStore, lines, llm, stage } from './setup.js';

const texts = (content: Content): string[] =>
  (content.parts ?? []).map((part) => (part as { text: string }).text);

describe('sessions that are summed up', { skip }, () => {
  it('show models the summary in place of the events before it', async () => {
    const told: string[][] = [];
    const summarize: Compaction['summarize'] = (ctx, events) => {
      assert.equal(ctx.session.events.length > 0, true);
      told.push(texts(events));
      return `sum ${told.length}`;
    };
    const model = answers('a1', 'a2', 'a3');
    const { say, load } = await stage({
      agent: llm('root', model),
      compaction: { invocations: 2, summarize },
    });
    await say('q1');
    assert.deepEqual(lines(await say('q2')), ['root: a2']);
    await say('q3');
    assert.deepEqual(told, [
      ['[user] said: q1', '[root] said: a1', '[user] said: q2', '[root] said: a2'],
    ]);
    assert.equal(model.requests.at(-1), 'user: sum 1 | user: q3');
    const { events } = await load();
    assert.deepEqual(lines(events).slice(4), ['system: sum 1', 'user: q3', 'root: a3']);
    assert.deepEqual(events[4]!.actions.compaction, { first: events[0]!.id, last: events[3]!.id });
  });

  it('take the model of the agent by default', async () => {
    const big = { content: { parts: [{ text: 'a1' }] }, usage: { promptTokens: 50 } };
    const model = answers(big, 'in short', 'a2');
    const { say } = await stage({ agent: llm('root', model), compaction: { tokens: 50 } });
    await say('q1');
    await say('q2');
    assert.deepEqual(model.requests, [
      'user: q1',
      'user: [user] said: q1 [root] said: a1',
      'user: in short | user: q2',
    ]);
  });

  it('end well where there is no summary, and the host is told', async () => {
    const reasons: string[] = [];
    const onError: Compaction['onError'] = (_, error) => reasons.push(error.message);
    const summarize = (): never => {
      throw new Error('no line');
    };
    const first = await stage({
      agent: llm('root', answers('a1')),
      compaction: { invocations: 1, summarize, onError },
    });
    assert.deepEqual(lines(await first.say('q1')), ['root: a1']);
    const second = await stage(
      {
        agent: llm('root', answers('a1')),
        compaction: { invocations: 1, summarize: () => 'sum', onError },
      },
      {},
      failingStore(3),
    );
    assert.deepEqual(lines(await second.say('q1')), ['root: a1']);
    assert.deepEqual(reasons, ['no line', 'append 3 fails']);
    assert.deepEqual(lines((await second.load()).events), ['user: q1', 'root: a1']);
  });

  it('hide nothing behind a summary without a text', async () => {
    const reasons: string[] = [];
    const call: Content = { parts: [{ functionCall: { name: 'f', args: {} } }] };
    const summaries = ['', { parts: [{ text: '' }] }, call];
    const model = answers('a1', 'a2', 'a3');
    const { say, load } = await stage({
      agent: llm('root', model),
      compaction: {
        invocations: 1,
        summarize: () => summaries.shift()!,
        onError: (_, error) => reasons.push(error.message),
      },
    });
    for (const text of ['q1', 'q2', 'q3']) await say(text);
    assert.deepEqual(reasons, Array(3).fill('the summary is empty'));
    assert.ok((await load()).events.every(({ author }) => author !== 'system'));
    assert.equal(model.requests.at(-1), 'user: q1 | model: a1 | user: q2 | model: a2 | user: q3');
  });

  it('tell the host of the error that was thrown, or of the module’s with its code', async () => {
    const own = new Error('no line');
    const told: unknown[] = [];
    const onError: Compaction['onError'] = (_, error) => told.push(error);
    const summarize = (): never => {
      throw own;
    };
    const compaction = { invocations: 1, onError };
    const agent = (): LlmAgent => llm('root', answers('a1'));
    await (await stage({ agent: agent(), compaction: { ...compaction, summarize } })).say();
    await (await stage({ agent: agent(), compaction, maxModelCalls: 1 })).say();
    assert.equal(told[0], own);
    assert.equal(isTurncoreError(told[1], 'E_MODEL_CALL_LIMIT'), true);
  });

  for (const [name, compaction] of [
    ['no threshold', {}],
    ['a fractional threshold', { invocations: 1.5 }],
    ['a negative overlap', { invocations: 1, overlap: -1 }],
    ['a text for a function', { invocations: 1, summarize: 'briefly' as never }],
    ['an object for a function', { invocations: 1, onError: {} as never }],
  ] as const) {
    it(`are refused with ${name}`, async () => {
      await assert.rejects(stage({ agent: llm('root', answers('x')), compaction }), (error) =>
        isTurncoreError(error, 'E_INVALID_AGENT'),
      );
    });
  }
});
