/**
 * Canonical JSON.
 */

/**
 * Compact JSON with the keys of every object in the order of their UTF-16 code units (RFC 8785), for values that
 * JSON.parse gives; members that are undefined are left out, and bytes are base64.
 */
export function canonicalJSON(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJSON).join(',')}]`;
  if (value instanceof Uint8Array) return `"${base64(value)}"`;
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  const members = keys.sort().map((key) => `${JSON.stringify(key)}:${canonicalJSON(object[key])}`);
  return `{${members.join(',')}}`;
}

/** Bytes as text, in base64. */
export function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
