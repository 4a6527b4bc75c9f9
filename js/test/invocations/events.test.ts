/**
 * Events as data.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { isTurncoreError } from '../../src/index.js';
import {
  Event,
  EventActions,
  type EventData,
  functionCalls,
  functionResponses,
  isFinalResponse,
  type Part,
} from '../../src/entries/sessions.js';

const call: Part = { functionCall: { id: 'c', name: 'f', args: {} } };
const response: Part = { functionResponse: { id: 'c', name: 'f', response: {} } };

describe('events', () => {
  const table: readonly (readonly [name: string, event: EventData, final: boolean])[] = [
    ['text', { content: { parts: [{ text: 'hi' }] } }, true],
    ['a call', { content: { parts: [call] } }, false],
    ['a response', { content: { parts: [response] } }, false],
    [
      'a response that nobody puts into words',
      { content: { parts: [response] }, actions: { skipSummarization: true } },
      true,
    ],
    ['a part of a stream', { content: { parts: [{ text: 'h' }] }, partial: true }, false],
    ['a call that waits', { content: { parts: [call] }, longRunningToolIds: ['c'] }, true],
    ['a call with an empty list', { content: { parts: [call] }, longRunningToolIds: [] }, false],
    [
      'a call with an empty set',
      { content: { parts: [call] }, longRunningToolIds: new Set() },
      false,
    ],
    [
      'the result of code at the end',
      { content: { parts: [{ text: 'x' }, { codeExecutionResult: { outcome: 'OK' } }] } },
      false,
    ],
    ['nothing but a delta', { actions: { stateDelta: { k: 1 } } }, true],
  ];
  for (const [name, data, final] of table) {
    it(`${name}: ${final ? 'final' : 'not final'}`, () => {
      assert.equal(isFinalResponse(data), final);
      assert.equal(new Event(data).isFinalResponse(), final);
    });
  }

  it('are frozen copies', () => {
    const stateDelta = { k: { deep: [1] } };
    const data = { author: 'a', content: { parts: [{ text: 'x' }] }, actions: { stateDelta } };
    const event = new Event({ ...data, actions: new EventActions(data.actions) });
    stateDelta.k.deep.push(2);
    assert.deepEqual(event.actions.stateDelta, { k: { deep: [1] } });
    for (const part of [event, event.actions, event.actions.stateDelta, event.content!.parts]) {
      assert.ok(Object.isFrozen(part));
    }
    assert.throws(() => ((event as { author: string }).author = 'b'), TypeError);
    const json = JSON.parse(JSON.stringify(event)) as EventData;
    assert.deepEqual(Object.keys(json), ['author', 'content', 'actions']);
    assert.deepEqual(structuredClone(event).content, event.content);
  });

  it('are the JSON that Go writes of them', async () => {
    const file = new URL('../../../../host/sessions/testdata/event.json', import.meta.url);
    const text = (await readFile(file, 'utf8')).trimEnd();
    const data = JSON.parse(text) as EventData;
    const parts = data.content!.parts!.map((part) =>
      part.inlineData === undefined
        ? part
        : { inlineData: { ...part.inlineData, data: new Uint8Array([0, 255]) } },
    );
    const event = new Event({ ...data, content: { ...data.content, parts } });
    assert.equal(JSON.stringify(event), text);
    // In whatever order they were given, and with members that are empty.
    const { id, author, ...others } = event;
    const more = { finishReason: '', errorCode: '', interrupted: true, author, id };
    const mixed = new Event({ ...others, ...more });
    assert.equal(
      JSON.stringify([mixed]),
      JSON.stringify([{ ...data, finishReason: undefined, errorCode: undefined }]),
    );
  });

  it('have no empty members in JSON', () => {
    const of: [EventData, string][] = [
      [{}, '{}'],
      [
        { author: '', partial: false, longRunningToolIds: [], customMetadata: {}, actions: {} },
        '{}',
      ],
      [{ actions: { stateDelta: { k: null } } }, '{"actions":{"stateDelta":{"k":null}}}'],
      [{ actions: { stateDelta: {}, escalate: false, transferToAgent: '' } }, '{}'],
      [{ content: { role: '', parts: [] }, timestamp: 0 }, '{"timestamp":0,"content":{}}'],
      [{ usage: { totalTokens: 0, x: 'y' } }, '{"usage":{"x":"y"}}'],
      [
        { content: { parts: [{ text: '', thought: false }] } },
        '{"content":{"parts":[{"text":""}]}}',
      ],
      [
        { content: { parts: [{ text: '', functionCall: { id: '', name: 'f' } }] } },
        '{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]}}',
      ],
      [
        { content: { parts: [{ functionResponse: { name: 'f' }, more: false }] } },
        '{"content":{"parts":[{"functionResponse":{"name":"f","response":{}},"more":false}]}}',
      ],
      [
        { actions: { stateDelta: { k: [new Uint8Array([1]), '', { id: '' }] } } },
        '{"actions":{"stateDelta":{"k":["AQ==","",{"id":""}]}}}',
      ],
    ];
    // What is no event has JSON, too.
    const wrong = {
      content: { parts: [null, 5, { functionCall: 5 }] },
      usage: 5,
      customMetadata: 5,
    };
    of.push([
      wrong as never,
      JSON.stringify({ content: wrong.content, usage: 5, customMetadata: 5 }),
    ]);
    for (const [data, json] of of) assert.equal(JSON.stringify(new Event(data)), json);
  });

  it('take no data that cannot be stored', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    for (const value of [() => 1, Symbol('s'), cycle, Number.NaN, new Map()]) {
      assert.throws(
        () => new Event({ actions: { stateDelta: { k: value } } }),
        (error) =>
          isTurncoreError(error, 'E_INVALID_STATE') &&
          error.message.includes(': actions.stateDelta.k') &&
          error.message.length < 150,
      );
    }
    assert.throws(
      () => new Event({ customMetadata: { a: [cycle] } }),
      (error) =>
        isTurncoreError(error, 'E_INVALID_EVENT') &&
        error.message ===
          'The event is invalid: customMetadata.a[0].self: the value contains itself',
    );
  });

  it('list their calls and responses', () => {
    const event = new Event({ content: { parts: [{ text: 'x' }, call, response] } });
    assert.deepEqual(event.getFunctionCalls(), [call.functionCall]);
    assert.deepEqual(functionResponses(event), [response.functionResponse]);
    assert.deepEqual(functionCalls({}), []);
  });
});
