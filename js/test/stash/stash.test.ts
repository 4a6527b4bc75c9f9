import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Stash } from '../../src/index.js';

describe('Stash', () => {
  it('reads and writes under dotted paths', () => {
    const r = new Stash({ a: { b: 1 }, list: [1, 2] });
    r.set('a.c.d', 'x').set('steps.0.done', true).set('steps.1', null);
    assert.deepEqual(r.all(), {
      a: { b: 1, c: { d: 'x' } },
      list: [1, 2],
      steps: [{ done: true }, null],
    });
    assert.equal(r.get('a.b'), 1);
    assert.equal(r.get('list.1'), 2);
    assert.equal(r.get('a.missing'), undefined);
    assert.equal(r.get('a.missing', 'fallback'), 'fallback');
    assert.equal(r.get('a.b.c'), undefined);
    assert.deepEqual(r.keys(), ['a.b', 'a.c.d', 'list', 'steps']);
  });

  it('null, 0, false and the empty string are there, undefined is not', () => {
    const r = new Stash({ n: null, z: 0, f: false, s: '', u: undefined });
    for (const key of ['n', 'z', 'f', 's']) assert.equal(r.has(key), true, key);
    assert.equal(r.has('u'), false);
    r.set('z', undefined);
    assert.equal(r.has('z'), false);
    assert.equal(r.delete('z'), false);
    assert.equal(r.delete('n'), true);
  });

  it('shares no object with who puts in or takes out', () => {
    const seed = { deep: { list: [1] }, bytes: Uint8Array.of(1), when: new Date(5) };
    const r = new Stash(seed);
    seed.deep.list.push(2);
    seed.bytes[0] = 9;
    const got = r.get('deep') as { list: number[] };
    got.list.push(3);
    const value = { x: 1 };
    r.set('v', value);
    value.x = 2;
    assert.deepEqual(r.all(), {
      deep: { list: [1] },
      bytes: Uint8Array.of(1),
      when: new Date(5),
      v: { x: 1 },
    });
  });

  it('copies change apart, at every depth', () => {
    const sets: string[] = [];
    const sink = {
      set: (key: string, value: unknown) => void sets.push(`${key} ${JSON.stringify(value)}`),
      unset: (key: string) => void sets.push(`no ${key}`),
    };
    const a = new Stash({ x: { y: { z: 1 } }, l: [{ n: 1 }] });
    a.set('x.own', true);
    const b = Stash.of(a.share(), sink);
    b.set('x.y.z', 2).set('l.0.n', 2);
    a.set('x.y.w', 3);
    assert.deepEqual(a.all(), { x: { y: { z: 1, w: 3 }, own: true }, l: [{ n: 1 }] });
    assert.deepEqual(b.all(), { x: { y: { z: 2 }, own: true }, l: [{ n: 2 }] });
    // The module knows the stash by its first keys.
    assert.deepEqual(sets, ['x {"y":{"z":2},"own":true}', 'l [{"n":2}]']);
    sets.length = 0;
    assert.equal(b.delete('x.y'), true);
    assert.equal(b.delete('x'), true);
    assert.deepEqual(sets, ['x {"own":true}', 'no x']);
  });

  it('takes shared values in the place of its own, and reports what changes afterwards', () => {
    const sets: string[] = [];
    const sink = {
      set: (key: string, value: unknown) => void sets.push(`${key} ${JSON.stringify(value)}`),
      unset: (key: string) => void sets.push(`no ${key}`),
    };
    const r = Stash.of({}, sink);
    r.set('own.n', 1);
    const root = { ...r.share(), given: { n: 1 } };
    r.share(root);
    assert.deepEqual(r.all(), { own: { n: 1 }, given: { n: 1 } });
    assert.deepEqual(sets, ['own {"n":1}']);
    r.set('given.n', 2);
    assert.deepEqual(sets, ['own {"n":1}', 'given {"n":2}']);
    assert.deepEqual(root, { own: { n: 1 }, given: { n: 1 } });
  });

  it('is as it was after a value that cannot cross', () => {
    const sink = {
      set: (_key: string, value: unknown) => {
        if (JSON.stringify(value).includes('bad')) throw new Error('too large');
      },
      unset: () => undefined,
    };
    const before = { x: { y: 1 }, l: [1] };
    const r = Stash.of(new Stash(before).share(), sink);
    for (const path of ['x', 'x.y', 'x.z', 'x.n.e.w', 'l.0', 'l.5', 'l.1.n', 'other', 'o.t.h']) {
      assert.throws(() => r.set(path, 'bad'), /too large/, path);
      assert.deepEqual(r.all(), before, path);
    }
    assert.deepEqual(r.set('x.z', 2).all(), { x: { y: 1, z: 2 }, l: [1] });
  });

  it('refuses values that JSON lacks, and paths that lead nowhere', () => {
    for (const seed of [[], 'text', 42, null]) {
      assert.throws(() => new Stash(seed as never), {
        code: 'E_INVALID_INITIAL_REGISTRY_VALUE',
      });
    }
    assert.throws(() => new Stash({ f: () => 1 }), { code: 'E_INVALID_INITIAL_REGISTRY_VALUE' });
    const r = new Stash({ n: 1 });
    const bad: [string, unknown][] = [
      ['m', new Map()],
      ['m', { deep: [Symbol('x')] }],
      ['m', Number.NaN],
      ['n.x', 1],
      ['', 1],
      ['a..b', 1],
    ];
    for (const [path, value] of bad) {
      assert.throws(() => r.set(path, value), { code: 'E_INVALID_VALUE' }, path);
    }
    r.set('list', []);
    assert.throws(() => r.set('list.9000', 1), { code: 'E_INVALID_VALUE' });
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    assert.equal(r.get('constructor'), undefined);
    assert.equal(r.get('__proto__'), undefined);
    r.set('__proto__.polluted', 1).set('constructor', 2).set('a.__proto__', 3);
    assert.equal(r.get('__proto__.polluted'), 1);
    assert.deepEqual(r.keys(), ['n', 'list', '__proto__.polluted', 'constructor', 'a.__proto__']);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    assert.deepEqual(new Stash(r.all()).keys(), r.keys());
    assert.equal(r.delete('__proto__'), true);
    assert.equal(r.has('__proto__'), false);
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    assert.throws(() => r.set('loop', loop), { code: 'E_INVALID_VALUE' });
  });
});
