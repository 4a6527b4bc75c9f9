/**
 * What a model asks of the device, and whether the device has it.
 */
import type { FieldRules, TypeRules } from '../abi/rules.gen.js';
import { TurncoreError } from '../errors.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import { check, phrase, violationsIn } from '../validation/rules.js';

/** What a model needs of the device and the browser. What is left out is not checked. */
export interface DeviceNeeds {
  /** WebGPU: `true`, or the features that the adapter must have, such as `['shader-f16']`. */
  readonly webGPU?: boolean | readonly string[] | undefined;
  /**
   * Memory of the device, in bytes. Browsers round what they tell, and say at most 8 GiB; some say nothing, and then
   * this passes.
   */
  readonly memory?: number | undefined;
  /** Free storage, in bytes. Leave it out when the model is stored already. */
  readonly storage?: number | undefined;
}

/** The used part of `navigator`. */
export interface DeviceLike {
  readonly gpu?: { requestAdapter(): Promise<GPUAdapterLike | null> } | undefined;
  /** In GiB. */
  readonly deviceMemory?: number | undefined;
  readonly storage?:
    | { estimate?(): Promise<{ quota?: number | undefined; usage?: number | undefined }> }
    | undefined;
}

/** The used part of a `GPUAdapter`. */
export interface GPUAdapterLike {
  readonly features: { has(feature: string): boolean };
}

const bytes = {
  kind: 'number',
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
} as const satisfies FieldRules;

const rules = {
  title: 'needs',
  code: 'E_INVALID_VALUE',
  fields: { webGPU: { kind: 'any' }, memory: bytes, storage: bytes },
} as const satisfies TypeRules;

const GIB = 2 ** 30;
/** Gibibytes above which browsers say no more. */
const MOST_MEMORY = 8;

/**
 * Checks that the device has what a model needs.
 *
 * @param device default: the global `navigator`
 * @throws TurncoreError (rejects) E_MODEL_UNSUPPORTED whose message and `details.missing` list everything that is
 *   missing; E_INVALID_VALUE listing every need that is unknown or wrong
 */
export async function checkDevice(
  needs: DeviceNeeds,
  device: DeviceLike = (globalThis as { navigator?: DeviceLike }).navigator ?? {},
): Promise<void> {
  requireNeeds(needs);
  const found = [
    await missingGPU(needs.webGPU, device),
    missingMemory(needs.memory, device),
    await missingStorage(needs.storage, device),
  ];
  const missing = found.filter((text) => text !== undefined);
  if (missing.length > 0) throw unsupported(missing);
}

/** @internal The violations of an engine's setting `needs`. What a function says is checked when it has said it. */
export function needsViolations(needs: unknown): string[] {
  if (isAbsent(needs) || typeof needs === 'function') return [];
  if (!isObject(needs)) return ['`needs` must be an object or a function'];
  return violationsIn('needs', () => requireNeeds(needs));
}

function requireNeeds(needs: unknown): void {
  check(rules, needs, { also: ({ webGPU }) => gpuViolations(webGPU) });
}

function gpuViolations(wanted: unknown): string[] {
  if (isAbsent(wanted) || typeof wanted === 'boolean') return [];
  if (!Array.isArray(wanted)) return ['`webGPU` must be a boolean, or a list of features'];
  return wanted.flatMap((name, i) =>
    typeof name === 'string' ? [] : [phrase('string', { field: `webGPU[${i}]` })],
  );
}

/** @internal The error of a device that lacks something. */
export function unsupported(missing: readonly string[]): TurncoreError {
  return TurncoreError.of('E_MODEL_UNSUPPORTED', missing.join('; '), { details: { missing } });
}

async function missingGPU(
  wanted: DeviceNeeds['webGPU'],
  { gpu }: DeviceLike,
): Promise<string | undefined> {
  if (isAbsent(wanted) || wanted === false) return undefined;
  if (gpu === undefined) return 'this browser has no WebGPU';
  const adapter = await gpu.requestAdapter().catch(() => null);
  if (adapter === null) return 'WebGPU finds no graphics adapter';
  const lacking = wanted === true ? [] : wanted.filter((name) => !adapter.features.has(name));
  return lacking.length === 0 ? undefined : `the graphics adapter lacks ${lacking.join(', ')}`;
}

function missingMemory(
  wanted: number | undefined,
  { deviceMemory }: DeviceLike,
): string | undefined {
  if (isAbsent(wanted) || deviceMemory === undefined || deviceMemory >= MOST_MEMORY) {
    return undefined;
  }
  if (deviceMemory * GIB >= wanted) return undefined;
  return `the model needs ${size(wanted)} of memory, the device has ${size(deviceMemory * GIB)}`;
}

async function missingStorage(
  wanted: number | undefined,
  { storage }: DeviceLike,
): Promise<string | undefined> {
  if (isAbsent(wanted)) return undefined;
  const { quota, usage = 0 } = (await storage?.estimate?.().catch(() => undefined)) ?? {};
  if (quota === undefined || quota - usage >= wanted) return undefined;
  const free = size(Math.max(quota - usage, 0));
  return `the model needs ${size(wanted)} of storage, the browser leaves ${free}`;
}

function size(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
