/**
 * Platforms whose programs do not wait for a download: the remedies are part of the program.
 */
import type { ErrorCode } from '../abi/codes.gen.js';
import { REMEDIES } from '../abi/remedies.gen.js';

/** The remedy for a code; undefined for a foreign one. */
export function remedyFor(code: string): string | undefined {
  return Object.hasOwn(REMEDIES, code) ? REMEDIES[code as ErrorCode] : undefined;
}
