/**
 * The facade of a runner whose turns run elsewhere, over a place that lies in the same process.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  isTurncoreError,
  type TurnEvent,
  TurncoreError,
  type TurnStream,
} from '../../src/index.js';
import { TurnStartEvent } from '../../src/events/events.js';
import { type RemoteInput, RemoteRunner } from '../../src/entries/remote.js';
import { setHead } from '../../src/events/base-event.js';
import { type Settlement, TurnGateClosedEvent } from '../../src/events/turn-gate.js';
import type { RemoteTurn, TurnPlace } from '../../src/remote/remote-runner.js';
import type { TurnEnd } from '../../src/sse/turn-end.js';

const ack: TurnEnd = { status: 'ack', iterations: 1, error: undefined, object: { n: 1 } };

/** A place whose turns end when the test says so. */
class Place implements TurnPlace<RemoteInput> {
  readonly turns: RemoteTurn<RemoteInput>[] = [];
  readonly ends: ((end: TurnEnd | PromiseLike<TurnEnd>) => void)[] = [];
  readonly settled: (readonly [turn: string, gate: string, by: Settlement])[] = [];
  refusal: unknown;

  start(turn: RemoteTurn<RemoteInput>): Promise<TurnEnd> {
    this.turns.push(turn);
    return new Promise((resolve) => this.ends.push(resolve));
  }

  settle(turnId: string, gateId: string, settlement: Settlement): Promise<void> {
    this.settled.push([turnId, gateId, settlement]);
    if (this.refusal === undefined) return Promise.resolve();
    return Promise.reject(TurncoreError.of('E_TURN_GATE_SETTLED'));
  }
}

function withHead<E extends TurnEvent>(event: E, seq: number, turnId: string): E {
  setHead(event, seq, 5, turnId, undefined, -1);
  return event;
}

function closed(gateId: string, turnId: string): TurnGateClosedEvent {
  const event = Object.assign(new TurnGateClosedEvent(), { gateId, result: 'resolved' as const });
  return withHead(event, 9, turnId);
}

const question = { id: 'g', reason: '?', payload: 1, createdAt: 2, digest: 'd' };

async function eventsOf(stream: TurnStream): Promise<string[]> {
  const names: string[] = [];
  for await (const event of stream) names.push(event.event);
  return names;
}

describe('a runner whose turns run elsewhere', () => {
  it('tells streams and listeners of events, and ends with the turn', async () => {
    const place = new Place();
    const runner = new RemoteRunner(place);
    const heard: string[] = [];
    runner.observe('turnStart', ({ turnId }) => heard.push(turnId!));
    const stream = runner.stream({ message: 'hi', turnId: 't' });
    const [turn] = place.turns;
    assert.deepEqual([turn!.id, turn!.input], ['t', { message: 'hi', turnId: 't' }]);
    turn!.event(withHead(new TurnStartEvent(), 1, 't'));
    place.ends[0]!(ack);
    assert.deepEqual(await eventsOf(stream), ['turnStart']);
    assert.deepEqual(heard, ['t']);
    const { status, object } = await stream.result;
    assert.deepEqual([status, object], ['ack', { n: 1 }]);
  });

  it('attaches to a running turn, and names turns without an id', async () => {
    const place = new Place();
    const runner = new RemoteRunner(place);
    const first = runner.stream({ turnId: 't' });
    assert.equal(runner.stream({ turnId: 't' }), first);
    runner.stream({});
    const ran = runner.run({ turnId: 't' });
    assert.equal(place.turns.length, 2);
    assert.match(place.turns[1]!.id, /^[0-9a-f-]{36}$/);
    place.ends[0]!(ack);
    await ran;
    runner.stream({ turnId: 't' });
    assert.equal(place.turns.length, 3);
  });

  it('aborts by the stream, by leaving its loop and by a signal', async () => {
    const place = new Place();
    const runner = new RemoteRunner(place);
    runner.stream({}).abort();
    const looped = runner.stream({});
    place.turns[1]!.event(withHead(new TurnStartEvent(), 1, 't'));
    for await (const _ of looped) break;
    const controller = new AbortController();
    runner.stream({ signal: controller.signal });
    assert.equal(place.turns[2]!.signal.aborted, false);
    controller.abort(new Error('why'));
    runner.stream({ signal: controller.signal });
    assert.deepEqual(
      place.turns.map(({ signal }) => signal.aborted),
      [true, true, true, true],
    );
    assert.equal((place.turns[2]!.signal.reason as Error).message, 'why');
  });

  it('settles gates', async () => {
    const place = new Place();
    const runner = new RemoteRunner(place);
    runner.stream({ turnId: 't' });
    const [turn] = place.turns;
    const open = withHead(turn!.gate(question), 1, 't');
    turn!.event(open);
    assert.equal(runner.gate('g'), open);
    assert.equal(runner.gate('g', 'other'), undefined);
    assert.deepEqual(runner.gates(), [open]);

    await open.resolve(true);
    await open.resolve(true, { digest: 'x' });
    await assert.rejects(async () => open.resolve(1, { digest: '' }), {
      code: 'E_INVALID_TURN_GATE_RESOLUTION',
    });
    const no = new Error('no');
    await open.reject(no);
    await open.abort();
    assert.deepEqual(place.settled, [
      ['t', 'g', { by: 'resolve', value: true, digest: 'd' }],
      ['t', 'g', { by: 'resolve', value: true, digest: 'x' }],
      ['t', 'g', { by: 'reject', error: no }],
      ['t', 'g', { by: 'abort' }],
    ]);
    place.refusal = true;
    await assert.rejects(async () => open.abort(), { code: 'E_TURN_GATE_SETTLED' });

    turn!.event(closed('g', 't'));
    assert.ok(open.isSettled);
    assert.deepEqual(runner.gates(), []);
    await assert.rejects(async () => open.resolve(), { code: 'E_TURN_GATE_SETTLED' });
    assert.equal(place.settled.length, 5);
  });

  it('closes the gates of a turn that has ended', async () => {
    const place = new Place();
    const runner = new RemoteRunner(place);
    const stream = runner.stream({ turnId: 't' });
    const gate = withHead(place.turns[0]!.gate(question), 1, 't');
    place.turns[0]!.event(gate);
    place.ends[0]!(Promise.reject(TurncoreError.of('E_TURN_STREAM_CUT')));
    const { status, error } = await stream.result;
    assert.deepEqual([status, isTurncoreError(error, 'E_TURN_STREAM_CUT')], ['failed', true]);
    assert.ok(gate.isSettled);
    assert.deepEqual(runner.gates(), []);
  });

  it('rejects run when the end cannot be told', async () => {
    const place = new Place();
    const ran = new RemoteRunner(place).run({});
    place.ends[0]!(Promise.reject(TurncoreError.of('E_TURN_STREAM_CUT')));
    await assert.rejects(ran, { code: 'E_TURN_STREAM_CUT' });
  });

  it('reports the error of a listener once', async (t) => {
    const logged = t.mock.method(console, 'error', () => undefined);
    const place = new Place();
    const runner = new RemoteRunner(place);
    const no = new Error('no');
    runner.observe('turnStart', () => {
      throw no;
    });
    const errors: unknown[] = [];
    runner.observe('error', (error) => {
      errors.push(error);
      throw no;
    });
    const stream = runner.stream({});
    place.turns[0]!.event(withHead(new TurnStartEvent(), 1, 't'));
    place.ends[0]!(ack);
    assert.deepEqual(await eventsOf(stream), ['turnStart', 'error']);
    assert.equal(errors.length, 1);
    assert.ok(isTurncoreError(errors[0], 'E_LISTENER_ERROR'));
    assert.equal(errors[0].cause, no);
    assert.equal(logged.mock.callCount(), 1);
  });

  it('rejects an input that is none', () => {
    const runner = new RemoteRunner(new Place());
    const bad = [
      null,
      'hi',
      { turnId: 1 },
      { turnId: '' },
      { signal: {} },
    ] as unknown as RemoteInput[];
    for (const input of bad) assert.throws(() => runner.stream(input), { code: 'E_INVALID_VALUE' });
  });
});
