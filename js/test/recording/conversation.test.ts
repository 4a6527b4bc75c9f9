import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Answers, conversationOf } from '../../src/recording/conversation.js';
import { readRecording } from '../../src/recording/recording.js';

const call = (id: string, name: string, args: string): object => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

function recordingOf(...bodies: unknown[]): ReturnType<typeof readRecording> {
  const interactions = bodies.map((body) => ({
    request: { url: 'https://api.example.com/v1/chat/completions', body },
    response: { status: 200, contentType: 'text/event-stream', body: '' },
  }));
  return readRecording({ name: 'test', interactions });
}

describe('a recorded conversation', () => {
  it('is what the first request says', () => {
    const body = {
      model: 'm',
      stream: true,
      temperature: 0,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'developer', content: 'and kind' },
        { role: 'user', content: 'first' },
        { role: 'assistant', content: null, tool_calls: [call('c1', 'get', '{"a":1}')] },
        { role: 'tool', tool_call_id: 'c1', content: 'got' },
        { role: 'assistant', content: [{ type: 'text', text: 'well' }] },
        { role: 'user', content: 'second' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'get', description: 'd', parameters: { type: 'object' }, strict: true },
        },
      ],
    };
    assert.deepEqual(conversationOf(recordingOf(body)), {
      system: 'be brief\n\nand kind',
      history: [
        { role: 'user', content: 'first' },
        { call: { id: 'c1', tool: 'get', args: '{"a":1}', result: 'got' } },
        { role: 'assistant', content: 'well' },
      ],
      user: 'second',
      tools: [
        { name: 'get', description: 'd', parameters: { type: 'object' }, extra: { strict: true } },
      ],
      model: 'm',
      baseURL: 'https://api.example.com/v1',
      body: { temperature: 0 },
    });
  });

  it('ends with a user message', () => {
    assert.throws(() => conversationOf(recordingOf({ messages: [] })), /no user message/);
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y' },
    ];
    assert.throws(() => conversationOf(recordingOf({ messages })), /not the user's/);
    assert.throws(() => conversationOf(recordingOf('text')), /no object/);
  });

  it('answers each call once, by meaning', () => {
    const messages = [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        tool_calls: [call('c1', 'get', '{"a":1,"b":2}'), call('c2', 'get', '{"a":1, "b":2}')],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'assistant', tool_calls: [call('c3', 'get', '{}')] },
    ];
    const answers = new Answers(recordingOf({ messages: [] }, { messages }, { messages }));
    assert.equal(answers.take('put', { a: 1, b: 2 }), undefined);
    assert.equal(answers.take('get', { a: 1 }), undefined);
    assert.equal(answers.take('get', { b: 2, a: 1 }), 'one');
    assert.equal(answers.take('get', { b: 2, a: 1 }), 'two');
    assert.equal(answers.take('get', { b: 2, a: 1 }), undefined);
    assert.equal(answers.take('get', {}), undefined);
  });

  it('is refused when it is none', () => {
    const bad: [unknown, RegExp][] = [
      [null, /no object/],
      [[], /no object/],
      [{}, /no interactions/],
      [{ interactions: [] }, /no interactions/],
      [{ interactions: [null] }, /interaction 0/],
      [{ interactions: [{ request: {}, response: { status: 200 } }] }, /interaction 0/],
      [{ interactions: [{ request: { body: {} }, response: {} }] }, /interaction 0/],
    ];
    for (const [value, pattern] of bad) assert.throws(() => readRecording(value), pattern);
  });
});
