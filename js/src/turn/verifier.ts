/**
 * What compares collections loads late: only tests use it.
 */
import type { verifyCollections } from './verify.js';

/** Loads what compares the collections of host and module. */
export async function verifier(): Promise<typeof verifyCollections> {
  return (await import('./verify.js')).verifyCollections;
}
