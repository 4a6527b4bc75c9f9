/**
 * Events as data.
 */
import assert from 'node:assert/strict';
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
    assert.deepEqual(Object.keys(json).sort(), ['actions', 'author', 'content']);
    assert.deepEqual(structuredClone(event).content, event.content);
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
