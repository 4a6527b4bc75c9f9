import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { compareRequest, describeDifference } from '../../src/recording/compare.js';
import { DIFFERENCES } from '../../src/recording/differences.gen.js';
import { readRecording, type Recording } from '../../src/recording/recording.js';

function recorded(body: unknown, name = 'test'): Recording {
  return readRecording({
    name,
    interactions: [{ request: { url: '', body }, response: { status: 200 } }],
  });
}

function paths(got: unknown, want: unknown): string[] {
  return compareRequest(recorded(want), 0, JSON.stringify(got))
    .filter(({ why }) => why === '')
    .map(({ path }) => path);
}

describe('a request', () => {
  it('is the same when only its spelling differs', () => {
    const got = {
      b: 1,
      a: null,
      messages: [{ content: 'one two' }, { tool_calls: [{ function: { arguments: '{"a": 1}' } }] }],
    };
    const want = {
      messages: [
        {
          content: [
            { type: 'text', text: 'one ' },
            { type: 'text', text: 'two' },
          ],
        },
        { content: null, tool_calls: [{ function: { arguments: '{"a":1}' } }] },
      ],
      b: 1,
    };
    assert.deepEqual(paths(got, want), []);
  });

  it('differs where its meaning does', () => {
    assert.deepEqual(paths({ a: 1, c: [1, 2], 'x/y~z': 1 }, { b: 1, c: [1, 3, 4], 'x/y~z': 2 }), [
      '/a',
      '/b',
      '/c/1',
      '/c/2',
      '/x~1y~0z',
    ]);
    assert.deepEqual(paths({ a: [] }, { a: {} }), ['/a']);
    const image = [{ type: 'image_url', text: 'x' }];
    const content = (value: unknown): object => ({ messages: [{ role: 'user', content: value }] });
    assert.deepEqual(paths(content('x'), content(image)), ['/messages/0/content']);
    const calls = (args: string, id = 'c'): object => ({
      messages: [{ role: 'assistant', tool_calls: [{ id, function: { arguments: args } }] }],
    });
    const at = '/messages/0/tool_calls/0/function/arguments';
    assert.deepEqual(paths(calls('{"a":1}'), calls('{"a":')), [at]);
    assert.deepEqual(paths(calls('{}'), calls('{}', 'made')), []);
  });

  it('may differ where the list says so', () => {
    const compared = (sent: unknown, content: string): string[] => {
      const messages = (text: unknown): object => ({
        messages: [{ role: 'assistant', content: text, tool_calls: [{ id: 'c' }] }],
      });
      const body = JSON.stringify(messages(sent));
      return compareRequest(recorded(messages(content)), 0, body).map(describeDifference);
    };
    const allowed =
      /^request 0, \/messages\/0\/content: sent (null|"Hi\.?"), recorded "<think>.*\(allowed: /;
    for (const [sent, content] of [
      [null, '<think>\nso\n</think>'],
      [null, '<think>so'],
      ['Hi.', '<think></think>\n<think>so</think>\n\nHi.'],
    ] as const) {
      const [found, ...more] = compared(sent, content);
      assert.match(found!, allowed);
      assert.equal(more.length, 0);
    }
    for (const [sent, content] of [
      ['Hi.', '<think>so</think>'],
      ['Hi', '<think>so</think>Hi.'],
      ['<think>so</think>Hi.', 'Hi.'],
      ['Hi.', '\nHi.'], // no answer had reasoning in tags
    ] as const) {
      assert.doesNotMatch(compared(sent, content).join('\n'), /allowed/);
      assert.equal(compared(sent, content).length, 1);
    }
  });

  it('differs when there is no recorded one, and when it is no JSON', () => {
    assert.equal(compareRequest(recorded({}), 1, '{}').length, 1);
    assert.equal(compareRequest(recorded({}), 0, '{').length, 1);
  });
});

describe('the list of allowed differences', () => {
  it('is the one of the Go module', async () => {
    const url = new URL('../../../../host/internal/recording/differences.json', import.meta.url);
    const list: unknown = JSON.parse(await readFile(url, 'utf8'));
    assert.deepEqual(DIFFERENCES, list, 'run node tools/copy-differences.mjs');
  });
});
