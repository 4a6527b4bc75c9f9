import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CodecError, decodeValue, Decoder, type CodecReason } from '../../src/codec/decoder.js';
import { DEFAULT_LIMITS } from '../../src/codec/limits.js';
import { decodeFrames } from './frames.js';
import { mulberry32 } from '../../src/entropy.js';
import { Encoder } from '../../src/codec/encoder.js';

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

function refused(hex: string, reason: CodecReason, offset: number): void {
  assert.throws(
    () => decodeValue(bytes(hex)),
    (error: unknown) => {
      assert.ok(error instanceof CodecError, String(error));
      assert.deepEqual([error.reason, error.offset], [reason, offset], hex);
      return true;
    },
  );
}

/** Runs n copies of unit in arrays of 8,000. */
function many(unit: (i: number) => readonly number[], n: number): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0xdc, Math.ceil(n / 8000) >> 8, Math.ceil(n / 8000))];
  for (let at = 0; at < n; at += 8000) {
    const part = [0xdc, 8000 >> 8, 8000 & 0xff];
    for (let i = at; i < at + 8000; i++) part.push(...unit(i));
    parts.push(Uint8Array.from(part));
  }
  return Uint8Array.from(Buffer.concat(parts));
}

describe('Decoder', () => {
  it('reads every form of a value', () => {
    const cases: [string, unknown][] = [
      ['c0', null],
      ['c2', false],
      ['c3', true],
      ['7f', 127],
      ['e0', -32],
      ['ccff', 255],
      ['cdffff', 65535],
      ['ceffffffff', 2 ** 32 - 1],
      ['cf001fffffffffffff', Number.MAX_SAFE_INTEGER],
      ['d080', -128],
      ['d18000', -32768],
      ['d280000000', -(2 ** 31)],
      ['d3ffe0000000000001', Number.MIN_SAFE_INTEGER],
      ['d30000000000000005', 5],
      ['cb3ff8000000000000', 1.5],
      ['a161', 'a'],
      ['d90161', 'a'],
      ['da000161', 'a'],
      ['db0000000161', 'a'],
      ['c40107', Uint8Array.of(7)],
      ['c5000207ff', Uint8Array.of(7, 255)],
      ['c60000000107', Uint8Array.of(7)],
      ['c400', new Uint8Array(0)],
      ['dc000101', [1]],
      ['dd0000000101', [1]],
      ['81a16101', { a: 1 }],
      ['de0001a16101', { a: 1 }],
      ['df00000001d9016101', { a: 1 }],
    ];
    for (const [hex, want] of cases) assert.deepEqual(decodeValue(bytes(hex)), want, hex);
  });

  it('names the reason and the place of what it refuses', () => {
    refused('', 'truncated', 0);
    refused('cd01', 'truncated', 0);
    refused('92a161', 'truncated', 3);
    refused('93c0a561', 'truncated', 2);
    refused('93c0c0a261', 'truncated', 3);
    refused('9201cb3ff8', 'truncated', 2);
    refused('c1', 'type', 0);
    refused('ca3fc00000', 'type', 0);
    refused('91d40000', 'type', 1);
    refused('8101c0', 'type', 1);
    refused('81c40161c0', 'type', 1);
    refused('cf0020000000000000', 'range', 0);
    refused('d3ffe0000000000000', 'range', 0);
    refused('cfffffffffffffffff', 'range', 0);
    refused('dcffff', 'length', 0);
    refused('dd7fffffff', 'length', 0);
    refused('df7fffffff', 'length', 0);
    refused('c6ffffffff', 'length', 0);
    refused('dbffffffff', 'length', 0);
    refused('dc1000', 'truncated', 0);
    refused('0102', 'length', 1);
    refused('91'.repeat(65) + 'c0', 'depth', 64);
    assert.ok(decodeValue(bytes('91'.repeat(64) + 'c0')));
  });

  it('keeps names like __proto__ as data', () => {
    const e = new Encoder();
    e.value(JSON.parse('{"__proto__":{"polluted":1},"constructor":2,"toString":3}'), 'v');
    const map = decodeValue(e.bytes()) as Record<string, unknown>;
    assert.equal(Object.getPrototypeOf(map), Object.prototype);
    assert.equal(map['polluted'], undefined);
    assert.deepEqual(Object.keys(map), ['__proto__', 'constructor', 'toString']);
    assert.deepEqual(Object.getOwnPropertyDescriptor(map, '__proto__')?.value, { polluted: 1 });
  });

  it('reads maps with names that are array indices', () => {
    const names = ['1023', '0', 'b', '4294967294', '7', '00', '-1', '4294967295', '0'];
    const e = new Encoder();
    e.mapHeader(names.length);
    names.forEach((name, i) => {
      e.str(name);
      e.int(i);
    });
    const map = decodeValue(e.bytes()) as Record<string, unknown>;
    const want: Record<string, number> = {};
    names.forEach((name, i) => (want[name] = i));
    assert.deepEqual(map, want);
    assert.deepEqual(Object.keys(map), Object.keys(want));
  });

  it('reads frames back to back and tells where they are', () => {
    const e = new Encoder();
    const frames = [[35, 1, 'x'], [36, [1, 2], null], [40]];
    for (const f of frames) e.value(f, 'v');
    const offsets: number[] = [];
    assert.deepEqual(decodeFrames(e.bytes(), DEFAULT_LIMITS, offsets), frames);
    const again = offsets
      .slice(0, -1)
      .map((o, i) => decodeValue(e.bytes().slice(o, offsets[i + 1])));
    assert.deepEqual(again, frames);
    assert.deepEqual(decodeFrames(new Uint8Array(0)), []);
  });

  it('refuses frames that are none, or too large', () => {
    for (const hex of ['c0', '90', '91c0', '91a161', '8101', '80']) {
      assert.throws(() => decodeFrames(bytes(hex)), CodecError, hex);
    }
    const limits = { ...DEFAULT_LIMITS, frame: 10 };
    const e = new Encoder();
    e.value([1, 'abcdefg'], 'v');
    e.value([1, 'abcdefg'], 'v');
    assert.equal(decodeFrames(e.bytes(), limits).length, 2);
    e.value([1, 'abcdefgh'], 'v');
    assert.throws(
      () => decodeFrames(e.bytes(), limits),
      (error: unknown) =>
        error instanceof CodecError && error.reason === 'length' && error.offset === 20,
    );
  });

  it('replaces bad UTF-8 and keeps a byte order mark', () => {
    assert.equal(decodeValue(bytes('a2c328')), '\ufffd(');
    assert.equal(decodeValue(bytes('a3efbbbf')), '\ufeff');
  });

  it('returns byte strings that do not share memory with the input', () => {
    for (const n of [1, 2, 100]) {
      const e = new Encoder();
      e.bin(new Uint8Array(n).fill(9));
      const input = e.copy();
      const out = decodeValue(input) as Uint8Array;
      input.fill(0);
      assert.deepEqual(out, new Uint8Array(n).fill(9));
    }
    const decoder = new Decoder(bytes('c40101c40102'));
    const values = [decoder.value(), decoder.value()] as Uint8Array[];
    assert.ok(decoder.done);
    values[0]!.fill(5);
    assert.deepEqual(values, [Uint8Array.of(5), Uint8Array.of(2)]);
  });

  it('allocates at most 1 MiB and 64 bytes for each byte of hostile input', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const text = (s: string): number[] => [0xa0 | s.length, ...Buffer.from(s)];
    const shapes: Record<string, (i: number) => readonly number[]> = {
      'empty arrays': () => [0x90],
      'empty maps': () => [0x80],
      'arrays of one': () => [0x91, 0xc0],
      'arrays in arrays': () => [0x91, 0x91, 0x91, 0x91, 0x90],
      'empty byte strings': () => [0xc4, 0],
      bytes: () => [0xc4, 1, 7],
      floats: () => [0xcb, 0x3f, 0xf8, 1, 0, 0, 0, 0, 0],
      'maps of ever other names': (i) => [0x81, ...text(i.toString(36)), 0xc0],
      'index 9': () => [0x81, ...text('9'), 0xc0],
      'index 99': () => [0x81, ...text('99'), 0xc0],
      'index 1023': () => [0x81, ...text('1023'), 0xc0],
      __proto__: () => [0x81, ...text('__proto__'), 0xc0],
    };
    const limits = { ...DEFAULT_LIMITS };
    const kept: unknown[] = [];
    for (const [name, shape] of Object.entries(shapes)) {
      const input = many(shape, 160_000);
      kept.length = 0;
      gc();
      const before = process.memoryUsage();
      kept.push(decodeValue(input, limits));
      gc();
      const after = process.memoryUsage();
      const used = after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers;
      assert.ok(
        used <= (1 << 20) + 64 * input.length,
        `${name}: ${(used / input.length).toFixed(1)} bytes a byte`,
      );
    }
    assert.equal(kept.length, 1);
  });

  it('survives two seconds of random bytes', (t) => {
    const next = mulberry32(0x5eed);
    const random = (n: number): number => next() % n;
    const until = Date.now() + 2000;
    let inputs = 0;
    let accepted = 0;
    const reasons = new Map<string, number>();
    while (Date.now() < until) {
      for (let k = 0; k < 100; k++) {
        const size = random(64);
        const input = new Uint8Array(size);
        // Mostly the bytes that begin containers and lengths, so that nesting is reached.
        for (let i = 0; i < size; i++) {
          const kind = random(4);
          input[i] =
            kind === 0
              ? random(256)
              : kind === 1
                ? 0x80 | random(0x40)
                : kind === 2
                  ? 0xc0 | random(32)
                  : random(8);
        }
        inputs++;
        try {
          const decoder = new Decoder(input);
          while (!decoder.done) decoder.value();
          accepted++;
        } catch (error) {
          assert.ok(
            error instanceof CodecError,
            `${Buffer.from(input).toString('hex')}: ${String(error)}`,
          );
          assert.ok(error.offset <= size);
          reasons.set(error.reason, (reasons.get(error.reason) ?? 0) + 1);
        }
      }
    }
    t.diagnostic(`${inputs} inputs, ${accepted} accepted, ${JSON.stringify([...reasons])}`);
    assert.ok(accepted > 0);
    for (const reason of ['truncated', 'type', 'length', 'range'])
      assert.ok(reasons.has(reason), reason);
  });
});
