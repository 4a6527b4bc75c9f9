// The memory of instances in an isolate of 128 MB.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { startWorkerd } from './start.mjs';

const MiB = 2 ** 20;
/** Turns to play; the README of examples/edge states figures for 1,000. */
const TURNS = process.env.TURNCORE_LONG ? 1000 : 160;
const AT_ONCE = 8;

let workerd;
beforeEach(async () => {
  workerd = await startWorkerd('127.0.0.1:9', { worker: 'memory.worker.mjs' });
});
afterEach(() => workerd?.stop());

async function say(conversation, message) {
  const response = await fetch(`${workerd.address}/conversations/${conversation}/turns`, {
    method: 'POST',
    body: JSON.stringify({ message }),
  });
  const text = await response.text();
  assert.match(text, /event:end\ndata:{"status":"ack"/);
}

/** Bytes of the memory of each instance. */
async function memories() {
  const response = await fetch(`${workerd.address}/memory`);
  return response.json();
}

test('turns, eight at a time, take one instance of at most 16 MiB', async () => {
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, i) => {
      for (let turn = 0; turn < TURNS / AT_ONCE; turn++) {
        const message = turn % 2 === 0 ? 'How is the weather in Oslo?' : 'hello '.repeat(40);
        await say(`c${i}-${Math.trunc(turn / 25)}`, message);
      }
    }),
  );
  const [first, ...others] = await memories();
  console.log(`${TURNS} turns: ${(first / MiB).toFixed(1)} MiB`);
  assert.deepEqual(others, []);
  assert.ok(first > 0 && first <= 16 * MiB, `${first} bytes`);
});

test('an instance beyond 24 MiB takes no more turns, and none grows beyond 48 MiB', async () => {
  const { length: before } = await memories();
  const long = 'x'.repeat(900_000);
  for (let turn = 0; turn < 24; turn++) {
    await say(`long${Math.trunc(turn / 3)}`, `"${long}"`);
    const bytes = await memories();
    assert.ok(
      bytes.every((each) => each <= 48 * MiB),
      `${bytes}`,
    );
    if (bytes.length > before) return;
  }
  assert.fail(`one instance has ${await memories()} bytes`);
});

test('instances whose turns wait have less than 96 MiB together, and further turns are refused', async () => {
  const turns = `${workerd.address}/holders/turns`;
  const waiting = [];
  let refusal;
  let most = 0;
  for (let turn = 0; turn < 100 && refusal === undefined; turn++) {
    const turnId = `t${turn}`;
    const body = JSON.stringify({ message: '6', sessionId: turnId, turnId });
    const response = await fetch(turns, { method: 'POST', body });
    if (response.ok) {
      await gateIn(response.body);
      waiting.push(turnId);
    } else {
      refusal = { status: response.status, ...(await response.json()).error };
    }
    const bytes = await memories();
    most = Math.max(
      most,
      bytes.reduce((sum, each) => sum + each, 0),
    );
    assert.ok(bytes.length <= 2 && most <= 96 * MiB, `${bytes}`);
  }
  console.log(`${waiting.length} turns wait in ${(most / MiB).toFixed(1)} MiB`);
  assert.deepEqual([refusal?.status, refusal?.code], [503, 'E_OVERLOADED']);
  assert.ok(most > 48 * MiB, `${most} bytes`);
  for (const turnId of waiting) {
    const { status } = await fetch(`${turns}/${turnId}/abort`, { method: 'POST' });
    assert.equal(status, 204);
  }
  const body = JSON.stringify({ message: '6', turnId: 'after' });
  const response = await fetch(turns, { method: 'POST', body });
  assert.equal(response.status, 200);
  await gateIn(response.body);
});

test('a turn that holds as much as a turn may stays below the bound of an instance', async () => {
  const body = JSON.stringify({ message: '30', turnId: 'large' });
  const response = await fetch(`${workerd.address}/holders/turns`, { method: 'POST', body });
  await gateIn(response.body);
  const [bytes, ...others] = await memories();
  console.log(`15 MB in ${(bytes / MiB).toFixed(1)} MiB`);
  assert.deepEqual(others, []);
  assert.ok(bytes <= 48 * MiB, `${bytes} bytes`);
});

/** Reads the events of a turn until it waits at a gate. The response stays open. */
async function gateIn(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; !text.includes('turnGateOpen');) {
    const { value, done } = await reader.read();
    assert.ok(!done, text.slice(-300));
    text += value;
  }
  // What comes later is read and dropped.
  void (async () => {
    while (!(await reader.read()).done);
  })().catch(() => undefined);
}
