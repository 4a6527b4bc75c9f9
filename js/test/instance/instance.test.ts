import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { decodeFrames } from '../codec/frames.js';
import { loadModule, type Module } from '../../src/instance/module.js';
import type { InstantiateOptions } from '../../src/instance/module-options.js';
import { hex } from '../../src/bytes.js';
import { Instance, ReentryError } from '../../src/instance/instance.js';
import { DEFAULT_INSTANCE_LIMITS } from '../../src/instance/limits.js';
import { isTurncoreError, type TurncoreError } from '../../src/errors.js';
import { StderrTail } from '../../src/wasi/stderr.js';
import { buildGuest, missingGo, Order, order } from './go-guest.js';
import { startNow } from './start-now.js';

const skip = (await missingGo()) ?? false;

describe('Instance', { skip }, () => {
  let module: Module;

  before(async () => {
    module = loadModule(await buildGuest('./js/test/guest'));
    await module.compile();
  });

  const start = (options?: InstantiateOptions): Instance => startNow(module, options);

  function dies(instance: Instance, input: Uint8Array, pattern: RegExp): TurncoreError {
    let error: unknown;
    assert.throws(
      () => instance.step(input),
      (e) => {
        error = e;
        return true;
      },
    );
    assert.ok(isTurncoreError(error, 'E_INSTANCE_FAILED'), String(error));
    assert.match(error.message, pattern);
    assert.equal(error.status, 500);
    assert.equal(instance.alive, false);
    assert.equal(instance.failure, error);
    // A dead Go runtime would answer with nonsense: it is not asked again.
    assert.throws(() => instance.step(Uint8Array.of(0x91, 1)), error);
    return error;
  }

  it('hands frames in and out', () => {
    const instance = start();
    assert.equal(instance.build, 'test');
    assert.equal(instance.features, 15);
    assert.equal(instance.limits.frame, 1 << 20);
    const outboxes: Uint8Array[] = [];
    for (const size of [1, 5, 64, 65, 4096, 4097, 100_000]) {
      const batch = new Uint8Array(size).fill(size & 0x7f);
      const out = instance.step(batch).slice();
      assert.deepEqual(out, batch);
      outboxes.push(out);
    }
    // A copy of what a step returned is not overwritten by later ones.
    outboxes.forEach((out) => assert.ok(out.every((b) => b === (out.length & 0x7f))));
    assert.equal(instance.step(new Uint8Array(0)).length, 0);
    assert.ok(instance.alive);
    assert.ok(instance.memoryBytes > 1 << 20);
  });

  it('refuses a batch over the limit and lives on', () => {
    const instance = start();
    assert.throws(
      () => instance.step(new Uint8Array((1 << 20) + 1)),
      (error) =>
        isTurncoreError(error, 'E_ABI_LIMIT_EXCEEDED') && /1048577.*1048576/.test(error.message),
    );
    assert.equal(instance.step(new Uint8Array(1 << 20)).length, 1 << 20);
  });

  it('survives growing memory', () => {
    const instance = start();
    const before = instance.memoryBytes;
    for (let i = 0; i < 3; i++) assert.deepEqual([...instance.step(order(Order.Grow))], [0x91, 7]);
    assert.ok(instance.memoryBytes >= before + (16 << 20));
    assert.deepEqual([...instance.step(Uint8Array.of(0x91, 5))], [0x91, 5]);
  });

  it('dies of a panic and says what the guest said', () => {
    const error = dies(
      start(),
      order(Order.Panic),
      /unreachable\npanic: asked to panic\n\ngoroutine/,
    );
    assert.ok(error.cause instanceof WebAssembly.RuntimeError);
    assert.ok(Buffer.byteLength((error.details as { stderr: string }).stderr) <= 4096);
  });

  it('dies of proc_exit', () => {
    dies(start(), order(Order.Exit), /proc_exit\(3\)/);
  });

  it('dies of a deadlock', () => {
    dies(start(), order(Order.Deadlock), /all goroutines are asleep/);
  });

  it('dies of a sleep instead of stopping the thread', () => {
    dies(start(), order(Order.Sleep), /fatal error: .*poll_oneoff/);
  });

  it('dies of endless recursion', () => {
    dies(start(), order(Order.Recurse), /stack/);
  });

  it('dies of endless output, with the last lines and no more', () => {
    const error = dies(start(), order(Order.Flood), /wrote more than 1048576 bytes/);
    assert.ok(error.message.length < 4096 + 200);
    assert.match(error.message, /flood\nflood$/);
  });

  it('dies of an outbox outside of memory', () => {
    dies(start(), order(Order.FarOutbox), /outbox of 4 bytes at 4294967280 is outside of memory/);
    dies(start(), order(Order.LongOutbox), /outbox of 4294967295 bytes at 16 is outside of memory/);
  });

  it('dies when a step returns without having reset the marker', () => {
    dies(start(), order(Order.KeepMarker), /before it had handled its frames/);
  });

  it('dies of frames that cannot be decoded', () => {
    const instance = start();
    const out = instance.step(order(Order.Garbage));
    assert.throws(
      () => instance.decode(out),
      (error) =>
        isTurncoreError(error, 'E_INSTANCE_FAILED') &&
        /malformed frame: .*byte 0/.test(error.message),
    );
    assert.equal(instance.alive, false);
    assert.equal(instance.memoryBytes, 0);
  });

  it('dies of taking too much memory', () => {
    const instance = start({ maxMemory: 16 << 20 });
    instance.step(order(Order.Grow));
    dies(instance, order(Order.Grow), /over the limit of 16777216/);
  });

  it('one death leaves the others alone', () => {
    const one = start();
    const other = start();
    dies(one, order(Order.Panic), /panic/);
    assert.deepEqual([...other.step(Uint8Array.of(0x91, 9))], [0x91, 9]);
  });

  it('is never entered within a step', () => {
    // Only a guest's own import could call back; the clock is one that a caller can give.
    const started: Instance[] = [];
    let inner: unknown;
    const instance = start({
      monotonic: () => {
        if (started.length > 0 && inner === undefined) {
          try {
            started[0]!.step(Uint8Array.of(0x91, 1));
          } catch (error) {
            inner = error;
          }
        }
        return 1;
      },
    });
    started.push(instance);
    instance.step(order(Order.Clock));
    assert.ok(inner instanceof ReentryError, String(inner));
    assert.ok(instance.alive);
  });

  it('hands out stderr lines after the step, also from a listener that steps or throws', (t) => {
    const logged = t.mock.method(console, 'error', () => undefined);
    const lines: string[] = [];
    let echoed = 0;
    const instance: Instance = start({
      onStderr: (line) => {
        lines.push(line);
        echoed += instance.step(Uint8Array.of(0x91, 1)).length;
        if (lines.length === 1) throw new Error('listener');
      },
    });
    instance.step(order(Order.Print));
    assert.deepEqual(lines, ['first line', 'second line']);
    assert.equal(echoed, 4);
    assert.equal(logged.mock.callCount(), 1);
    assert.equal(instance.stderr, 'first line\nsecond line\nhalf a');
  });

  it('passes no environment', () => {
    assert.deepEqual(decodeFrames(start().step(order(Order.Env))), [[7, 0]]);
  });

  it('sends the percentage of the collector once, behind the first step, and ignores the answer', () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const steps: string[] = [];
    const step = (size: number): bigint => {
      const batch = new Uint8Array(memory.buffer, 1024, size + 1);
      steps.push(hex(batch.subarray(0, size)));
      batch[size] = 0;
      return (1024n << 32n) | BigInt(size);
    };
    const guest = {
      memory,
      inbox: () => 1024,
      step,
      stderr: new StderrTail(),
      begin: () => undefined,
    };
    const config = {
      guest,
      hello: undefined,
      limits: DEFAULT_INSTANCE_LIMITS,
      abi: 0,
      maxMemory: 1 << 20,
    };
    const instance = new Instance({ ...config, gcPercent: 300, onStderr: undefined });
    for (const batch of [
      [0x91, 1],
      [0x91, 2],
    ]) {
      assert.deepEqual([...instance.step(Uint8Array.from(batch))], batch);
    }
    assert.deepEqual(steps, ['9101', '920dcd012c', '9102']);
    for (const gcPercent of [0, -1, 1.5, 2 ** 31]) {
      assert.throws(() => new Instance({ ...config, gcPercent, onStderr: undefined }), {
        name: 'RangeError',
        message: `gcPercent must be an integer from 1 to 2147483647, not ${gcPercent}`,
      });
    }
  });

  it('has clocks that run, stand still or jump back, and none of them kills it', () => {
    let now = 1000;
    const clocks = [undefined, () => 0, () => 5, () => (now -= 10)];
    for (const monotonic of clocks) {
      const instance = start({ monotonic });
      assert.deepEqual(decodeFrames(instance.step(order(Order.Clock))), [[7, 1, 1, 1]]);
    }
  });

  it('has randomness in any amount', () => {
    const instance = start();
    assert.deepEqual(decodeFrames(instance.step(order(Order.Random))), [[7, 1]]);
  });

  it('closes for good', () => {
    const instance = start();
    instance.close();
    assert.equal(instance.alive, false);
    assert.throws(() => instance.step(Uint8Array.of(0x91, 1)), /closed/);
  });
});
