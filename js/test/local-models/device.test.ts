/** What a model needs of the device. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { checkDevice, type DeviceLike, type DeviceNeeds } from '../../src/entries/models.js';
import { pageEngine, settingRules } from '../../src/local-models/page-engine.js';
import { isTurncoreError } from '../../src/index.js';

const rules = { title: 'settings', code: 'E_INVALID_VALUE', fields: settingRules };
const gpu = (...features: string[]): DeviceLike['gpu'] => ({
  requestAdapter: () => Promise.resolve({ features: new Set(features) }),
});
const storage = (quota?: number, usage?: number): DeviceLike['storage'] => ({
  estimate: () => Promise.resolve({ quota, usage }),
});

describe('a device', () => {
  const enough: [string, DeviceNeeds, DeviceLike][] = [
    ['that is asked for nothing', {}, {}],
    ['that needs no WebGPU', { webGPU: false }, {}],
    ['with WebGPU', { webGPU: true }, { gpu: gpu() }],
    ['with the features', { webGPU: ['shader-f16'] }, { gpu: gpu('shader-f16', 'subgroups') }],
    ['with as much memory', { memory: 4 * 2 ** 30 }, { deviceMemory: 4 }],
    ['that tells no memory', { memory: 1e12 }, {}],
    ['with at least 8 GiB, which may be any number', { memory: 20e9 }, { deviceMemory: 8 }],
    ['with as much storage', { storage: 900 }, { storage: storage(1000, 100) }],
    ['that tells no storage', { storage: 1e12 }, { storage: {} }],
    ['that tells no quota', { storage: 1e12 }, { storage: storage() }],
    [
      'whose storage does not answer',
      { storage: 1e12 },
      { storage: { estimate: () => Promise.reject(new Error('no')) } },
    ],
  ];
  for (const [what, needs, device] of enough) {
    it(`${what} is enough`, () => checkDevice(needs, device));
  }

  const lacking: [string, DeviceNeeds, DeviceLike, string][] = [
    ['no WebGPU', { webGPU: true }, {}, 'this browser has no WebGPU'],
    [
      'no adapter',
      { webGPU: true },
      { gpu: { requestAdapter: () => Promise.resolve(null) } },
      'WebGPU finds no graphics adapter',
    ],
    [
      'an adapter that fails',
      { webGPU: true },
      { gpu: { requestAdapter: () => Promise.reject(new Error('lost')) } },
      'WebGPU finds no graphics adapter',
    ],
    [
      'no features',
      { webGPU: ['shader-f16', 'subgroups', 'float32-filterable'] },
      { gpu: gpu('subgroups') },
      'the graphics adapter lacks shader-f16, float32-filterable',
    ],
    [
      'too little memory',
      { memory: 6e9 },
      { deviceMemory: 4 },
      'the model needs 6.0 GB of memory, the device has 4.3 GB',
    ],
    [
      'too little storage',
      { storage: 400_000_000 },
      { storage: storage(1e9, 900e6) },
      'the model needs 400 MB of storage, the browser leaves 100 MB',
    ],
    [
      'more stored than allowed',
      { storage: 1 },
      { storage: storage(10, 20) },
      'the model needs 1 MB of storage, the browser leaves 0 MB',
    ],
  ];
  for (const [what, needs, device, message] of lacking) {
    it(`with ${what} is told so`, async () => {
      await assert.rejects(checkDevice(needs, device), {
        code: 'E_MODEL_UNSUPPORTED',
        message: `This device cannot run the model: ${message}`,
        details: { missing: [message] },
      });
    });
  }

  it('is told everything that it lacks', async () => {
    const needs = { webGPU: true, memory: 4e9, storage: 1e9 };
    const device = { deviceMemory: 2, storage: storage(0) };
    await assert.rejects(checkDevice(needs, device), (error) => {
      assert.ok(isTurncoreError(error, 'E_MODEL_UNSUPPORTED'));
      assert.equal((error.details as { missing: string[] }).missing.length, 3);
      return true;
    });
  });

  it('is what the page runs on', async () => {
    await assert.rejects(checkDevice({ webGPU: ['a-feature-of-no-adapter'] }), {
      code: 'E_MODEL_UNSUPPORTED',
    });
  });
});

describe('the needs of an engine', () => {
  const engine = (
    needs: DeviceNeeds | (() => DeviceNeeds | Promise<DeviceNeeds>),
    always: DeviceNeeds,
    load: () => Promise<string>,
  ) =>
    pageEngine({ rules }, { needs }, () => ({
      name: 'x',
      capabilities: {},
      needs: always,
      load,
      unload: () => undefined,
      generate: () => assert.fail(),
    }));
  const never = (): never => assert.fail('loaded');

  it('are checked before it is loaded, its own and those of its library', async () => {
    const unsupported = { code: 'E_MODEL_UNSUPPORTED' };
    const lacking = { webGPU: ['a-feature-of-no-adapter'] };
    await assert.rejects(engine({}, lacking, never).load(), unsupported);
    await assert.rejects(engine(lacking, {}, never).load(), unsupported);
    await assert.rejects(engine(() => Promise.resolve(lacking), {}, never).load(), unsupported);
    await engine(
      () => ({ webGPU: false }),
      lacking,
      () => Promise.resolve('model'),
    ).load();
  });

  it('fail the load if nobody can say them', async () => {
    const needs = (): never => {
      throw new Error('no idea');
    };
    await assert.rejects(engine(needs, {}, never).load(), /no idea/);
  });
});
