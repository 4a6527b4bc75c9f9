/**
 * Copies of JSON-like values.
 */
import { MAX_VALUE_DEPTH, MAX_VALUE_ELEMENTS } from '../codec/value-path.js';
import { invalidValue } from '../errors.js';

/**
 * A copy of a JSON-like value that shares no object with it: null, booleans, finite numbers, strings, bytes, Dates,
 * lists and plain objects. Objects omit undefined; in lists it becomes null.
 *
 * @param field name of the value in error messages
 * @param depth nesting around the value
 * @throws TurncoreError E_INVALID_VALUE naming the part that is not JSON-like, is nested too deep or has too many
 * elements for a frame
 */
export function copyValue(value: unknown, field: string, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw invalidValue(field, `${value} has no encoding`);
      return value;
    case 'bigint':
      if (BigInt.asIntN(54, value) !== value || !Number.isSafeInteger(Number(value))) {
        throw invalidValue(field, `integer ${value} is beyond 2^53-1`);
      }
      return Number(value);
    case 'undefined':
      return null;
    case 'object':
      return value === null ? null : copyObject(value, field, depth);
    default:
      throw invalidValue(field, `a ${typeof value} cannot be encoded`);
  }
}

/** A copy of a result of {@link copyValue}. */
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return value.slice();
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return value.map(copyOf);
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') defineData(result, key, copyOf(item));
    else result[key] = copyOf(item);
  }
  return result;
}

/**
 * Like {@link copyValue}, with every list and object of the copy frozen.
 */
export function frozenCopy(value: unknown, field: string): unknown {
  return freeze(copyValue(value, field));
}

function copyObject(value: object, field: string, depth: number): unknown {
  if (depth >= MAX_VALUE_DEPTH) {
    throw invalidValue(field, `the value is nested deeper than ${MAX_VALUE_DEPTH} levels`);
  }
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) {
    checkSize(value.length, field);
    return value.map((item: unknown, i) => copyValue(item, `${field}[${i}]`, depth + 1));
  }
  const tag = Object.prototype.toString.call(value);
  if (tag === '[object Date]') {
    const ms = (value as Date).getTime();
    if (Number.isNaN(ms)) throw invalidValue(field, 'the date is invalid');
    return new Date(ms);
  }
  const proto: unknown = Object.getPrototypeOf(value);
  const plain = proto === null || Object.getPrototypeOf(proto) === null;
  if (tag !== '[object Object]' || !plain) {
    const name = value.constructor?.name || 'object';
    throw invalidValue(field, `a ${name} cannot be encoded`);
  }
  const result: Record<string, unknown> = {};
  const keys = Object.keys(value);
  checkSize(keys.length, field);
  for (const key of keys) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    const part = copyValue(item, `${field}.${key}`, depth + 1);
    if (key === '__proto__') defineData(result, key, part);
    else result[key] = part;
  }
  return result;
}

function checkSize(n: number, field: string): void {
  if (n > MAX_VALUE_ELEMENTS) {
    throw invalidValue(field, `${n} elements are more than ${MAX_VALUE_ELEMENTS}`);
  }
}

/** Sets a key as data, even if objects inherit a property of that name. */
export function defineData(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const item of Object.values(value)) freeze(item);
  return Object.freeze(value);
}
