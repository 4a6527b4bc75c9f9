// The memory of instances in an isolate of 128 MB.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startWorkerd } from './start.mjs';

const MiB = 2 ** 20;
/** Turns to play; the README of examples/edge states figures for 1,000. */
const TURNS = process.env.TURNCORE_LONG ? 1000 : 160;
const AT_ONCE = 8;

let workerd;
before(async () => {
  workerd = await startWorkerd('127.0.0.1:9', { worker: 'memory.worker.mjs' });
});
after(() => workerd?.stop());

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

test('an instance beyond 24 MiB takes no more turns, and none grows beyond 64 MiB', async () => {
  const { length: before } = await memories();
  const long = 'x'.repeat(900_000);
  for (let turn = 0; turn < 24; turn++) {
    await say(`long${Math.trunc(turn / 3)}`, `"${long}"`);
    const bytes = await memories();
    assert.ok(
      bytes.every((each) => each <= 64 * MiB),
      `${bytes}`,
    );
    if (bytes.length > before) return;
  }
  assert.fail(`one instance has ${await memories()} bytes`);
});
