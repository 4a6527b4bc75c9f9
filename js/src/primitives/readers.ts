/**
 * Readers: the package reads data that a host keeps, in parts.
 */
import type { Awaitable } from '../awaitable.js';
import { TurncoreError } from '../errors.js';
import { type Converter, invalid } from '../validation/field-kinds.js';

/** The location of a reader's content, so that a new reader can be made for it. */
export interface ReaderDescription {
  /** The kind of location. */
  readonly tag: string;
  /** The location itself: a JSON-like value. */
  readonly locator: unknown;
}

/** Bytes to keep: text, which is kept as UTF-8, bytes, or a stream of bytes. */
export type ConduitBytes = string | Uint8Array | ReadableStream<Uint8Array>;

/** Reads a text by lines. Each method may return a value or a promise. */
export interface SpoolReader {
  /** The line with an index, from 0, without its line feed; undefined beyond the last. */
  line(index: number): Awaitable<string | undefined>;
  /** Bytes of the text as UTF-8. */
  byteLength(): Awaitable<number>;
  /** Lines of the text: one more than its line feeds, 0 for an empty text. The same at each call. */
  lineCount(): Awaitable<number>;
  /** The whole original text. */
  readAll(): Awaitable<string>;
  /** The location of the text, if it can be read again. */
  describe?(): ReaderDescription;
}

/** Reads bytes. */
export interface MediaReader {
  /** The bytes from the start, as a new stream at each call. */
  stream(): Awaitable<ReadableStream<Uint8Array>>;
  /** The number of bytes; undefined if unknown. */
  byteLength(): Awaitable<number | undefined>;
  /** The location of the bytes, if they can be read again. */
  describe?(): ReaderDescription;
}

/** @throws TurncoreError E_NOT_A_SPOOL_READER unless a reader's method returned a size */
export function requireSize(method: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw TurncoreError.of('E_NOT_A_SPOOL_READER', `${method} gave no size`);
}

/** @throws TurncoreError E_NOT_A_SPOOL_READER unless a reader's method returned a string */
export function requireString(method: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw TurncoreError.of('E_NOT_A_SPOOL_READER', `${method} gave no string`);
}

/** Whether a value has the methods of a {@link SpoolReader}. */
export function isSpoolReader(value: unknown): value is SpoolReader {
  return hasMethods(value, ['line', 'byteLength', 'lineCount', 'readAll']);
}

/** Whether a value has the methods of a {@link MediaReader}. */
export function isMediaReader(value: unknown): value is MediaReader {
  return hasMethods(value, ['stream', 'byteLength']);
}

/** The kind of field `mediaReader`. */
export const toMediaReader: Converter<MediaReader> = (value) =>
  isMediaReader(value) ? value : invalid;

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
