import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Sequence } from '../../src/collections/sequence.js';
import { mulberry32 } from '../../src/entropy.js';

interface Item {
  readonly n: number;
}
const list = (s: Sequence<Item>): number[] => [...s].map((item) => item.n);

/** A run of items that many sequences share. */
function run(items: Item[]): {
  length: number;
  at(i: number): Item | undefined;
  indexOf(item: Item): number;
} {
  return { length: items.length, at: (i) => items[i], indexOf: (item) => items.indexOf(item) };
}

describe('Sequence', () => {
  it('does what a plain list does, whatever is done to it and its copies', () => {
    const random = mulberry32(7);
    const below = (n: number): number => random() % n;
    for (let round = 0; round < 60; round++) {
      let next = 0;
      const make = (): Item => ({ n: next++ });
      const pairs = [{ sequence: new Sequence<Item>(), model: [] as Item[] }];
      for (let step = 0; step < 150; step++) {
        const { sequence, model } = pairs[below(pairs.length)]!;
        const some = model[below(Math.max(model.length, 1))];
        switch (below(9)) {
          case 0:
          case 1:
          case 2: {
            const item = make();
            sequence.push(item);
            model.push(item);
            break;
          }
          case 3: {
            const items = Array.from({ length: below(6) }, make);
            sequence.pushRun(run(items));
            model.push(...items);
            break;
          }
          case 4:
            if (some === undefined) break;
            assert.equal(sequence.remove(some), true);
            model.splice(model.indexOf(some), 1);
            break;
          case 5: {
            if (some === undefined) break;
            const item = make();
            assert.equal(sequence.replace(some, item), true);
            model[model.indexOf(some)] = item;
            break;
          }
          case 6: {
            const item = make();
            sequence.insertBefore(item, some);
            model.splice(some === undefined ? model.length : model.indexOf(some), 0, item);
            break;
          }
          case 7:
            if (pairs.length < 6) pairs.push({ sequence: sequence.fork(), model: model.slice() });
            break;
          case 8:
            if (below(20) !== 0) break;
            sequence.clear();
            model.length = 0;
            break;
          default:
        }
        for (const pair of pairs) {
          assert.equal(pair.sequence.size, pair.model.length);
          assert.deepEqual(
            list(pair.sequence),
            pair.model.map((item) => item.n),
          );
        }
        for (const item of model) assert.equal(sequence.has(item), true);
        assert.equal(sequence.has({ n: -1 }), false);
      }
    }
  });

  it('a replaced item that was elsewhere moves', () => {
    const [a, b, c] = [{ n: 1 }, { n: 2 }, { n: 3 }] as const;
    const s = new Sequence<Item>();
    for (const item of [a, b, c]) s.push(item);
    const copy = s.fork();
    assert.equal(s.replace(a, c), true);
    assert.deepEqual(list(s), [3, 2]);
    assert.equal(s.size, 2);
    assert.equal(s.replace(a, b), false);
    assert.deepEqual(list(s), [3, 2]);
    assert.deepEqual(list(copy), [1, 2, 3]);
  });

  it('items that are added while it is iterated are seen', () => {
    const s = new Sequence<Item>();
    s.push({ n: 0 });
    const seen: number[] = [];
    for (const item of s) {
      seen.push(item.n);
      if (item.n < 5) s.push({ n: item.n + 1 });
    }
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5]);
  });

  it('forks of a long sequence cost the same as of a short one', () => {
    const forks = (size: number): number => {
      const s = new Sequence<Item>();
      for (let n = 0; n < size; n++) s.push({ n });
      s.fork();
      const start = performance.now();
      for (let i = 0; i < 2000; i++) s.fork();
      return performance.now() - start;
    };
    forks(10);
    // Copying 100,000 items 2,000 times would take seconds.
    assert.ok(forks(100_000) < 500);
  });
});
