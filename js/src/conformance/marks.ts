/**
 * Checksums of the lines of a log.
 */
import { canonicalJSON } from '../codec/canonical-json.js';
import type { Log } from './line.js';

/**
 * Gives four hexadecimal digits for each line, from a checksum of its canonical JSON: the upper and the lower half of
 * its FNV-1a of 32 bits, one XOR the other.
 */
export function marksOf(log: Log): string[] {
  return log.map((line) => {
    let sum = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(canonicalJSON(line))) {
      sum = Math.imul(sum ^ byte, 0x01000193);
    }
    return (((sum >>> 16) ^ sum) & 0xffff).toString(16).padStart(4, '0');
  });
}
