// Every recorded conversation ends as recorded, on every engine, with the same bytes in the event log and in each
// request.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { play, players, recordings } from './engines.mjs';
import { answers, recordedResult, text } from './expected.mjs';

for (const recording of recordings()) {
  const logs = new Map();
  const requests = new Map();
  for (const engine of players) {
    test(`${recording.name} on ${engine}`, async () => {
      const { status, stdout, stderr } = await play(engine, recording.path, ['--verbose']);
      logs.set(engine, stdout);
      requests.set(engine, stderr.match(/^request \d+: \d+ bytes, SHA-256 [0-9a-f]{64}$/gm));
      assert.equal(status, 0, `exit status ${status}\n${stderr}`);
      checkEnd(recording.content, JSON.parse(stdout.trimEnd().split('\n').at(-1)));
    });
  }
  test(`${recording.name} sends the same requests and leaves the same log everywhere`, () => {
    assert.equal(logs.size, players.length);
    const [first] = players;
    assert.equal(requests.get(first).length, recording.content.interactions.length);
    for (const engine of players) assert.deepEqual(requests.get(engine), requests.get(first));
    const [[, want], ...others] = logs;
    for (const [engine, log] of others) {
      assert.ok(log === want, `${engine} differs from ${first}: ${firstDifference(want, log)}`);
    }
  });
}

function checkEnd(recording, end) {
  assert.equal(end.event, 'end');
  const recorded = answers(recording);
  const failed = recorded.filter(({ error }) => error && !error.failed_generation);
  assert.equal(end.status, failed.length > 0 ? 'nack' : 'ack', JSON.stringify(end.error));
  if (failed.length > 0) {
    assert.match(end.error.code, /^E_[A-Z_]+$/);
    return;
  }
  assert.equal(end.error, null);
  assert.equal(end.iterations, recorded.length);

  const said = (list) =>
    list.map((entry) => text(entry.content ?? entry)).filter((s) => s.trim() !== '');
  const kept = recorded.filter(({ error }) => !error);
  const texts = said(kept.map((a) => a.text));
  const assistant = said(end.messages.filter(({ role }) => role === 'assistant'));
  assert.deepEqual(assistant.slice(assistant.length - texts.length), texts);

  const thoughts = said(kept.map((a) => a.thought));
  const thought = said(end.thoughts);
  for (const one of thoughts)
    assert.ok(thought.includes(one), `no thought is ${JSON.stringify(one.slice(0, 80))}`);

  // A generation that the provider refused becomes a call with an error result.
  const refused = recorded.filter(({ error }) => error).length;
  const calls = recorded.flatMap((a) => a.calls);
  assert.equal(end.toolCalls.length, refused + calls.length);
  assert.ok(end.toolCalls.filter(({ isError }) => isError).length >= refused);
  const made = end.toolCalls.slice(refused);
  for (const [i, call] of calls.entries()) {
    assert.equal(made[i].tool, call.name);
    assert.deepEqual(made[i].args, call.args);
    assert.equal(text(made[i].results), recordedResult(recording, call.id) ?? '');
  }
}

function firstDifference(a, b) {
  const [left, right] = [a.split('\n'), b.split('\n')];
  const at = left.findIndex((line, i) => line !== right[i]);
  return `line ${at + 1}\n${left[at]}\n${right[at]}`;
}
