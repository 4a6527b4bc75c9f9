/**
 * The core module itself, frame by frame, without the layers above.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Op } from '../../src/abi/frames.gen.js';
import { Encoder } from '../../src/codec/encoder.js';
import { mulberry32 } from '../../src/entropy.js';
import type { Instance } from '../../src/instance/instance.js';
import { loadModule, type Module } from '../../src/instance/module.js';
import { LAYOUTS } from '../codec/layouts.gen.js';
import { buildGuest, missingGo } from './go-guest.js';
import { startNow } from './start-now.js';

const skip = (await missingGo()) ?? false;

function frame(...fields: unknown[]): Uint8Array {
  const e = new Encoder();
  e.value(fields, 'frame');
  return e.copy();
}

describe('the core module', { skip }, () => {
  let module: Module;

  before(async () => {
    module = loadModule(await buildGuest('./wasm/module'));
    await module.compile();
  });

  it('welcomes, and takes lower limits', () => {
    const instance = startNow(module, { limits: { depth: 32, turnEffects: 10 } });
    assert.equal(instance.abi >>> 16, 2);
    assert.equal(instance.limits.depth, 32);
    assert.equal(instance.limits.turnEffects, 10);
    assert.equal(instance.limits.frame, 16 << 20);
    assert.ok(instance.build.length > 0);
  });

  it('opens a runner', () => {
    const instance = startNow(module);
    const out = instance.step(frame(Op.OpenRunner, 1, 1, 0, null, [], [], [], [], [], 0, []));
    assert.deepEqual(instance.decode(out), [
      { op: Op.Reply, turn: 0, call: 1, error: null, value: null },
    ]);
  });

  it('answers what it cannot take with a Fault, and lives on', () => {
    const instance = startNow(module);
    const bad = [
      Uint8Array.of(0xc1),
      Uint8Array.of(0x92, 5),
      frame(99, 1),
      frame(Op.StartTurn, 1),
      frame(Op.Result, 'x', 1, 0, null, null),
      instance.hello,
    ];
    for (const batch of bad) {
      const [fault, ...more] = instance.decode(instance.step(batch));
      assert.ok(fault?.op === Op.Fault, Buffer.from(batch).toString('hex'));
      assert.equal(more.length, 0, Buffer.from(batch).toString('hex'));
      assert.match(fault.code, /^E_ABI_/);
    }
    assert.ok(instance.alive);
  });

  it('survives frames that are right in form and random in content', (t) => {
    const next = mulberry32(7);
    const random = (n: number): number => next() % n;
    const kinds = Object.keys(Op).filter(
      (name) => Op[name as keyof typeof Op] < 32 && name !== 'Hello',
    );
    const e = new Encoder();
    const write = (kind: string, first?: number, levels = 4): void => {
      if (kind.endsWith('[]')) {
        const n = levels > 0 ? random(3) : 0;
        e.arrayHeader(n);
        for (let i = 0; i < n; i++) write(kind.slice(0, -2), undefined, levels - 1);
      } else if (kind.endsWith('?')) {
        if (levels === 0 || random(2) === 0) e.nil();
        else write(kind.slice(0, -1), undefined, levels - 1);
      } else if (/^[ui]\d/.test(kind)) {
        e.int(first ?? (random(8) === 0 ? next() % 70_000 : random(6)));
      } else if (kind === 'f64') {
        e.float(random(100) / 10);
      } else if (kind === 'bool') {
        e.bool(random(2) === 1);
      } else if (kind === 'str') {
        e.str('xyz'.repeat(random(3)));
      } else if (kind === 'bin') {
        e.bin(new Uint8Array(16).fill(random(256)));
      } else if (kind === 'raw' || kind === 'value') {
        e.value(
          [null, 1, 'x', { a: [1] }, [1, 'x', null, true], [0, 0, 'x', 'x', false]][random(6)],
          'raw',
        );
      } else {
        const layout = Object.values(LAYOUTS[kind]!);
        e.arrayHeader(layout.length);
        layout.forEach((k, i) => write(k, i === 0 ? first : undefined, levels));
      }
    };
    /** An instance with a runner and five turns that wait for their first effect. */
    const begin = (): Instance => {
      const fresh = startNow(module);
      fresh.step(frame(Op.OpenRunner, 1, 1, 0, null, [], [], [], [], [], 0, []));
      for (let turn = 1; turn <= 5; turn++) {
        const block = [3, 0, 0, null];
        fresh.step(
          frame(
            Op.StartTurn,
            turn,
            1,
            false,
            0,
            new Uint8Array(16),
            'id',
            'p',
            [],
            null,
            block,
            [],
            false,
          ),
        );
      }
      return fresh;
    };
    let instance = begin();
    const answers = new Map<unknown, number>();
    let steps = 0;
    while (steps < 20_000) {
      e.reset();
      for (let k = random(4); k >= 0; k--) {
        const kind = kinds[random(kinds.length)]!;
        write(kind, Op[kind as keyof typeof Op]);
      }
      const batch = e.copy();
      // Now and then a byte that is wrong.
      if (random(10) === 0) batch[random(batch.length)] = random(256);
      for (const f of instance.decode(instance.step(batch))) {
        answers.set(f.op, (answers.get(f.op) ?? 0) + 1);
      }
      if (++steps % 500 === 0) instance = begin();
    }
    t.diagnostic(`${steps} steps, answers by op: ${JSON.stringify([...answers])}`);
    for (const op of [Op.Fault, Op.Reply, Op.Event, Op.Effect, Op.End])
      assert.ok((answers.get(op) ?? 0) > 0, `op ${op}`);
  });
});
