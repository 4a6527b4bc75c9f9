/**
 * Text that comes in pieces which part characters. Go's tests play the same turns.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type MessageEvent } from '../../src/entries/events.js';
import { runTurn, skip } from './harness.js';

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
});
