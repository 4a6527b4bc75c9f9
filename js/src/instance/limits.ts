/**
 * Bounds of an instance.
 */
import { type CodecLimits, DEFAULT_LIMITS } from '../codec/limits.js';

/** Bounds of one instance. A host may lower the defaults, never raise them. */
export interface Limits extends CodecLimits {
  /** Outstanding effects of one turn. */
  turnEffects: number;
  /** Outstanding effects of one instance. */
  instanceEffects: number;
}

/** Bytes that the module may hold for turns: records, queued writes, open streams and requests. */
export interface Quota {
  /** For one turn. Default 64 MiB. */
  turn: number;
  /** For all turns and histories of one instance; a history counts once. Default 128 MiB. */
  instance: number;
}

/** The default quota. */
export const DEFAULT_QUOTA: Readonly<Quota> = Object.freeze({
  turn: 64 * 2 ** 20,
  instance: 128 * 2 ** 20,
});

/** The ABI's own bounds. */
export const DEFAULT_INSTANCE_LIMITS: Readonly<Limits> = Object.freeze({
  ...DEFAULT_LIMITS,
  turnEffects: 1024,
  instanceEffects: 65536,
});

/** The defaults, lowered where the caller wants less. */
export function lowerLimits(wanted: Partial<Limits> = {}): Limits {
  const limits = { ...DEFAULT_INSTANCE_LIMITS };
  for (const key of Object.keys(limits) as (keyof Limits)[]) {
    const value = wanted[key];
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`limit ${key} must be a positive integer, not ${value}`);
    }
    limits[key] = Math.min(limits[key], value);
  }
  return limits;
}
