/**
 * Text that comes in pieces which part characters. Go's tests play the same turns.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunner, Tool } from '../../src/index.js';
import { type MessageEvent } from '../../src/entries/events.js';
import { fullModule, runTurn, skip, testHost } from './harness.js';

const text = 'né 😀, 日本😁!';

describe('text in pieces of one unit', { skip }, () => {
  it('is reported in whole characters, each stream by itself', async () => {
    const { events } = await runTurn((ctx, h) => {
      for (const unit of text.split('')) {
        h.reportMessage('m', unit);
        h.reportThought('m', unit);
      }
      h.reportMessage('m', '', { isComplete: true });
      h.reportThought('m', '\ud83d', { isComplete: true });
      ctx.ack();
    });
    const told = events.filter((e) => e.event === 'message');
    assert.equal(told.map((e) => e.aDelta).join(''), text);
    assert.ok(told.every((e) => !e.aDelta.includes('\ufffd')));
    assert.equal(told.at(-1)?.full, text);
    const thoughts = events.filter((e) => e.event === 'thought') as unknown as MessageEvent[];
    assert.equal(thoughts.at(-1)?.full, `${text}\ufffd`);
  });

  it('is whole in the answer of an engine, and in the arguments of a call', async () => {
    const seen: unknown[] = [];
    let calls = 0;
    const runner = createRunner({
      model: {
        async *generate() {
          if (++calls === 1) {
            const args = JSON.stringify({ text });
            yield { toolCall: { index: 0, id: 'c', name: 'say' } };
            for (const unit of args.split('')) yield { toolCall: { index: 0, arguments: unit } };
            return;
          }
          for (const unit of text.split('')) yield { reasoning: unit };
          for (const unit of text.split('')) yield { text: unit };
        },
        capabilities: { tools: 'native' },
      },
      tools: [
        new Tool({
          name: 'say',
          description: 'Says something.',
          inputSchema: { type: 'object' },
          handler: (args) => void seen.push(args),
        }),
      ],
      host: await testHost({ module: await fullModule() }),
    });
    const stream = runner.stream({ message: 'hi' });
    const thoughts: string[] = [];
    for await (const event of stream) if (event.event === 'thought') thoughts.push(event.aDelta);
    const result = await stream.result;
    assert.equal(result.text, text);
    assert.deepEqual(seen, [{ text }]);
    assert.equal(thoughts.join(''), text);
  });
});
