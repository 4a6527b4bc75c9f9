/**
 * Base64 (RFC 4648, with padding).
 */

/** Bytes per conversion: a multiple of three. */
const PIECE = 3 * 4096;

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(i, i + PIECE)));
  }
  return text;
}

/** The bytes of base64; undefined for any other text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
