/**
 * Bodies of records that make no sense, as a hostile module may send them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CodecError } from '../../src/codec/decoder.js';
import { Encoder } from '../../src/codec/encoder.js';
import { decodeBody } from '../../src/collections/decode-body.js';
import { collectionNumber, type RecordKind } from '../../src/collections/kinds.js';
import type { Tokenizable } from '../../src/primitives/tokenizable.js';

const LATE = 8.64e15 + 1;

/** Right bodies, as the arrays that they are on the wire. */
const bodies = {
  messages: ['m', 'user', 'hi', ['a', 'b'], 1, 2, null],
  memories: ['m', 'text', 0.5, 1, 1, 2],
  thoughts: ['t', 'text', null, { a: 1 }, null, 1, 2],
  toolCalls: [
    ...['c', 'tool', { a: 1 }, 'sum', null, null, true, false, 'r', null, null, false, false],
    ...[1, 2, 3],
  ],
  retrievables: ['r', 'text', 'first-party', null, null, null, false, 1, 2],
} as const satisfies Partial<Record<RecordKind, readonly unknown[]>>;

/** By collection: the place of a field, a value that it cannot have, and what is said of it. */
const wrong: [keyof typeof bodies, number, unknown, RegExp][] = [
  ['messages', 1, 'nobody', /role of a record is not user or assistant/],
  ['messages', 2, 7, /Message: a string is expected/],
  ['messages', 3, ['a'], /Identity: a tuple of 2 elements is expected, there are 1/],
  ['messages', 4, LATE, /createdAt of a record is not a time/],
  ['messages', 5, 1.5, /Message: an integer is expected/],
  ['memories', 2, 'much', /Memory: a number is expected/],
  ['thoughts', 4, 7, /Thought: a string is expected/],
  ['toolCalls', 2, 'text', /args of a record is not a map/],
  ['toolCalls', 2, [1], /args of a record is not a map/],
  ['toolCalls', 2, new Uint8Array(2), /args of a record is not a map/],
  ['toolCalls', 15, LATE, /completedAt of a record is not a time/],
  ['retrievables', 1, [3, 7], /content of a record is not a text/],
  ['retrievables', 2, 'trusted', /trustTier of a record is not first-party or/],
  ['retrievables', 5, 'high', /Retrievable: a number is expected/],
];

function bytesOf(body: unknown): Uint8Array {
  const e = new Encoder();
  e.value(body, 'body');
  return e.bytes();
}

describe('bodies of records', () => {
  it('are read when they are right', () => {
    for (const [name, body] of Object.entries(bodies)) {
      const record = decodeBody(collectionNumber(name as keyof typeof bodies), bytesOf(body));
      assert.equal((record as { id: string }).id, body[0], name);
    }
    const text = decodeBody(collectionNumber('instructions'), bytesOf('be brief')) as Tokenizable;
    assert.equal(text.toString(), 'be brief');
  });

  it('are refused, by the field that is wrong', () => {
    for (const [name, place, value, message] of wrong) {
      const body = [...bodies[name]].with(place, value as never);
      assert.throws(
        () => decodeBody(collectionNumber(name), bytesOf(body)),
        (error) => error instanceof CodecError && message.test(error.message),
        `${name}[${place}] = ${String(value)}`,
      );
    }
    assert.throws(() => decodeBody(collectionNumber('instructions'), bytesOf(['x'])), CodecError);
  });
});
