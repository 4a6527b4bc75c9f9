/**
 * Booleans of reports and emitted events that are none: refused by the name of the field, and nobody is told.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { runTurn, skip } from './harness.js';

describe('what is to be a boolean', { skip }, () => {
  it('is refused when it is none, and nobody is told', async () => {
    const run = await runTurn((ctx, helpers) => {
      const text = { id: 'm', full: 'x', aDelta: 'x' };
      const call = { id: 'c', tool: 't' };
      const end = { toolName: 't', callId: 'c' };
      for (const wrong of ['yes', 1, {}] as never[]) {
        for (const [field, report] of [
          ['isComplete', () => helpers.reportMessage('m', 'x', { isComplete: wrong })],
          ['isComplete', () => helpers.reportThought('m', 'x', { isComplete: wrong })],
          ['isComplete', () => helpers.reportToolCall('c', { isComplete: wrong })],
          ['isError', () => helpers.reportToolCall('c', { isError: wrong })],
          ['isComplete', () => ctx.emitMessage({ ...text, isComplete: wrong })],
          ['isComplete', () => ctx.emitToolCall({ ...call, isComplete: wrong })],
          ['isError', () => ctx.emitToolCall({ ...call, isComplete: true, isError: wrong })],
          ['isError', () => ctx.emitToolExecutionEnd({ ...end, isError: wrong })],
        ] as const) {
          assert.throws(report, { code: 'E_INVALID_VALUE', details: { field } });
        }
      }
      for (const options of [5, 'complete', []] as never[]) {
        assert.throws(() => helpers.reportMessage('m', 'x', options), {
          details: { field: 'options' },
        });
      }
      helpers.reportToolCall('c', { tool: 't', isError: undefined, isComplete: undefined });
      helpers.reportMessage('m', 'x', { isComplete: true });
      ctx.ack();
    });
    assert.deepEqual(run.names.slice(3, 5), ['tc(false)', 'msg']);
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
  });
});
