import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { decodeFrames } from '../codec/frames.js';
import type { GoRuntime } from '../../src/instance/gojs.js';
import { loadModule, type Module } from '../../src/instance/module.js';
import { isTurncoreError } from '../../src/errors.js';
import { buildGuest, loadGoRuntime, missingGo, Order, order } from './go-guest.js';

const skip = (await missingGo()) ?? false;

describe('a module built with GOOS=js', { skip }, () => {
  let bytes: Uint8Array<ArrayBuffer>;
  let goRuntime: GoRuntime;
  let module: Module;

  before(async () => {
    goRuntime = await loadGoRuntime();
    bytes = await buildGuest('./js/test/guest', 'js');
    module = loadModule(bytes, { goRuntime });
  });

  it('needs the loader', async () => {
    await assert.rejects(loadModule(bytes).instantiate(), /goRuntime/);
  });

  it('steps like the other, in instances of its own', async () => {
    const a = await module.instantiate();
    const b = await module.instantiate();
    for (const size of [1, 100, 5000]) {
      const batch = new Uint8Array(size).fill(1);
      assert.deepEqual(a.step(batch), batch);
      assert.deepEqual(b.step(batch), batch);
    }
    a.step(order(Order.Grow));
    assert.deepEqual(decodeFrames(a.step(order(Order.Env))), [[7, 0]]);
    assert.ok(a.memoryBytes > b.memoryBytes);
  });

  it('can be the core module', async () => {
    const core = loadModule(await buildGuest('./wasm/module', 'js'), { goRuntime });
    const instance = await core.instantiate();
    assert.equal(instance.abi >>> 16, 2);
    assert.equal(decodeFrames(instance.step(Uint8Array.of(0x91, 99))).length, 1);
  });

  it('dies of what the other dies of', async () => {
    const deaths: [number, RegExp][] = [
      [Order.Panic, /panic: asked to panic/],
      [Order.Exit, /proc_exit\(3\)/],
      [Order.Deadlock, /before it had handled its frames/],
      [Order.Sleep, /before it had handled its frames/],
      [Order.Flood, /wrote more than/],
      [Order.KeepMarker, /before it had handled its frames/],
      [Order.FarOutbox, /outside of memory/],
    ];
    for (const [number, pattern] of deaths) {
      const instance = await module.instantiate();
      assert.throws(
        () => instance.step(order(number)),
        (error) => {
          assert.ok(isTurncoreError(error, 'E_INSTANCE_FAILED'), String(error));
          assert.match(error.message, pattern);
          return true;
        },
      );
      assert.equal(instance.alive, false);
    }
  });
});
