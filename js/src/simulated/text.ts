/**
 * Text as the simulated provider treats it on every host: lower case without regard to neighbours, JSON with sorted keys.
 */

/** Lower case, each character by itself, so that every host's tables give the same. */
export function lowerCase(text: string): string {
  let out = '';
  for (const char of text) out += String.fromCodePoint(char.toLowerCase().codePointAt(0)!);
  return out;
}

/** Length in bytes of UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Compact JSON with the keys of every object in order. */
export function sortedJSON(value: unknown): string {
  return JSON.stringify(value, sortKeys)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

const encoder = new TextEncoder();

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '\ufffd');
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, value[key]]));
}

/** Tells an object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
