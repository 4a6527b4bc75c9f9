// What the example does on every host.
import assert from 'node:assert/strict';

/** Plays a message, a tool, a gate and a retry. @param client of a conversation */
export async function plays({ say, sayAndAnswer }) {
  const hello = await say('hello', 'hello');
  assert.equal(hello.status, 'ack');
  assert.match(hello.answer, /hello/);
  assert.deepEqual(await say('hello', 'hello'), hello);
  assert.deepEqual((await say('How is the weather in Oslo?', 'tool')).tools, ['get_weather']);
  const transfer = await sayAndAnswer('Please transfer money to Grace.', true, 'gate');
  assert.match(transfer.answer, /Grace has the money/);
}
