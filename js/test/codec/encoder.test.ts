import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Encoder } from '../../src/codec/encoder.js';
import { utf8Length } from '../../src/codec/layout.js';
import { decodeValue } from '../../src/codec/decoder.js';
import { isTurncoreError } from '../../src/errors.js';

function hex(write: (e: Encoder) => void): string {
  const e = new Encoder(16);
  write(e);
  return Buffer.from(e.bytes()).toString('hex');
}

function refused(value: unknown, pattern: RegExp, field = 'args'): void {
  assert.throws(
    () => new Encoder().value(value, field),
    (error: unknown) => isTurncoreError(error, 'E_INVALID_VALUE') && pattern.test(error.message),
  );
}

describe('Encoder', () => {
  it('writes integers in their shortest form', () => {
    const cases: [number, string][] = [
      [0, '00'],
      [-0, '00'],
      [127, '7f'],
      [128, 'cc80'],
      [255, 'ccff'],
      [256, 'cd0100'],
      [65535, 'cdffff'],
      [65536, 'ce00010000'],
      [2 ** 31, 'ce80000000'],
      [2 ** 32 - 1, 'ceffffffff'],
      [2 ** 32, 'cf0000000100000000'],
      [Number.MAX_SAFE_INTEGER, 'cf001fffffffffffff'],
      [-1, 'ff'],
      [-32, 'e0'],
      [-33, 'd0df'],
      [-128, 'd080'],
      [-129, 'd1ff7f'],
      [-32768, 'd18000'],
      [-32769, 'd2ffff7fff'],
      [-(2 ** 31), 'd280000000'],
      [-(2 ** 31) - 1, 'd3ffffffff7fffffff'],
      [Number.MIN_SAFE_INTEGER, 'd3ffe0000000000001'],
    ];
    for (const [n, want] of cases)
      assert.equal(
        hex((e) => e.int(n)),
        want,
        String(n),
      );
  });

  it('refuses anything that is not a safe integer, and writes nothing then', () => {
    for (const n of [
      0.5,
      127.5,
      -0.5,
      -100.5,
      1e10 + 0.5,
      2 ** 53,
      -(2 ** 53),
      NaN,
      Infinity,
      -Infinity,
    ]) {
      const e = new Encoder();
      assert.throws(() => e.int(n), RangeError, String(n));
      assert.equal(e.length, 0);
    }
  });

  it('writes the other numbers as float64', () => {
    assert.equal(
      hex((e) => e.value(1.5, 'v')),
      'cb3ff8000000000000',
    );
    assert.equal(
      hex((e) => e.value(2 ** 53, 'v')),
      'cb4340000000000000',
    );
    assert.equal(
      hex((e) => e.float(1)),
      'cb3ff0000000000000',
    );
  });

  it('writes strings as UTF-8 whatever their length', () => {
    const pieces = ['', 'a', 'é', '日', '😀', 'x'.repeat(31), 'x'.repeat(32), 'ä'.repeat(16)];
    for (const piece of pieces) {
      for (const repeat of [1, 2, 33, 97, 300, 70000]) {
        const s = piece.repeat(repeat);
        const e = new Encoder(16);
        e.str(s);
        const want = Buffer.from(s, 'utf8');
        const n = want.length;
        const header = n < 32 ? 1 : n < 256 ? 2 : n < 65536 ? 3 : 5;
        assert.equal(e.length, header + n);
        assert.ok(want.equals(e.bytes().subarray(header)));
        assert.equal(decodeValue(e.bytes()), s);
        assert.equal(utf8Length(s), n);
      }
    }
  });

  it('writes lone surrogates as U+FFFD', () => {
    for (const pad of ['', 'y'.repeat(200)]) {
      for (const s of ['\ud800', '\udc00', 'a\ud83d', '\ude00b', '\ud83d\ud83d\ude00', '\ud800x']) {
        const e = new Encoder();
        e.str(pad + s);
        assert.equal(decodeValue(e.bytes()), Buffer.from(pad + s, 'utf8').toString('utf8'));
      }
    }
  });

  it('writes nested byte strings with the shortest header, whatever was expected', () => {
    for (const size of [0, 1, 255, 256, 65535, 65536]) {
      for (const expected of [0, 255, 256, 70000]) {
        const e = new Encoder(16);
        const body = new Uint8Array(size).fill(7);
        e.arrayHeader(2);
        const mark = e.beginBin(expected);
        e.raw(body);
        e.endBin(mark);
        e.str('after');
        const same = new Encoder();
        same.arrayHeader(2);
        same.bin(body);
        same.str('after');
        assert.deepEqual(e.bytes(), same.bytes(), `${size} expected ${expected}`);
      }
    }
  });

  it('nests byte strings in byte strings', () => {
    const e = new Encoder(16);
    const outer = e.beginBin();
    const inner = e.beginBin();
    e.str('z'.repeat(300));
    e.endBin(inner);
    e.nil();
    e.endBin(outer);
    const outerBytes = decodeValue(e.bytes()) as Uint8Array;
    assert.equal(outerBytes.at(-1), 0xc0);
    const innerBytes = decodeValue(outerBytes.subarray(0, -1)) as Uint8Array;
    assert.equal(decodeValue(innerBytes), 'z'.repeat(300));
  });

  it('takes back what was written after a mark', () => {
    const e = new Encoder();
    e.int(1);
    const { length } = e;
    assert.throws(() => e.value({ a: 1, b: Symbol('x') }, 'v'));
    e.truncate(length);
    assert.deepEqual([...e.bytes()], [1]);
    assert.throws(() => e.truncate(2), RangeError);
  });

  it('encodes JSON-like values', () => {
    const when = new Date(1767225600123);
    const value = {
      z: 1,
      a: undefined,
      2: 'two',
      1: 'one',
      list: [undefined, null, true, 1.25, -0],
      when,
      bytes: Uint8Array.of(1, 2),
      big: 42n,
      own: { toJSON: () => ({ id: 'x' }) },
      bare: Object.assign(Object.create(null) as object, { k: 'v' }),
    };
    const e = new Encoder();
    e.value(value, 'v');
    const back = decodeValue(e.bytes());
    assert.deepEqual(back, {
      1: 'one',
      2: 'two',
      z: 1,
      list: [null, null, true, 1.25, 0],
      when: when.getTime(),
      bytes: Uint8Array.of(1, 2),
      big: 42,
      own: { id: 'x' },
      bare: { k: 'v' },
    });
    assert.deepEqual(Object.keys(back as object).slice(0, 3), ['1', '2', 'z']);
  });

  it('names the field of what it refuses', () => {
    refused(NaN, /args: NaN/);
    refused({ items: [1, 2, 3, { id: Infinity }] }, /args\.items\[3\]\.id: Infinity/);
    refused({ 'odd key': () => 1 }, /args\["odd key"\]: a function/);
    refused([Symbol('s')], /args\[0\]: a symbol/);
    refused({ n: 2n ** 53n }, /args\.n: integer 9007199254740992/);
    refused({ n: -(2n ** 60n) }, /args\.n/);
    refused({ m: new Map() }, /args\.m: a Map/);
    refused({ when: new Date(NaN) }, /args\.when: the date is invalid/);
    refused({ data: new ArrayBuffer(1) }, /args\.data: a ArrayBuffer/);
    refused(new Float64Array(1), /args: a Float64Array/);
    class Thing {
      x = 1;
    }
    refused(new Thing(), /args: a Thing/);
    refused(2n ** 64n, /args/);
    refused(() => 1, /args: a function/);
    refused({ list: new Array(8193).fill(0) }, /args\.list: 8193 elements/);
  });

  it('refuses cycles and deep nesting, and accepts shared objects', () => {
    const cycle: Record<string, unknown> = { a: {} };
    (cycle['a'] as Record<string, unknown>)['b'] = cycle;
    refused(cycle, /args\.a\.b: the value contains itself/);
    const list: unknown[] = [];
    list.push(list);
    refused(list, /args\[0\]: the value contains itself/);
    const endless = { toJSON: () => ({ endless }) };
    refused(endless, /nested deeper|contains itself/);
    let deep: unknown = 1;
    for (let i = 0; i < 60; i++) deep = [deep];
    new Encoder().value(deep, 'v');
    refused([deep], /nested deeper than 60/);
    new Encoder().value([[deep]], 'v', 64);
    const shared = { x: 1 };
    const e = new Encoder();
    e.value([shared, shared], 'v');
    assert.deepEqual(decodeValue(e.bytes()), [{ x: 1 }, { x: 1 }]);
  });

  it('refuses an object whose getters change between readings', () => {
    let read = 0;
    const shifty = {
      get a() {
        return read++ % 2 === 0 ? 1 : undefined;
      },
    };
    refused(shifty, /changed meanwhile/);
  });
});
