// The turn of one-turn.mjs as Node tells it, checked by itself: what the other platforms are compared with.
import assert from 'node:assert/strict';

import { fixedSeams, makeRunner, runTurn } from './one-turn.mjs';
import { importHost, importPackage } from './package-folder.mjs';

const turncore = await importPackage();

/** What {@link runTurn} gives on Node. */
export const expected = await runTurn(makeRunner(turncore, fixedSeams(await importHost())));

assert.deepEqual(expected.heard, expected.streamed);
assert.deepEqual(
  expected.streamed.map((line) => JSON.parse(line).event),
  [
    'turnStart',
    'dispatchStart',
    'iterationStart',
    'thought',
    'thought',
    'toolCall',
    'toolExecutionStart',
    'toolExecutionEnd',
    'toolCall',
    'iterationEnd',
    'iterationStart',
    'message',
    'message',
    'message',
    'message',
    'message',
    'iterationEnd',
    'dispatchEnd',
    'turnEnd',
  ],
);
assert.deepEqual(expected.result, {
  status: 'ack',
  text: 'It is 4 °C in Oslo.',
  iterations: 2,
  toolCalls: [
    {
      id: 'c1',
      tool: 'get_weather',
      args: { city: 'Oslo' },
      isError: false,
      results: '4 °C in Oslo',
    },
  ],
});
