import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { MessageEvent } from '../../src/events/events.js';
import { EventLog } from '../../src/sse/event-log.js';

/** What an event without text counts as. */
const COST = 256;

function delta(aDelta: string): MessageEvent {
  return new MessageEvent('m', aDelta, '', 0, false, false, 1, 1);
}

function count(log: EventLog): number {
  let events = 0;
  while (log.at(log.first + events) !== undefined) events++;
  return events;
}

describe('the log of a turn’s events', () => {
  it('keeps the last events within its bound', () => {
    const log = new EventLog();
    log.keep(10 * COST);
    for (let i = 0; i < 1000; i++) {
      log.push(delta(''));
      assert.ok(log.size <= 10 * COST && count(log) <= 10);
    }
    assert.throws(() => log.at(0), { code: 'E_TURN_EVENTS_LOST' });
    assert.equal(log.first + count(log), 1000);
  });

  it('keeps what is in front of an event that is over the bound', () => {
    const log = new EventLog();
    log.keep(40 * COST);
    for (let i = 0; i < 9; i++) log.push(delta(''));
    log.push(delta('x'.repeat(50 * COST)));
    log.push(delta(''));
    assert.deepEqual([log.first, count(log), log.size], [0, 11, 20 * COST]);
  });

  it('keeps four large events at most, whether the bound was there before or after', () => {
    const [early, late] = [new EventLog(), new EventLog()];
    early.keep(40 * COST);
    for (let i = 0; i < 100; i++) {
      for (const log of [early, late]) log.push(delta('x'.repeat(50 * COST)));
      assert.ok(count(early) <= 4);
    }
    late.keep(40 * COST);
    assert.deepEqual([count(late), late.size], [3, 30 * COST]);
    late.keep(100 * COST);
    assert.deepEqual([count(late), late.size], [3, 30 * COST]);
  });
});
