/**
 * Values on their way between threads. A structured clone would lose the classes, codes and details of errors, and make
 * empty objects of readers: here errors are taken apart and made again, and what cannot cross is refused by name.
 */
import { isTurncoreError, messageOf, TurncoreError, type TurncoreErrorOptions } from '../errors.js';

/** A path into a value. */
type Path = readonly (string | number)[];

/** A value that a structured clone keeps, with the errors that were in it. */
export interface Packed {
  readonly value: unknown;
  /** The errors and their places; the value has nothing there. */
  readonly errors?: readonly (readonly [path: Path, error: ErrorForm])[];
}

/** An error without its class, or only the number of one that was sent before. */
type ErrorForm = { readonly ref: number } & Partial<ErrorParts>;

interface ErrorParts {
  /** The class that it gets. */
  readonly kind: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** What it has beside these: code, details, cause and more. */
  readonly members: Packed;
}

/**
 * What to do with a value that cannot cross: `throw`, or `replace` it by the error. With `probe` each object that the
 * platform may refuse is tried first.
 */
export type Refusals = 'throw' | 'replace' | 'probe';

/** Errors of the language that keep their class. */
const classes: Readonly<Record<string, new (message: string) => Error>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};
const TURNCORE = 'TurncoreError';
const DOM = 'DOMException';
/** Errors of a chain of causes that cross. */
const MAX_CAUSES = 8;

/** Objects without parts of their own, which a structured clone keeps. */
const OPAQUE = new Set([
  ...['Boolean', 'Number', 'String', 'BigInt', 'Date', 'RegExp'],
  ...['ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Blob', 'File', 'FileList', 'ImageData'],
  ...['ImageBitmap', 'CryptoKey', 'WebAssembly.Module'],
]);

/** Prepares values for sending. It tells an error that was sent before by its number: it arrives as the same object. */
export class Packer {
  #sent = new WeakMap<object, number>();
  #count = 0;

  /**
   * @param field name of the value in errors; empty if its members have names of their own
   * @throws TurncoreError E_NOT_CLONEABLE naming the part that cannot cross, if such parts are not replaced
   */
  pack(value: unknown, field: string, refusals: Refusals = 'replace'): Packed {
    return new Packing(this, field, refusals, 0).of(value);
  }

  /** Forgets what was sent, as it did not arrive. */
  forget(): void {
    this.#sent = new WeakMap();
  }

  /** @internal */
  form(error: Error, depth: number): ErrorForm {
    const known = this.#sent.get(error);
    if (known !== undefined) return { ref: known };
    const ref = ++this.#count;
    this.#sent.set(error, ref);
    const { name, message, stack } = error;
    const members: Record<string, unknown> = Object.fromEntries(Object.entries(error));
    if (depth < MAX_CAUSES && 'cause' in error) members['cause'] = error.cause;
    if (depth < MAX_CAUSES && error instanceof AggregateError) members['errors'] = error.errors;
    return {
      ref,
      kind: kindOf(error),
      name,
      message,
      stack: typeof stack === 'string' ? stack : undefined,
      members: new Packing(this, 'error', 'replace', depth + 1).of(members),
    };
  }
}

/** One value that is prepared. */
class Packing {
  readonly #packer: Packer;
  readonly #field: string;
  readonly #refusals: Refusals;
  readonly #depth: number;
  readonly #errors: [Path, ErrorForm][] = [];
  readonly #copies = new Map<object, unknown>();

  constructor(packer: Packer, field: string, refusals: Refusals, depth: number) {
    this.#packer = packer;
    this.#field = field;
    this.#refusals = refusals;
    this.#depth = depth;
  }

  of(value: unknown): Packed {
    const copy = this.#copy(value, []);
    return this.#errors.length === 0 ? { value: copy } : { value: copy, errors: this.#errors };
  }

  #copy(value: unknown, path: Path): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') {
      return this.#refuse(path, `a ${typeof value}`);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (isError(value)) return this.#put(path, value);
    const known = this.#copies.get(value);
    if (known !== undefined) return known;
    try {
      return this.#object(value, path);
    } catch (thrown) {
      // A getter, a toJSON or the depth of the value.
      if (this.#refusals === 'throw') throw thrown;
      return this.#refuse(path, `a value whose parts cannot be read: ${messageOf(thrown)}`);
    }
  }

  #object(value: object, path: Path): unknown {
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      this.#copies.set(value, list);
      for (const [i, item] of value.entries()) list.push(this.#copy(item, [...path, i]));
      return list;
    }
    if (value instanceof Map || value instanceof Set) {
      const parts = new Packing(this.#packer, this.#field, 'throw', this.#depth).of([...value]);
      if (parts.errors !== undefined) return this.#refuse(path, 'a collection that holds an error');
      const copies = parts.value as [unknown, unknown][];
      return value instanceof Map ? new Map(copies) : new Set<unknown>(copies);
    }
    const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (ArrayBuffer.isView(value) || OPAQUE.has(tag)) {
      if (this.#refusals === 'probe') structuredClone(value);
      return value;
    }
    const proto: unknown = Object.getPrototypeOf(value);
    if (proto === null || Object.getPrototypeOf(proto) === null) {
      const parts: Record<string, unknown> = {};
      this.#copies.set(value, parts);
      for (const [key, part] of Object.entries(value)) {
        define(parts, key, this.#copy(part, [...path, key]));
      }
      return parts;
    }
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === 'function') return this.#copy(toJSON.call(value), path);
    const { name } = value.constructor as { readonly name?: string };
    return this.#refuse(path, `an instance of ${name === undefined || name === '' ? tag : name}`);
  }

  /** @returns undefined, in the place of the error */
  #put(path: Path, error: Error): unknown {
    this.#errors.push([path, this.#packer.form(error, this.#depth)]);
    return undefined;
  }

  #refuse(path: Path, what: string): unknown {
    const place = path.reduce<string>(
      (text, part) =>
        typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`,
      this.#field,
    );
    const details = { field: place };
    const error = TurncoreError.of('E_NOT_CLONEABLE', `\`${place}\` is ${what}`, { details });
    if (this.#refusals === 'throw') throw error;
    return this.#put(path, error);
  }
}

/**
 * Sends a message with values of the program. If the platform refuses one after all, such as a buffer that was given
 * away, it sends the message again with errors in place of what it refuses.
 *
 * @param message makes the message
 */
export function send(
  port: MessagePort,
  packer: Packer,
  message: (refusals: Refusals) => unknown,
): void {
  try {
    port.postMessage(message('replace'));
  } catch {
    packer.forget();
    port.postMessage(message('probe'));
  }
}

/** Makes values of what arrives from one {@link Packer}. */
export class Unpacker {
  readonly #errors = new Map<number, Error>();

  unpack({ value, errors = [] }: Packed): unknown {
    const box = { value };
    for (const [path, form] of errors) {
      let at: Record<string | number, unknown> = box;
      let key: string | number = 'value';
      for (const part of path) {
        at = at[key] as typeof at;
        key = part;
      }
      define(at, key, this.#error(form));
    }
    return box.value;
  }

  #error(form: ErrorForm): Error {
    const known = this.#errors.get(form.ref);
    if (known !== undefined) return known;
    const { kind = 'Error', name = kind, message = '', stack, members } = form;
    const error = bareError(kind, name, message, members?.value);
    this.#errors.set(form.ref, error);
    const own = members === undefined ? {} : (this.unpack(members) as Record<string, unknown>);
    for (const [key, value] of Object.entries(own)) {
      const hidden = key === 'cause' || key === 'errors';
      Object.defineProperty(error, key, { ...PLAIN, enumerable: !hidden, value });
    }
    if (error.name !== name) Object.defineProperty(error, 'name', { ...PLAIN, value: name });
    if (stack !== undefined) Object.defineProperty(error, 'stack', { ...PLAIN, value: stack });
    return error;
  }
}

const PLAIN = { writable: true, configurable: true };

/** Sets a part, even one of a name that objects inherit. */
function define(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { ...PLAIN, enumerable: true, value });
}

/** Whether a value is an error, perhaps of another realm. */
function isError(value: object): value is Error {
  const tag = Object.prototype.toString.call(value);
  return value instanceof Error || tag === '[object Error]' || tag === `[object ${DOM}]`;
}

function kindOf(error: Error): string {
  if (isTurncoreError(error)) return TURNCORE;
  if (Object.prototype.toString.call(error) === `[object ${DOM}]`) return DOM;
  return Object.keys(classes).find((name) => error instanceof classes[name]!) ?? 'Error';
}

/** An error of a class, without its other members. */
function bareError(kind: string, name: string, message: string, members: unknown): Error {
  if (kind === DOM) return new DOMException(message, name);
  const own = (members ?? {}) as TurncoreErrorOptions & { code?: unknown; errors?: unknown };
  if (kind === TURNCORE) return new TurncoreError(String(own.code), message);
  if (Array.isArray(own.errors)) return new AggregateError([], message);
  return new (classes[kind] ?? Error)(message);
}
