/**
 * Checks the arguments of the methods of contexts and helpers: callers may be JavaScript.
 */
import { invalidValue, requireList } from '../errors.js';

/** @throws TurncoreError E_INVALID_VALUE unless the value is a string */
export function requireString(value: unknown, field: string): string {
  if (typeof value !== 'string') throw invalidValue(field, 'must be a string');
  return value;
}

/** Like {@link requireString}, for optional arguments. */
export function optionalString(value: unknown, field: string): string | undefined {
  return value === undefined ? undefined : requireString(value, field);
}

/** @throws TurncoreError E_INVALID_VALUE unless the value is a boolean; an omitted one is false */
export function booleanOf(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalidValue(field, 'must be a boolean');
  return value;
}

/**
 * Whether a reported stream was interrupted.
 *
 * @throws TurncoreError E_INVALID_VALUE unless it is a boolean, and true only for a complete stream
 */
export function interruptedOf(end: StreamEnd | undefined): boolean {
  const isInterrupted = end?.isInterrupted;
  if (isInterrupted === undefined || isInterrupted === false) return false;
  if (isInterrupted !== true) throw invalidValue('isInterrupted', 'must be a boolean');
  if (end?.isComplete !== true) throw invalidValue('isInterrupted', 'needs isComplete: true');
  return true;
}

/** A caller's arguments about the end of a stream. */
interface StreamEnd {
  readonly isComplete?: unknown;
  readonly isInterrupted?: unknown;
}

/** @throws TurncoreError E_INVALID_VALUE unless the value is an object */
export function requireObject(value: unknown, field: string): void {
  // A list or a Map has no members that can be read by name.
  if (typeof value === 'object' && value !== null && !(Symbol.iterator in value)) return;
  throw invalidValue(field, 'must be an object');
}

/** @throws TurncoreError E_INVALID_VALUE unless the value is a function */
export function requireFunction(value: unknown, field: string): void {
  if (typeof value !== 'function') throw invalidValue(field, 'must be a function');
}

/** @throws TurncoreError E_INVALID_VALUE unless the value is a list of strings */
export function requireStrings(value: unknown, field: string): readonly string[] {
  if (typeof value === 'string') throw invalidValue(field, 'must be a list');
  requireList(field, value);
  return Array.from(value as Iterable<unknown>, (each, i) => requireString(each, `${field}[${i}]`));
}

/** @throws TurncoreError E_INVALID_VALUE unless the value is text, bytes, or a stream of bytes */
export function requireBytes(value: unknown, field: string): void {
  if (typeof value === 'string' || ArrayBuffer.isView(value)) return;
  const stream = value as Partial<ReadableStream & AsyncIterable<unknown>> | null | undefined;
  if (typeof stream?.getReader === 'function') return;
  if (typeof stream?.[Symbol.asyncIterator] === 'function') return;
  throw invalidValue(field, 'must be a string, a Uint8Array or a stream of bytes');
}
