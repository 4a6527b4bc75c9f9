import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  FIXED_INSTANT,
  fixedClock,
  mulberry32,
  seededEntropy,
  systemClock,
  systemEntropy,
  uuidv6,
} from '../src/entropy.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('entropy', () => {
  it('mulberry32 gives its known outputs', () => {
    const next = mulberry32(1);
    assert.deepEqual([next(), next(), next()], [2693262067, 11749833, 2265367787]);
    assert.equal(mulberry32(2 ** 32 + 1)(), 2693262067);
    assert.equal(mulberry32(0)(), 1144304738);
  });

  it('seeded bytes are the outputs in little-endian order, each call from the next one', () => {
    const entropy = seededEntropy(1);
    assert.equal(hex(entropy(6)), 'f3ea87a0c949');
    assert.equal(hex(entropy(4)), 'ebc40687');
    assert.equal(entropy(0).length, 0);
  });

  it('the fixed clock stands at the start of 2026', () => {
    assert.equal(new Date(fixedClock()()).toISOString(), '2026-01-01T00:00:00.000Z');
    assert.equal(fixedClock(5)(), 5);
  });

  it('the platform gives whole milliseconds and large amounts of bytes that differ', () => {
    assert.ok(Number.isInteger(systemClock()));
    const bytes = systemEntropy(200_000);
    assert.equal(bytes.length, 200_000);
    assert.ok(new Set(bytes.subarray(-1000)).size > 100);
  });
});

describe('uuidv6', () => {
  it('is laid out as in the example of RFC 9562', () => {
    // The example's time, 2022-02-22T14:22:22-05:00, clock sequence and node.
    const entropy = Uint8Array.from([0xb3, 0xc8, 0x9f, 0x6b, 0xde, 0xce, 0xd8, 0x46, 1, 2]);
    assert.equal(uuidv6(1645557742000, entropy), '1ec9414c-232a-6b00-b3c8-9f6bdeced846');
  });

  it('sets variant and multicast bit whatever the entropy', () => {
    assert.equal(uuidv6(0, new Uint8Array(10)), '1b21dd21-3814-6000-8000-010000000000');
    assert.match(uuidv6(0, new Uint8Array(10).fill(255)), /^1b21dd21-3814-6000-bfff-ffffffffffff$/);
  });

  it('sorts by time', () => {
    const zero = new Uint8Array(8);
    const times = [0, 1, 1e9, FIXED_INSTANT, FIXED_INSTANT + 1, 4e12];
    const ids = times.map((t) => uuidv6(t, zero));
    assert.deepEqual([...ids].sort(), ids);
  });

  it('refuses too little entropy', () => {
    assert.throws(() => uuidv6(0, new Uint8Array(7)), RangeError);
  });
});
