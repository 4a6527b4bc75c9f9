/**
 * Text as the simulated provider treats it on every host: lower case without regard to neighbours, JSON with sorted
 * keys.
 */

import { canonicalJSON } from '../codec/canonical-json.js';

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

/** JSON as Go's encoding/json writes it: with sorted keys, and separators of lines escaped. */
export function sortedJSON(value: unknown): string {
  return canonicalJSON(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Replaces lone surrogates, which have no encoding in UTF-8. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

const encoder = new TextEncoder();

/** Tells an object that is not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
