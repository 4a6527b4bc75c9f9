/**
 * How much memory instances take on a platform unless the program says otherwise.
 */

const MiB = 2 ** 20;

/** Bounds in bytes: see the host options of the same names. */
export interface MemoryDefaults {
  readonly maxMemory: number;
  /** Number of instances that may wait for their last turns, beside the one that takes turns. */
  readonly draining: number;
  readonly highWater: number;
  readonly quota: { readonly turn: number; readonly instance: number };
}

/** For platforms that have the machine's memory. */
export const machineMemory: MemoryDefaults = {
  maxMemory: 1024 * MiB,
  draining: 2,
  highWater: 256 * MiB,
  quota: { turn: 64 * MiB, instance: 128 * MiB },
};

/** For isolates of 128 MB: one instance in use, one that ends, and 32 MB for the program itself fit in. */
export const isolateMemory: MemoryDefaults = {
  maxMemory: 48 * MiB,
  draining: 1,
  highWater: 24 * MiB,
  quota: { turn: 16 * MiB, instance: 24 * MiB },
};
