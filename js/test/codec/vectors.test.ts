/**
 * The golden vectors of abi/testdata, which the codecs of every host read and write alike.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { EffectKind, Method, Op, Part } from '../../src/abi/frames.gen.js';
import * as records from '../../src/codec/records.gen.js';
import * as tuples from '../../src/codec/tuples.gen.js';
import { CodecError, decodeValue, Decoder, framesOf, valueOf } from '../../src/codec/decoder.js';
import { Encoder } from '../../src/codec/encoder.js';
import { isTurncoreError } from '../../src/errors.js';
import { root } from '../instance/go-guest.js';
import { LAYOUTS } from './layouts.gen.js';

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

/** The codec, by the names of its functions. */
const codec = { ...tuples, ...records } as unknown as Readonly<Record<string, unknown>>;

function readerOf(type: string): ((d: Decoder) => unknown) | undefined {
  const read = codec[`read${type}`] as ((d: Decoder) => unknown) | undefined;
  const take = codec[`to${type}`] as ((value: unknown) => unknown) | undefined;
  return read ?? (take && ((d) => take(d.value())));
}

function writerOf(type: string): ((e: Encoder, tuple: unknown) => void) | undefined {
  return codec[`write${type}`] as ((e: Encoder, tuple: unknown) => void) | undefined;
}

/** What a writer takes for a field of a vector; what a reader gives for it. */
function fieldOf(kind: string, value: unknown, way: 'read' | 'write'): unknown {
  if (kind.endsWith('[]')) {
    return (value as unknown[]).map((v) => fieldOf(kind.slice(0, -2), v, way));
  }
  if (kind === 'bin') return bytesOf(value as string);
  if (kind === 'raw' || kind === 'value' || kind === 'bin?') {
    if (value === '' || value === null) return null;
    const bytes = bytesOf(value as string);
    if (kind === 'bin?') return bytes;
    return way === 'read' ? decodeValue(bytes) : (e: Encoder) => e.raw(bytes);
  }
  if (kind.endsWith('?')) return value === null ? null : fieldOf(kind.slice(0, -1), value, way);
  if (LAYOUTS[kind] === undefined) return value;
  return tupleOf(kind, value as Record<string, unknown>, way);
}

function tupleOf(
  type: string,
  fields: Readonly<Record<string, unknown>>,
  way: 'read' | 'write',
): unknown {
  const layout = Object.entries(LAYOUTS[type]!);
  assert.deepEqual(
    Object.keys(fields),
    layout.map(([name]) => name),
    type,
  );
  return Object.fromEntries(layout.map(([name, kind]) => [name, fieldOf(kind, fields[name], way)]));
}

/**
 * A vector as tuples are written and read: a part has its own number, and where a field names a tuple for a value of
 * any kind it names none, as the readers would want that one there.
 */
function plain({ type, fields, hex }: FrameVector): {
  bytes: Uint8Array;
  fields: Readonly<Record<string, unknown>>;
} {
  const others: Readonly<Record<string, object>> = {
    Event: { kind: 0xff },
    Effect: { kind: 0xff },
    Call: { method: Method.Ack, args: '' },
    ArtifactPart: { part: Part.Artifact },
    MediaPart: { part: Part.Media },
    TextPart: { part: Part.Text },
  };
  const other = others[type];
  if (other === undefined) return { bytes: bytesOf(hex), fields };
  const changed = { ...fields, ...other };
  const e = new Encoder();
  e.value(Object.values(tupleOf(type, changed, 'read') as object), type);
  return { bytes: e.copy(), fields: changed };
}

describe('frames.json', () => {
  const vectors = read('frames.json') as FrameVector[];

  it('has every tuple', (t) => {
    t.diagnostic(`${vectors.length} vectors`);
    assert.deepEqual(new Set(vectors.map((v) => v.type)), new Set(Object.keys(LAYOUTS)));
  });

  it('has a reader or a writer for each of them', () => {
    for (const type of Object.keys(LAYOUTS)) {
      assert.ok(readerOf(type) ?? writerOf(type), type);
    }
  });

  it('are written by the writers', (t) => {
    let written = 0;
    for (const v of vectors) {
      const write = writerOf(v.type);
      if (write === undefined) continue;
      written++;
      const e = new Encoder();
      const { bytes, fields } = plain(v);
      write(e, tupleOf(v.type, fields, 'write'));
      assert.deepEqual(e.bytes(), bytes, v.name);
    }
    t.diagnostic(`${written} written`);
    assert.ok(written > 50);
  });

  it('are read by the readers', (t) => {
    let done = 0;
    for (const v of vectors) {
      const reader = readerOf(v.type);
      if (reader === undefined) continue;
      done++;
      const { bytes, fields } = plain(v);
      // The path of an effect is read for tools only.
      const seen = v.type === 'Effect' ? { ...fields, path: '' } : fields;
      assert.deepEqual(valueOf(reader, bytes), tupleOf(v.type, seen, 'read'), v.name);
    }
    t.diagnostic(`${done} read`);
    assert.ok(done > 50);
  });

  it('have the path of an effect for a tool', () => {
    for (const path of ['d1.0.x', 'é'.repeat(20)]) {
      const e = new Encoder();
      const args = [5, 'id', 'run', 'theirs', null, false, 0, 0, false];
      e.value([Op.Effect, 1, 2, EffectKind.Tool, 3, path, 4, args], 'effect');
      assert.equal(tuples.readEffect(new Decoder(e.bytes())).path, path);
    }
  });

  it('skip a path, short or long, and refuse what is none', () => {
    const frame = (path: unknown): Uint8Array => {
      const e = new Encoder();
      e.value([Op.Effect, 1, 2, EffectKind.Executor, 3, path, 4, [6]], 'effect');
      return e.copy();
    };
    for (const path of ['', 'd1.0.x', 'é'.repeat(100)]) {
      const read = tuples.readEffect(new Decoder(frame(path)));
      assert.deepEqual([read.path, read.ordinal], ['', 4], path);
    }
    for (const wrong of [7, null, new Uint8Array(2)]) {
      assert.throws(() => tuples.readEffect(new Decoder(frame(wrong))), CodecError);
    }
  });

  it('are refused when they are cut short, wherever', () => {
    for (const v of vectors) {
      const whole = plain(v).bytes;
      const reader = readerOf(v.type);
      for (let n = 0; n < whole.length; n += Math.ceil(whole.length / 64)) {
        for (const one of [(d: Decoder) => d.value(), reader]) {
          if (one === undefined) continue;
          assert.throws(
            () => one(new Decoder(whole.subarray(0, n))),
            (error) => error instanceof CodecError && error.reason === 'truncated',
            `${v.name} cut to ${n}`,
          );
        }
      }
    }
  });
});

/** Values that a field of a kind cannot have. */
function wrongFor(kind: string): readonly unknown[] {
  if (kind === 'raw' || kind === 'value') return [];
  if (kind === 'bin?') return [7, 'x', [], true];
  if (kind.endsWith('[]')) return [null, 7, 'x', {}, true, [{ a: 'x'.repeat(200) }]];
  if (kind.endsWith('?')) return wrongFor(kind.slice(0, -1)).filter((v) => v !== null);
  const most: Readonly<Record<string, number>> = { u8: 0xff, u16: 0xffff, u32: 0xffffffff };
  switch (kind) {
    case 'u8':
    case 'u16':
    case 'u32':
      return [null, 'x', true, -1, 0.5, most[kind]! + 1];
    case 'u64':
      return [null, 'x', true, -1, 0.5];
    case 'i32':
      return [null, 'x', true, 0.5, 0x80000000, -0x80000001];
    case 'i64':
      return [null, 'x', true, 0.5];
    case 'f64':
      return [null, 'x', true];
    case 'bool':
      return [null, 0, 'x'];
    case 'str':
      return [null, 7, true, [], new Uint8Array(1)];
    case 'bin':
      return [null, 7, 'x', []];
    default:
      return [null, 7, 'x', [], {}];
  }
}

/** A right value for a field. */
function anyOf(kind: string): unknown {
  if (kind === 'raw' || kind === 'value' || kind.endsWith('?')) return null;
  if (kind.endsWith('[]')) return [];
  if (/^[uif]\d/.test(kind)) return 0;
  if (kind === 'bool') return false;
  if (kind === 'str') return '';
  if (kind === 'bin') return new Uint8Array(1);
  return listOf(kind);
}

/** A right tuple, as the array that it is on the wire. */
function listOf(type: string): unknown[] {
  const list = Object.values(LAYOUTS[type]!).map(anyOf);
  if (type in Op) list[0] = Op[type as keyof typeof Op];
  return list;
}

describe('malformed tuples', () => {
  const readers = Object.keys(LAYOUTS).filter((type) => readerOf(type) !== undefined);
  const refuse = (type: string, list: unknown, what: string): void => {
    const e = new Encoder();
    e.value(list, type);
    assert.throws(
      () => valueOf(readerOf(type)!, e.bytes()),
      (error) => {
        assert.ok(error instanceof CodecError, `${type}: ${what}: ${String(error)}`);
        assert.match(error.message, /^[A-Z]\w+: .* at byte \d+$/, `${type}: ${what}`);
        assert.equal(error.reason, 'field');
        return true;
      },
      `${type}: ${what}`,
    );
  };

  it('are refused by every reader, by the field that is wrong', (t) => {
    let refused = 0;
    for (const type of readers) {
      const good = listOf(type);
      const e = new Encoder();
      e.value(good, type);
      assert.ok(valueOf(readerOf(type)!, e.bytes()), type);
      Object.entries(LAYOUTS[type]!).forEach(([name, kind], i) => {
        for (const wrong of wrongFor(kind)) {
          refuse(type, good.with(i, wrong), `${name} = ${JSON.stringify(wrong)}`);
          refused++;
        }
      });
    }
    t.diagnostic(`${refused} malformed tuples of ${readers.length} readers`);
    assert.ok(refused > 500);
  });

  it('are refused with a field less or more, and when they are no arrays', () => {
    for (const type of readers) {
      const good = listOf(type);
      refuse(type, good.slice(0, -1), 'a field less');
      refuse(type, [...good, null], 'a field more');
      for (const wrong of [null, 7, 'x', true, {}, new Uint8Array(2)]) {
        refuse(type, wrong, JSON.stringify(wrong));
      }
    }
  });

  it('say where the field is', () => {
    const e = new Encoder();
    e.value(['id', 1, 7, 0, false], 'event');
    assert.throws(() => valueOf(tuples.readStreamEvent, e.bytes()), {
      message: 'StreamEvent: a string is expected at byte 5',
      offset: 5,
    });
    // A field behind a nested tuple is the outer one's.
    const welcome = [Op.Welcome, 2, 0, 0, [0, 0, 0, 0, 0, 0], [0, 0], 7, []];
    e.reset();
    e.value(welcome, 'frame');
    assert.throws(() => valueOf(tuples.readWelcome, e.bytes()), {
      message: 'Welcome: a string is expected at byte 15',
    });
  });

  it('are refused as frames when the op is another direction’s, unknown, or none', () => {
    for (const frame of [[Op.Call, 1], [55, 1], [0], [-1], ['x'], []]) {
      const e = new Encoder();
      e.value(frame, 'frame');
      assert.throws(() => framesOf(tuples.readFrame, e.bytes()), CodecError, String(frame));
    }
  });

  it('nest no deeper than a frame may, and hold no more errors than an error may', () => {
    let error: unknown[] = listOf('ErrorValue');
    for (let i = 0; i < 70; i++) error = listOf('ErrorValue').with(8, error);
    const e = new Encoder();
    e.value(error, 'error', 100);
    assert.throws(() => valueOf(tuples.readErrorValue, e.bytes()), { reason: 'depth' });
    e.reset();
    e.value(listOf('ErrorValue').with(9, new Array(65).fill(listOf('ErrorValue'))), 'error');
    assert.throws(() => valueOf(tuples.readErrorValue, e.bytes()), { reason: 'length' });
  });
});
