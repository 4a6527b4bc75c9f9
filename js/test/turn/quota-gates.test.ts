/**
 * What turns may make their instance hold: the one that passes a bound fails, and nobody else.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { Host, TurnRunner } from '../../src/index.js';
import { codeOf, message, recordingCallbacks, skip, testHost } from './harness.js';

const GATES = 100;
const GROWING = 10;
const PIECES = 10;
const PIECE = 'x'.repeat(6 << 20);

it('ten turns that grow to 60 MiB each beside 100 open gates cost no gate', { skip }, async () => {
  // No journals: what fails here fails by what other turns hold.
  const host = new Host({ ...(await testHost({ journal: undefined })), verify: false });
  const waiting = new TurnRunner({
    ...recordingCallbacks([]),
    executorCallback: async (ctx) => {
      await ctx.waitFor({
        id: 'g',
        reason: 'Go on?',
        payload: null,
        createdAt: 1000,
        schema: { type: 'boolean' },
      });
      ctx.ack();
    },
    host,
  });
  const ended: string[] = [];
  waiting.observe('turnEnd', (event) => ended.push(event.status));
  let opened = 0;
  const open = new Promise<void>((resolve) => {
    waiting.observe('turnGateOpen', () => {
      if (++opened === GATES) resolve();
    });
  });
  const runs = Array.from({ length: GATES }, () => waiting.run({ systemPrompt: 'test' }));
  await open;

  let filled = 0;
  let release!: () => void;
  const all = new Promise<void>((resolve) => (release = resolve));
  const growing = new TurnRunner({
    ...recordingCallbacks([]),
    executorCallback: async (ctx) => {
      try {
        for (let n = 0; n < PIECES; n++)
          await ctx.storeMessage(message(`m${n}`, 'assistant', PIECE));
      } finally {
        if (++filled === GROWING) release();
        await all; // so that none makes room for another
      }
      ctx.ack();
    },
    host,
  });
  const results = await Promise.all(
    Array.from({ length: GROWING }, () => growing.stream({ systemPrompt: 'test' }).result),
  );
  const fine = results.filter((r) => r.status === 'ack').length;
  const refused = results.filter(
    (r) => r.status === 'failed' && codeOf(r.error) === 'E_TURN_QUOTA_EXCEEDED',
  ).length;
  assert.ok(fine > 0 && refused > 0, `${fine} found room, ${refused} did not`);
  assert.equal(fine + refused, GROWING);

  const gates = waiting.gates();
  assert.equal(gates.length, GATES);
  for (const gate of gates) gate.resolve(true);
  await Promise.all(runs);
  assert.deepEqual(
    ended,
    Array.from({ length: GATES }, () => 'ack'),
  );
});
