// The package in workerd: made at global scope, run in requests, with clocks that stand still.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { expected } from '../smoke/expected.mjs';
import { dist } from '../smoke/package-folder.mjs';
import { startWorkerd } from './start.mjs';

const { simulatedProvider } = await import(new URL('simulated/provider.js', dist));

let provider;
let workerd;

before(async () => {
  provider = createServer(simulatedProvider({ pauseMs: 20 })).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  workerd = await startWorkerd(`127.0.0.1:${provider.address().port}`);
});
after(async () => {
  await workerd?.stop();
  provider?.close();
  provider?.closeAllConnections();
});

async function get(path) {
  const response = await fetch(workerd.address + path);
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return JSON.parse(body);
}

test('a turn is the one of Node', async () => {
  assert.deepEqual(await get('/comparable'), expected);
});

test('later requests run in the same instance', async () => {
  for (let i = 0; i < 5; i++) assert.deepEqual((await get('/turn')).result, expected.result);
});

test('requests run turns side by side', async () => {
  const runs = await Promise.all(Array.from({ length: 8 }, () => get('/turn')));
  for (const { result, streamed } of runs) {
    assert.deepEqual(result, expected.result);
    const seqs = streamed.map((line) => JSON.parse(line).seq);
    assert.deepEqual(
      seqs,
      seqs.map((_, i) => i + 1),
    );
  }
});

test('conversations with a model stream side by side, and keep their histories apart', async () => {
  const turns = ['Oslo', 'Rome', 'Lima', 'Bonn'].map(async (city) => {
    const first = await chat(city, `What is the weather in ${city}?`);
    const second = await chat(city, 'Hello');
    return { city, first, second };
  });
  for (const { city, first, second } of await Promise.all(turns)) {
    assert.equal(answerOf(first.events), `The tool answered: 4 °C in ${city}`);
    assert.match(answerOf(second.events), /^You said: Hello/);
    assert.ok(first.pieces > 3, `the response came in ${first.pieces} pieces`);
    const { promptTokens } = second.events.find(({ event }) => event === 'generationStats');
    assert.ok(promptTokens > 20, `the second request held ${promptTokens} tokens of history`);
  }
});

test('the simulated provider answers inside the worker', async () => {
  const { status, text } = await get('/simulated?say=What+is+the+weather+in+Oslo%3F');
  assert.equal(status, 'ack');
  assert.equal(text, 'The tool answered: 4 °C in Oslo');
});

test('workerd has nothing to complain about', () => {
  assert.doesNotMatch(workerd.stderr(), /error|exception|hung/i);
});

/** Runs a turn. @returns its events, and in how many pieces they came */
async function chat(session, say) {
  const query = new URLSearchParams({ session, say });
  const response = await fetch(`${workerd.address}/chat?${query}`);
  const decoder = new TextDecoder();
  let text = '';
  let pieces = 0;
  for await (const piece of response.body) {
    text += decoder.decode(piece, { stream: true });
    pieces++;
  }
  assert.equal(response.status, 200, text);
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(events.at(-1).event, 'turnEnd');
  assert.equal(events.at(-1).status, 'ack');
  return { events, pieces };
}

function answerOf(events) {
  return events.findLast(({ event, isComplete }) => event === 'message' && isComplete).full;
}
