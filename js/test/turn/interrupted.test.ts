/**
 * Streams that were broken off. Go's tests play the same turns.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunner, type DispatchExecutorFn } from '../../src/index.js';
import { type MessageEvent } from '../../src/entries/events.js';
import { makeRun, runTurn, skip, testHost } from './harness.js';

const end = { isComplete: true, isInterrupted: true } as const;

/** What a turn tells of its streams, as JSON from the id to the time. */
async function told(executor: DispatchExecutorFn): Promise<string[]> {
  const { events } = await runTurn(executor);
  return events
    .filter(({ event }) => event === 'message' || event === 'thought')
    .map((event) => `${event.event} ${JSON.stringify(event)}`.replace(/\{.*"id":/, ''))
    .map((text) => text.replace(/,"createdAt".*/, ''));
}

describe('a stream that was broken off', { skip }, () => {
  it('is sealed, and its last event says so, also in JSON', async () => {
    const lines = await told((ctx, h) => {
      h.reportMessage('m', 'Hel');
      h.reportMessage('m', '', end);
      h.reportThought('m', 'hm', end);
      assert.throws(() => h.reportMessage('m', 'lo', { isComplete: true }), { name: 'Error' });
      assert.throws(() => h.reportMessage('m', '', end), { name: 'Error' });
      ctx.emitMessage({ id: 'e', full: 'x', aDelta: 'x', ...end });
      ctx.emitThought({ id: 'e', full: 'x', aDelta: 'x', ...end });
      ctx.ack();
    });
    assert.deepEqual(lines, [
      'message "m","aDelta":"Hel","length":3,"isComplete":false',
      'message "m","aDelta":"","length":3,"isComplete":true,"isInterrupted":true',
      'thought "m","aDelta":"hm","length":2,"isComplete":true,"isInterrupted":true',
      'message "e","aDelta":"x","length":1,"isComplete":true,"isInterrupted":true',
      'thought "e","aDelta":"x","length":1,"isComplete":true,"isInterrupted":true',
    ]);
  });

  it('has an event without the member where it was not', async () => {
    const { events } = await runTurn((ctx, h) => {
      h.reportMessage('m', 'x');
      h.reportMessage('m', '', { isComplete: true, isInterrupted: false });
      ctx.ack();
    });
    const messages = events.filter(({ event }) => event === 'message');
    assert.deepEqual(
      messages.map((event) => 'isInterrupted' in event),
      [false, false],
    );
  });

  it('must be complete', async () => {
    const refused = { code: 'E_INVALID_VALUE', message: /isInterrupted/ };
    const { names } = await runTurn((ctx, h) => {
      assert.throws(() => h.reportMessage('m', 'x', { isInterrupted: true }), refused);
      assert.throws(() => h.reportThought('m', 'x', { ...end, isComplete: false }), refused);
      const yes = 'yes' as unknown as boolean;
      assert.throws(() => h.reportMessage('m', 'x', { ...end, isInterrupted: yes }), refused);
      const content = { id: 'm', full: 'x', aDelta: 'x', isComplete: false, isInterrupted: true };
      assert.throws(() => ctx.emitMessage(content), refused);
      ctx.ack();
    });
    assert.ok(!names.includes('msg') && !names.includes('th'), names.join(' '));
  });

  it('can be passed on as the event that told of it', async () => {
    const run = await makeRun((ctx, h) => {
      let last: MessageEvent | undefined;
      run.runner.once('message', (event) => (last = event));
      h.reportMessage('m', 'x', end);
      ctx.emitMessage(last!);
      ctx.ack();
    });
    await run.runner.run({ systemPrompt: 'test' });
    const marks = run.events.flatMap((e) => (e.event === 'message' ? [e.isInterrupted] : []));
    assert.deepEqual(marks, [true, true]);
  });

  it('is emitted as it is when its listeners report meanwhile', async () => {
    const run = await makeRun((ctx, h) => {
      run.runner.once('message', () => h.reportMessage('b', 'z', { isComplete: true }));
      ctx.emitMessage({ id: 'a', full: 'so far', aDelta: 'far', ...end });
      ctx.ack();
    });
    await run.runner.run({ systemPrompt: 'test' });
    const texts = run.events.flatMap((e) =>
      e.event === 'message' ? [[e.id, e.full, e.isInterrupted]] : [],
    );
    assert.deepEqual(
      new Set(texts),
      new Set([
        ['a', 'so far', true],
        ['b', 'z', undefined],
      ]),
    );
  });

  it('is sealed without a mark by a module that does not know of it', async () => {
    const run = await makeRun((ctx, h) => {
      h.reportMessage('m', 'Hel', end);
      ctx.emitMessage({ id: 'e', full: 'x', aDelta: 'x', ...end });
      assert.throws(() => h.reportMessage('m', ''), { name: 'Error' });
      ctx.ack();
    });
    await run.runner.run({ systemPrompt: 'test' });
    const marks = (): unknown[] =>
      run.events
        .filter((event) => event.event === 'message')
        .map(({ isComplete, isInterrupted }) => [isComplete, isInterrupted]);
    assert.deepEqual(marks(), [
      [true, true],
      [true, true],
    ]);
    run.events.length = 0;
    Object.defineProperty(run.runner.host.ready()!.instance, 'features', { value: 15 });
    await run.runner.run({ systemPrompt: 'test' });
    assert.deepEqual(marks(), [
      [true, undefined],
      [true, undefined],
    ]);
  });

  it('is not sealed by the host when the instance dies, and the result says what it is', async () => {
    const runner = createRunner({
      host: await testHost(),
      executor: (_, h) => {
        h.reportMessage('m', 'Hel');
        runner.host.ready()!.fail('killed by the test');
      },
    });
    const ends: boolean[] = [];
    runner.on('message', ({ isComplete }) => ends.push(isComplete));
    const { status, text, interrupted } = await runner.stream({ message: 'x' }).result;
    assert.deepEqual([status, text, interrupted, ends], ['failed', 'Hel', true, [false]]);
  });
});
