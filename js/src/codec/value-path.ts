/**
 * The encoder's position within a value.
 */
import { invalidValue } from '../errors.js';

/**
 * Default bound on the nesting of arrays and maps in an encoder's `value`: a frame's 64 levels without those of the
 * frame itself, so that the guest accepts every value that is accepted here.
 */
export const MAX_VALUE_DEPTH = 60;

/** Elements of one array, or properties of one object, that may be encoded. */
export const MAX_VALUE_ELEMENTS = 8192;

/** The encoder's position within a value, for error messages and to find cycles. */
export class ValuePath {
  readonly #field: string;
  readonly #depth: number;
  readonly #keys: (string | number)[] = [];
  readonly #objects: object[] = [];

  constructor(field: string, depth: number) {
    this.#field = field;
    this.#depth = depth;
  }

  enter(v: object, key: string | number): void {
    if (this.#objects.includes(v)) throw invalidValue(this.at(key), 'the value contains itself');
    this.#keys.push(key);
    this.#objects.push(v);
    if (this.#objects.length > this.#depth) {
      throw invalidValue(this.#field, `the value is nested deeper than ${this.#depth} levels`);
    }
  }

  /** Checks how many elements the object that is being encoded has. */
  checkSize(n: number): void {
    if (n > MAX_VALUE_ELEMENTS) {
      throw invalidValue(this.here(), `${n} elements are more than ${MAX_VALUE_ELEMENTS}`);
    }
  }

  leave(): void {
    this.#keys.pop();
    this.#objects.pop();
  }

  /** The path of the object that is being encoded. */
  here(): string {
    let path = this.#field;
    for (const key of this.#keys) path += step(key);
    return path;
  }

  /** The path of an element of it. */
  at(key: string | number): string {
    return this.here() + step(key);
  }
}

function step(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  if (key === '') return '';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** Recognizes a Date of any realm. */
export function isDate(v: object): v is Date {
  return (
    Object.prototype.toString.call(v) === '[object Date]' &&
    typeof (v as Date).getTime === 'function'
  );
}

/** Recognizes a plain object of another realm: its prototype is that realm's Object.prototype, the end of the chain. */
export function isForeignPlain(v: object, proto: unknown): boolean {
  return (
    Object.getPrototypeOf(proto) === null &&
    Object.prototype.hasOwnProperty.call(proto, 'hasOwnProperty') &&
    Object.prototype.toString.call(v) === '[object Object]'
  );
}
