/**
 * Modules that are not trusted: they end when they have used their fuel, and nothing else does.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { E_INSTANCE_FAILED, E_INVALID_MODULE } from '../../src/entries/errors.js';
import { type Fuel, FuelError, meter, meteredModule } from '../../src/entries/metering.js';
import { ABI_MAJOR } from '../../src/abi/frames.gen.js';
import { createRunner } from '../../src/index.js';
import { assemble, i32, i64, type SmallFunction } from '../instance/wasm-builder.js';

const core = await readFile(new URL('../../../dist/turncore.wasm', import.meta.url));

/** A loop that never ends. */
const forever = [0x03, 0x40, 0x0c, 0, 0x0b];

/** A module that does nothing, with other functions in place of some. */
function small(exports: Readonly<Record<string, SmallFunction>> = {}): Uint8Array<ArrayBuffer> {
  return assemble({
    memory: 'memory',
    exports: {
      _initialize: { body: [] },
      turncore_abi: { results: ['i32'], body: i32(ABI_MAJOR << 16) },
      turncore_inbox: { params: ['i32'], results: ['i32'], body: i32(1024) },
      turncore_step: { params: ['i32'], results: ['i64'], body: i64(0n) },
      ...exports,
    },
  });
}

async function spent(file: Uint8Array<ArrayBuffer>, fuel: Fuel): Promise<FuelError> {
  let error: unknown;
  await assert.rejects(
    async () => {
      const instance = await meteredModule(file, fuel).instantiate({ handshake: false });
      instance.step(Uint8Array.of(1));
    },
    (thrown) => ((error = thrown), true),
  );
  assert.ok(error instanceof E_INSTANCE_FAILED, String(error));
  assert.ok(error.cause instanceof FuelError, String(error.cause));
  assert.match(error.message, /more than \d+ units of fuel, the limit (start|step)/);
  return error.cause;
}

describe('a metered module', () => {
  it('runs turns', async () => {
    const runner = createRunner({
      executor: (ctx) => ctx.ack(),
      host: { module: meteredModule(core) },
    });
    for (let n = 0; n < 3; n++) {
      const { status } = await runner.stream({ message: 'x' }).result;
      assert.equal(status, 'ack');
    }
  });

  it('has the hash of the file', async () => {
    const digest = await crypto.subtle.digest('SHA-256', core);
    assert.equal(await meteredModule(core).hash(), Buffer.from(digest).toString('hex'));
  });

  it('ends a start', async () => {
    for (const name of ['_initialize', 'turncore_abi']) {
      const results = name === 'turncore_abi' ? (['i32'] as const) : [];
      const file = small({ [name]: { results, body: [...forever, 0x00] } });
      const { limit, units } = await spent(file, { start: 1000 });
      assert.deepEqual({ limit, units }, { limit: 'start', units: 1000 });
    }
  });

  it('ends a step', async () => {
    const inbox = { params: ['i32'], results: ['i32'], body: [...forever, 0x00] } as const;
    const step = { params: ['i32'], results: ['i64'], body: [...forever, 0x00] } as const;
    for (const file of [small({ turncore_inbox: inbox }), small({ turncore_step: step })]) {
      const { limit, units } = await spent(file, { step: 1_000_000.5 });
      assert.deepEqual({ limit, units }, { limit: 'step', units: 1_000_000 });
    }
  });

  it('may trap for another reason', async () => {
    const step = { params: ['i32'], results: ['i64'], body: [0x00] } as const;
    const instance = await meteredModule(small({ turncore_step: step })).instantiate({
      handshake: false,
    });
    assert.throws(
      () => instance.step(Uint8Array.of(1)),
      (error) => error instanceof E_INSTANCE_FAILED && !(error.cause instanceof FuelError),
    );
  });

  it('may be given compiled if it was metered before', async () => {
    const compiled = await WebAssembly.compile(meter(core));
    const instance = await meteredModule(compiled).instantiate();
    assert.ok(instance.alive);
    const other = await WebAssembly.compile(core);
    await assert.rejects(
      meteredModule(other).instantiate(),
      (error) =>
        error instanceof E_INVALID_MODULE && error.message.includes('was not metered before'),
    );
  });

  it('is refused if it cannot be metered', async () => {
    const file = small({ _initialize: { body: [0x12, 0] } });
    await assert.rejects(
      meteredModule(file).compile(),
      (error) =>
        error instanceof E_INVALID_MODULE &&
        /cannot be metered: function 0 .*the instruction 0x12/.test(error.message),
    );
  });

  it('names a bound that is none', () => {
    for (const fuel of [{ start: 0 }, { step: -1 }, { step: NaN }, { start: 2 ** 60 }]) {
      const [name] = Object.keys(fuel);
      assert.throws(() => meteredModule(core, fuel), new RegExp(`fuel.${name} is`));
    }
    assert.throws(() => meteredModule(core, { step: '1' as unknown as number }), /fuel.step is 1/);
  });
});
