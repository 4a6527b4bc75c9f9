/**
 * The golden vectors of abi/testdata, which the codecs of every host read and write alike.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import * as frames from '../../src/abi/frames.gen.js';
import { CodecError, decodeValue, Decoder } from '../../src/codec/decoder.js';
import { Encoder } from '../../src/codec/encoder.js';
import { isTurncoreError } from '../../src/errors.js';
import { root } from '../engine/go-guest.js';

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`abi/testdata/${name}`, root), 'utf8'));
}

/** Bytes written as hex with spaces, in which `x*n` stands for n times x. */
function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const parts = hex.split(' ').map((part) => {
    const [text, times] = part.split('*');
    return text!.repeat(times === undefined ? 1 : Number(times));
  });
  return Uint8Array.from(Buffer.from(parts.join(''), 'hex'));
}

interface ValueVector {
  readonly name: string;
  readonly source?: unknown;
  readonly hex?: string;
  /** Set where only writing or only reading is meant: many bytes and values stand for the same. */
  readonly only?: 'write' | 'read';
  /** The field that a writer names, or `bytes` for what a reader refuses. */
  readonly refused?: string;
}

type Special = { readonly $: string } & Readonly<Record<string, unknown>>;

/** The value that a vector's source stands for. */
function revive(source: unknown): unknown {
  if (Array.isArray(source)) return source.map(revive);
  if (typeof source !== 'object' || source === null) return source;
  if (!('$' in source)) {
    return Object.fromEntries(Object.entries(source).map(([k, v]) => [k, revive(v)]));
  }
  const s = source as Special;
  const text = s['text'] as string;
  const times = s['times'] as number;
  switch (s.$) {
    case 'undefined':
      return undefined;
    case 'number':
      return Number(text);
    case 'bigint':
      return BigInt(text);
    case 'repeat':
      return text.repeat(times);
    case 'units':
      return String.fromCharCode(...(s['hex'] as string[]).map((h) => parseInt(h, 16)));
    case 'bytes':
      return bytesOf(s['hex'] as string);
    case 'time':
      return new Date(s['ms'] as number);
    case 'list':
      return new Array(times).fill(revive(s['of']));
    case 'numbered':
      return Object.fromEntries(
        Array.from({ length: times }, (_, i) => [`${s['prefix'] as string}${i}`, i]),
      );
    case 'map': {
      const map = {};
      for (const [key, v] of s['entries'] as [string, unknown][]) {
        Object.defineProperty(map, key, {
          value: revive(v),
          enumerable: true,
          writable: true,
          configurable: true,
        });
      }
      return map;
    }
    case 'nest': {
      let value: unknown = null;
      for (let i = 0; i < (s['levels'] as number); i++)
        value = s['kind'] === 'list' ? [value] : { a: value };
      return value;
    }
    case 'function':
      return () => undefined;
    default:
      throw new Error(`no value is written as ${s.$}`);
  }
}

describe('values.json', () => {
  const vectors = read('values.json') as ValueVector[];

  it('has enough of them', (t) => {
    t.diagnostic(`${vectors.length} vectors`);
    assert.ok(vectors.length >= 200);
    assert.equal(new Set(vectors.map((v) => v.name)).size, vectors.length);
  });

  it('are written as they say', () => {
    let written = 0;
    for (const v of vectors) {
      if (v.only === 'read') continue;
      written++;
      const e = new Encoder();
      const write = (): void => e.value(revive(v.source), 'v');
      if (v.refused === undefined) {
        write();
        assert.deepEqual(e.bytes(), bytesOf(v.hex!), v.name);
        continue;
      }
      assert.throws(
        write,
        (error) => {
          assert.ok(isTurncoreError(error, 'E_INVALID_VALUE'), `${v.name}: ${String(error)}`);
          assert.deepEqual(error.details, { field: v.refused }, v.name);
          return true;
        },
        v.name,
      );
    }
    assert.ok(written > 150);
  });

  it('are read as they say', () => {
    let done = 0;
    for (const v of vectors) {
      if (v.only === 'write') continue;
      done++;
      const input = bytesOf(v.hex ?? '');
      if (v.refused === undefined) assert.deepEqual(decodeValue(input), revive(v.source), v.name);
      else assert.throws(() => decodeValue(input), CodecError, v.name);
    }
    assert.ok(done > 100);
  });
});

interface FrameVector {
  readonly name: string;
  readonly type: string;
  readonly op?: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly hex: string;
}

type Layouts = Readonly<Record<string, readonly string[]>>;

/** Writes a tuple as its layout says, from the JSON of a vector. */
function writeTuple(e: Encoder, type: string, fields: Readonly<Record<string, unknown>>): void {
  const layout = (frames.LAYOUTS as Layouts)[type];
  const places = (frames as unknown as Record<string, Readonly<Record<string, number>>>)[
    `${type}Field`
  ];
  assert.ok(layout !== undefined, `layout of ${type}`);
  const names = Object.keys(fields);
  assert.equal(names.length, layout.length, type);
  if (places !== undefined) assert.deepEqual(Object.keys(places), names, type);
  e.arrayHeader(layout.length);
  layout.forEach((kind, i) => writeField(e, kind, fields[names[i]!]));
}

function writeField(e: Encoder, kind: string, value: unknown): void {
  if (kind.endsWith('[]')) {
    const list = value as unknown[];
    e.arrayHeader(list.length);
    for (const v of list) writeField(e, kind.slice(0, -2), v);
    return;
  }
  if (kind.endsWith('?')) {
    if (value === null || (kind === 'bin?' && value === '')) e.nil();
    else writeField(e, kind.slice(0, -1), value);
    return;
  }
  switch (kind) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'u64':
    case 'i32':
    case 'i64':
      e.int(value as number);
      return;
    case 'f64':
      e.float(value as number);
      return;
    case 'bool':
      e.bool(value as boolean);
      return;
    case 'str':
      e.str(value as string);
      return;
    case 'bin':
      e.bin(bytesOf(value as string));
      return;
    case 'raw':
    case 'value':
      if (value === '') e.nil();
      else e.raw(bytesOf(value as string));
      return;
    default:
      writeTuple(e, kind, value as Record<string, unknown>);
  }
}

/** What the decoder gives for a field of a vector. */
function readField(kind: string, value: unknown): unknown {
  if (kind.endsWith('[]')) return (value as unknown[]).map((v) => readField(kind.slice(0, -2), v));
  if (['raw', 'value', 'bin', 'bin?'].includes(kind)) {
    if (value === '' && kind !== 'bin') return null;
    if (value === null) return null;
    return kind.startsWith('bin') ? bytesOf(value as string) : decodeValue(bytesOf(value as string));
  }
  if (kind.endsWith('?')) return value === null ? null : readField(kind.slice(0, -1), value);
  const layout = (frames.LAYOUTS as Layouts)[kind];
  if (layout === undefined) return value;
  return Object.values(value as Record<string, unknown>).map((v, i) => readField(layout[i]!, v));
}

describe('frames.json', () => {
  const vectors = read('frames.json') as FrameVector[];

  it('has every tuple', (t) => {
    t.diagnostic(`${vectors.length} vectors`);
    assert.deepEqual(new Set(vectors.map((v) => v.type)), new Set(Object.keys(frames.LAYOUTS)));
  });

  it('are written and read alike', () => {
    for (const v of vectors) {
      const e = new Encoder();
      writeTuple(e, v.type, v.fields);
      const want = bytesOf(v.hex);
      assert.deepEqual(e.bytes(), want, v.name);
      assert.deepEqual(decodeValue(want), readField(v.type, v.fields), v.name);
    }
  });

  it('are refused when they are cut short, wherever', () => {
    for (const v of vectors) {
      const whole = bytesOf(v.hex);
      for (let n = 0; n < whole.length; n += Math.ceil(whole.length / 64)) {
        assert.throws(
          () => new Decoder(whole.subarray(0, n)).value(),
          (error) => error instanceof CodecError && error.reason === 'truncated',
          `${v.name} cut to ${n}`,
        );
      }
    }
  });
});
