import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type EventData,
  pendingCalls,
  sessionKeyOf,
  storedId,
} from '../../src/entries/sessions.js';

const calls = (invocationId: string, ...ids: string[]): EventData => ({
  id: `of ${ids.join()}`,
  invocationId,
  author: 'clerk',
  longRunningToolIds: ids,
  content: {
    parts: ids.map((id) => ({ functionCall: { id, name: 'send', args: { to: 'Ada' } } })),
  },
});
const answer = (author: string, id: string): EventData => ({
  author,
  content: { parts: [{ functionResponse: { id, name: 'send', response: { sent: true } } }] },
});
const rewind = (rewindBeforeInvocationId: string): EventData => ({
  author: 'user',
  actions: { rewindBeforeInvocationId },
});

describe('pendingCalls', () => {
  const quick: EventData = { ...calls('1', 'quick'), longRunningToolIds: [] };
  const cases: readonly (readonly [string, EventData[], string[]])[] = [
    ['has none of none', [], []],
    ['leaves out a call that does not wait', [quick], []],
    ['gives calls in order', [calls('1', 'b', 'a'), calls('2', 'c')], ['b', 'a', 'c']],
    ['keeps one with an interim result', [calls('1', 'a'), answer('clerk', 'a')], ['a']],
    ['leaves out one that was answered', [calls('1', 'a', 'b'), answer('user', 'a')], ['b']],
    ['knows no answer before the call', [answer('user', 'a'), calls('1', 'a')], ['a']],
    [
      'leaves out those that were rewound',
      [calls('1', 'a'), calls('2', 'b'), calls('3', 'c'), rewind('2')],
      ['a'],
    ],
    ['keeps them when the invocation is unknown', [calls('1', 'a'), rewind('2')], ['a']],
  ];
  for (const [name, events, want] of cases) {
    it(name, () =>
      assert.deepEqual(
        pendingCalls(events).map(({ id }) => id),
        want,
      ),
    );
  }

  it('tells what a person is asked', () => {
    const confirmation = { hint: 'Sure?', name: 'send', args: { to: 'Bob' } };
    const asked = { ...calls('1', 'a'), actions: { requestedConfirmations: { a: confirmation } } };
    const call = { id: 'a', name: 'send', args: { to: 'Bob' }, confirmation };
    const of = { author: 'clerk', invocationId: '1', eventId: 'of a' };
    assert.deepEqual(pendingCalls([asked]), [{ ...call, ...of }]);
  });
});

describe('ids in stores', () => {
  const key = { appName: 'a/b', userId: '50%', sessionId: 'x%2Fy' };
  it('names a session by three parts', () => assert.equal(storedId(key), 'a%2Fb/50%25/x%252Fy'));
  it('reads them', () => assert.deepEqual(sessionKeyOf(storedId(key)), key));
  for (const id of ['', 'default', 'a/b', 'a/b/c/d', 'a//c', 'a/b%/c']) {
    it(`takes ${JSON.stringify(id)} for no session`, () =>
      assert.equal(sessionKeyOf(id), undefined));
  }
});
