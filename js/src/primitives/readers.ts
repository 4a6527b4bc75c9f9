/**
 * Readers: how the package reads what a host keeps, a part at a time.
 */
import type { Awaitable } from '../awaitable.js';
import { TurncoreError } from '../errors.js';
import { type Converter, invalid } from '../validation/field-kinds.js';

/** Where a reader's content lies, so that a reader of it can be made again. */
export interface ReaderDescription {
  /** Names the kind of place. */
  readonly tag: string;
  /** Where it lies there: a JSON-like value. */
  readonly locator: unknown;
}

/** Bytes that are to be kept: text, which is kept as UTF-8, bytes, or a stream of bytes. */
export type ConduitBytes = string | Uint8Array | ReadableStream<Uint8Array>;

/** Reads a text by lines. Each method may answer at once or later. */
export interface SpoolReader {
  /** The line in a place, from 0, without its line feed; undefined beyond the last. */
  line(index: number): Awaitable<string | undefined>;
  /** Bytes of the text as UTF-8. */
  byteLength(): Awaitable<number>;
  /** Lines of the text: one more than it has line feeds, 0 for an empty one. The same at each call. */
  lineCount(): Awaitable<number>;
  /** The whole text, as it was written. */
  readAll(): Awaitable<string>;
  /** Where the text lies, if it can be read there again. */
  describe?(): ReaderDescription;
}

/** Reads bytes. */
export interface MediaReader {
  /** The bytes from the first on: a stream of its own at each call. */
  stream(): Awaitable<ReadableStream<Uint8Array>>;
  /** How many bytes there are; undefined if that is not known. */
  byteLength(): Awaitable<number | undefined>;
  /** Where the bytes lie, if they can be read there again. */
  describe?(): ReaderDescription;
}

/** @throws TurncoreError E_NOT_A_SPOOL_READER unless a reader's method gave a size */
export function requireSize(method: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw TurncoreError.of('E_NOT_A_SPOOL_READER', `${method} gave no size`);
}

/** @throws TurncoreError E_NOT_A_SPOOL_READER unless a reader's method gave a string */
export function requireString(method: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw TurncoreError.of('E_NOT_A_SPOOL_READER', `${method} gave no string`);
}

/** Tells whether a value has the methods of a {@link SpoolReader}. */
export function isSpoolReader(value: unknown): value is SpoolReader {
  return hasMethods(value, ['line', 'byteLength', 'lineCount', 'readAll']);
}

/** Tells whether a value has the methods of a {@link MediaReader}. */
export function isMediaReader(value: unknown): value is MediaReader {
  return hasMethods(value, ['stream', 'byteLength']);
}

/** The kind of field `mediaReader`. */
export const toMediaReader: Converter = (value) => (isMediaReader(value) ? value : invalid);

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
