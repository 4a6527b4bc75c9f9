import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Answers, calledTools } from '../../src/recording/answers.js';
import { conversationOf, isChat, sendsThoughts } from '../../src/recording/conversation.js';
import { retriesOf, threadOf } from '../../src/recording/thread.js';
import { InvalidRecording, readRecording } from '../../src/recording/recording.js';

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
        { message: 2, role: 'user', name: '', content: 'first', media: [] },
        {
          message: 3,
          call: {
            ...{ id: 'c1', tool: 'get', args: '{"a":1}', result: 'got', answered: true },
            given: undefined,
          },
        },
        { message: 5, role: 'assistant', name: '', content: 'well', media: [] },
      ],
      user: { message: 6, role: 'user', name: '', content: 'second', media: [] },
      stream: true,
      tools: [
        { name: 'get', description: 'd', parameters: { type: 'object' }, extra: { strict: true } },
      ],
      model: 'm',
      baseURL: 'https://api.example.com/v1',
      body: { temperature: 0 },
    });
  });

  it('is all history where it does not end with what the user says', () => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y', reasoning_content: 'hm' },
    ];
    const { user, history, stream } = conversationOf(recordingOf({ messages }));
    assert.deepEqual([user, history.length, stream], [undefined, 3, false]);
    assert.equal(sendsThoughts(recordingOf({ messages })), true);
    assert.throws(() => conversationOf(recordingOf({ messages: [] })), /must hold a text/);
    assert.throws(() => conversationOf(recordingOf('text')), /must be an object/);
  });

  it('has an address without its end', () => {
    const chat = 'https://a.example/v1/chat/completions';
    for (const [url, want] of [
      [`${chat}/`, 'https://a.example/v1'],
      [`${chat}#stream`, 'https://a.example/v1'],
      [`${chat}?v=1`, 'https://a.example/v1?v=1'],
    ] as const) {
      const body = { messages: [{ role: 'user', content: 'x' }] };
      const [interaction] = recordingOf(body).interactions;
      const at = { ...interaction!, request: { ...interaction!.request, url } };
      assert.equal(isChat(at), true);
      assert.equal(conversationOf({ name: '', interactions: [at] }).baseURL, want);
    }
  });

  it('answers the calls of each request once, by meaning', () => {
    const messages = [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        tool_calls: [call('c1', 'get', '{"a":1,"b":2}'), call('c2', 'get', '{"a":1, "b":2}')],
      },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
    ];
    const more = [
      ...messages,
      { role: 'assistant', tool_calls: [call('c1', 'get', '{"a":1,"b":2}'), call('', 'put', '')] },
      { role: 'tool', tool_call_id: 'c1', content: 'again' },
    ];
    const first = { messages: messages.slice(0, 1) };
    const recording = recordingOf(first, { messages }, { messages: more });
    const answers = new Answers(recording);
    assert.equal(answers.take(1, 'put', { a: 1, b: 2 }), undefined);
    assert.equal(answers.take(1, 'get', { b: 2, a: 1 }), 'one');
    assert.equal(answers.take(1, 'get', { a: 'other' }), 'two');
    assert.equal(answers.take(1, 'get', { b: 2, a: 1 }), undefined);
    assert.equal(answers.take(2, 'get', { b: 2, a: 1 }), 'again');
    assert.equal(answers.take(2, 'put', {}), undefined);
    assert.equal(answers.take(3, 'get', {}), undefined);
    assert.deepEqual(calledTools(recording), ['get', 'put']);
  });

  it('is a thread among other requests', () => {
    const one = { messages: [{ role: 'user', content: 'x' }] };
    const other = { messages: [{ role: 'user', content: 'y' }] };
    const two = {
      messages: [
        ...one.messages,
        { role: 'assistant', tool_calls: [call('c1', 'get', '{}')] },
        { role: 'tool', tool_call_id: 'c1', content: 'r' },
      ],
    };
    const three = {
      messages: [
        ...two.messages,
        { role: 'assistant', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    };
    const whole = recordingOf({ input: 'x' }, one, other, two, three);
    const good = whole.interactions.map((item) => ({
      ...item,
      response: { ...item.response, body: '{"choices":[]}' },
    }));
    const thread = threadOf({ name: '', interactions: good });
    assert.deepEqual(
      thread.interactions.map(({ request }) => request.body),
      [one, two],
    );
    assert.deepEqual(retriesOf(thread), { attempts: 1, statuses: [] });
    const [, first] = good;
    const failed = { ...first!, response: { ...first!.response, status: 408 } };
    const retried = threadOf({ name: '', interactions: [failed, failed, first!] });
    assert.deepEqual(retriesOf(retried), { attempts: 3, statuses: [408] });
    assert.throws(() => threadOf(recordingOf({ input: 'x' })), /^InvalidRecording: interactions /);
  });

  it('is refused when it is none', () => {
    const response = { status: 200 };
    const bad: [unknown, string][] = [
      [null, 'the file'],
      [[], 'the file'],
      [{}, 'interactions'],
      [{ interactions: [] }, 'interactions'],
      [{ interactions: [null] }, 'interactions[0]'],
      [{ interactions: [{ response }] }, 'interactions[0].request'],
      [{ interactions: [{ request: {} }] }, 'interactions[0].response'],
      [{ interactions: [{ request: { url: 1 }, response }] }, 'interactions[0].request.url'],
      [{ interactions: [{ request: {}, response: {} }] }, 'interactions[0].response.status'],
      [
        { interactions: [{ request: {}, response: { status: 99 } }] },
        'interactions[0].response.status',
      ],
      [
        { interactions: [{ request: {}, response: { ...response, body: 5 } }] },
        'interactions[0].response.body',
      ],
      [
        { interactions: [{ request: {}, response: { ...response, contentType: 'a\n' } }] },
        'interactions[0].response.contentType',
      ],
    ];
    for (const [value, field] of bad) {
      assert.throws(
        () => readRecording(value),
        (error) => error instanceof InvalidRecording && error.field === field,
        field,
      );
    }
  });
});
