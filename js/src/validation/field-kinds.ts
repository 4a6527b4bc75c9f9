/**
 * The kinds of field in rules: which values they accept, and what these become.
 */
import type { FieldKind } from '../abi/rules.gen.js';
import { isTurncoreError } from '../errors.js';
import { frozenCopy } from '../stash/copy-value.js';

/** Any function. Its parameters and its result are not checked. */
export type AnyFunction = (...args: never[]) => unknown;

/** A JSON Schema 2020-12 of object type, as data. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** Whether a value is an AbortSignal: of another realm too, and of platforms whose signals have no tag. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

/** Likewise for an AbortController. */
export function isAbortController(value: unknown): value is AbortController {
  const { abort, signal } = (value ?? {}) as Partial<AbortController>;
  return typeof abort === 'function' && isAbortSignal(signal);
}

/** Stands for a rejected value. */
export const invalid = Symbol('invalid');

/** A converted value, or {@link invalid}. */
export type Conversion = unknown;

/** Converts a value. It reports violations inside the value and rejects it then. */
export type Converter<T = unknown> = (
  value: unknown,
  report: (violation: string) => void,
) => T | typeof invalid;

/** The kinds of field whose values are instances of classes. The classes bring these: they use rules themselves. */
export interface ClassKinds {
  readonly text?: Converter;
  readonly identity?: Converter;
  readonly message?: Converter;
  readonly executor?: Converter;
  readonly content?: Converter;
  readonly results?: Converter;
  readonly mediaReader?: Converter;
  readonly spoolReader?: Converter;
  readonly artifactClass?: Converter;
  readonly mediaStash?: Converter;
  readonly schema?: Converter;
}

/**
 * Converts a value to the package's own form.
 *
 * @param lenient for records: accepts strings that spell a number or a boolean
 * @param report gets violations inside the value, which is rejected then
 * @param classes the kinds of field that are classes
 */
export function convert(
  kind: FieldKind,
  value: unknown,
  lenient: boolean,
  report: (violation: string) => void,
  classes: ClassKinds,
): Conversion {
  switch (kind) {
    case 'string':
      return typeof value === 'string' ? value : invalid;
    case 'number':
      return toNumber(value, lenient);
    case 'boolean':
      return toBoolean(value, lenient);
    case 'datetime':
      return toTime(value);
    case 'function':
    case 'middleware':
      return typeof value === 'function' ? value : invalid;
    case 'object':
      return isObject(value) ? value : invalid;
    case 'args':
      return toArgs(value, report);
    case 'schema':
      return (classes.schema ?? toSchema)(value, report);
    case 'list':
      return Array.isArray(value) ? (value as unknown[]) : invalid;
    case 'identifier':
      if (typeof value === 'number' && Number.isFinite(value)) return String(value);
      return typeof value === 'string' ? value : invalid;
    case 'text':
    case 'identity':
    case 'message':
    case 'executor':
    case 'content':
    case 'results':
    case 'mediaReader':
    case 'spoolReader':
    case 'artifactClass':
    case 'mediaStash':
      return classes[kind]!(value, report);
    case 'count':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
        ? value
        : invalid;
    case 'timeout':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
        ? value
        : invalid;
    case 'gateSchema':
      return isObject(value) || typeof value === 'boolean' || typeof value === 'function'
        ? value
        : invalid;
    case 'any':
      // Fields of records are data. Those of configurations may be anything.
      return lenient ? toPlain(value, report) : value;
    case 'instance':
      return invalid;
  }
}

/** Whether a value is an object other than a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a field has no value. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function toNumber(value: unknown, lenient: boolean): Conversion {
  if (typeof value === 'number') return Number.isFinite(value) ? value : invalid;
  if (!lenient || typeof value !== 'string' || value.trim() === '') return invalid;
  const n = Number(value);
  return Number.isFinite(n) ? n : invalid;
}

function toBoolean(value: unknown, lenient: boolean): Conversion {
  if (typeof value === 'boolean') return value;
  if (lenient && value === 'true') return true;
  if (lenient && value === 'false') return false;
  return invalid;
}

/** ISO 8601: a date, or a date with a time. Other texts, at which Date would guess, are rejected. */
const iso = /^[+-]?\d{4,6}(-\d\d(-\d\d)?)?([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** Whole milliseconds since the Unix epoch; {@link invalid} for anything that is not a time. */
export function toTime(value: unknown): Conversion {
  let ms: number;
  if (typeof value === 'number') ms = value;
  else if (typeof value === 'string') ms = iso.test(value) ? Date.parse(value) : Number.NaN;
  else if (Object.prototype.toString.call(value) === '[object Date]')
    ms = (value as Date).getTime();
  else if (isObject(value) && typeof value['toMillis'] === 'function') {
    ms = Number((value['toMillis'] as () => unknown).call(value));
  } else return invalid;
  if (!(Math.abs(ms) <= 8.64e15)) return invalid;
  return Math.floor(ms);
}

function toArgs(value: unknown, report: (violation: string) => void): Conversion {
  let args = value;
  if (typeof value === 'string') {
    try {
      args = JSON.parse(value);
    } catch {
      return invalid;
    }
  }
  return isObject(args) ? toPlain(args, report) : invalid;
}

/** A JSON Schema of type object, deeply frozen. */
export const toSchema: Converter<ObjectSchema> = (value, report) => {
  if (!isObject(value) || value['type'] !== 'object') return invalid;
  return toPlain(value, report) as ObjectSchema | typeof invalid;
};

function toPlain(value: unknown, report: (violation: string) => void): Conversion {
  try {
    return frozenCopy(value, 'value');
  } catch (error) {
    return collect(error, report);
  }
}

/** Reports the violations that an error lists, and rejects the value. @throws any error of other code */
export function collect(error: unknown, report: (violation: string) => void): typeof invalid {
  if (!isTurncoreError(error)) throw error;
  if (Array.isArray(error.details)) for (const part of error.details) report(String(part));
  else report(error.message);
  return invalid;
}
