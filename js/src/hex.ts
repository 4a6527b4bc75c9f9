/**
 * Bytes as hexadecimal text.
 */

/** Each byte as two lower-case digits. */
export const HEX: readonly string[] = Array.from({ length: 256 }, (_, i) =>
  i.toString(16).padStart(2, '0'),
);

/** Bytes as lower-case digits, two for each. */
export function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte]!;
  return text;
}
