/**
 * The error class of everything Turncore throws, and how to tell it.
 */

import { CODES, type CodeInfo, type ErrorCode } from './abi/codes.gen.js';

/** What a {@link TurncoreError} may carry beside its code and message. */
export interface TurncoreErrorOptions {
  /** HTTP-like status; default: the code's own, or 500. */
  status?: number | undefined;
  /** True for a programming error; default: the code's own, or false. */
  fatal?: boolean | undefined;
  /** What to do about it; default: the code's own. */
  help?: string | undefined;
  /** The error that led to this one. */
  cause?: unknown;
  /** Data of the error, such as the list of violations or how far a commit came. */
  details?: unknown;
  /** Errors that came after this one and are not reported by themselves. */
  suppressed?: readonly unknown[] | undefined;
}

const brand = Symbol.for('turncore.error');

/**
 * An error with a code. Test it by {@link TurncoreError.code}; `name` is the code as well. Status, `fatal` and help of
 * the documented codes are known and need not be given.
 */
export class TurncoreError extends Error {
  /** One of the documented codes, `E_…`. */
  readonly code: string;
  /** HTTP-like status. */
  readonly status: number;
  /** True for a programming error, false for a failure at run time. */
  readonly fatal: boolean;
  /** What to do about it, if known. */
  readonly help: string | undefined;
  /** Data of the error, if any. */
  readonly details: unknown;
  /** Errors that came after this one and are not reported by themselves. */
  readonly suppressed: readonly unknown[];

  constructor(code: string, message: string, options: TurncoreErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    const info = codeInfo(code);
    this.status = options.status ?? info?.status ?? 500;
    this.fatal = options.fatal ?? info?.fatal ?? false;
    this.help = options.help ?? info?.help;
    this.details = options.details;
    this.suppressed = options.suppressed ?? [];
    Object.defineProperty(this, 'name', { value: code, configurable: true, writable: true });
    Object.defineProperty(this, brand, { value: true });
  }

  /**
   * The error with the text that the code stands for.
   *
   * @param detail follows that text after a colon
   */
  static of(code: ErrorCode, detail?: string, options?: TurncoreErrorOptions): TurncoreError {
    const text = CODES[code].message;
    return new TurncoreError(
      code,
      detail === undefined ? text : `${text.replace(/\.$/, '')}: ${detail}`,
      options,
    );
  }

  /** `NAME [CODE]: message`. */
  override toString(): string {
    return this.code === ''
      ? `${this.name}: ${this.message}`
      : `${this.name} [${this.code}]: ${this.message}`;
  }
}

/**
 * Tells a TurncoreError, also one of another copy of this package or of another realm.
 *
 * @param code if given, the error must have this code too
 */
export function isTurncoreError(error: unknown, code?: string): error is TurncoreError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as Record<symbol, unknown>)[brand] === true &&
    (code === undefined || (error as TurncoreError).code === code)
  );
}

/** An error of one code. */
export type ErrorOf<C extends ErrorCode> = TurncoreError & { readonly code: C };

/** The class of the errors of one code. */
export interface ErrorClass<C extends ErrorCode> {
  /** @param detail follows the text of the code after a colon */
  new (detail?: string, options?: TurncoreErrorOptions): ErrorOf<C>;
  /** The code. */
  readonly code: C;
  /** Tells every error of the code, also one of another copy of this package or of another realm. */
  [Symbol.hasInstance](value: unknown): value is ErrorOf<C>;
}

/** @internal Makes the class of the errors of a code. */
export function errorClass<C extends ErrorCode>(code: C): ErrorClass<C> {
  const CodedError = function (detail?: string, options?: TurncoreErrorOptions): TurncoreError {
    return TurncoreError.of(code, detail, options);
  };
  Object.defineProperties(CodedError, {
    name: { value: code },
    code: { value: code },
    prototype: { value: TurncoreError.prototype },
    [Symbol.hasInstance]: { value: (value: unknown) => isTurncoreError(value, code) },
  });
  return CodedError as unknown as ErrorClass<C>;
}

/** The error for a value that has no encoding. @param field where it is, like `args.items[3].id` */
export function invalidValue(field: string, why: string): TurncoreError {
  return TurncoreError.of('E_INVALID_VALUE', `${field}: ${why}`, { details: { field } });
}

/** @throws TurncoreError E_INVALID_VALUE unless a value can be gone through */
export function requireList(field: string, value: unknown): void {
  // A string would be a list of its characters.
  const { [Symbol.iterator]: iterate } = (value ?? {}) as Partial<Iterable<unknown>>;
  if (typeof value === 'string' || typeof iterate !== 'function') {
    throw invalidValue(field, 'must be a list');
  }
}

/** What is known about a code, or undefined for a code that is not Turncore's. */
export function codeInfo(code: string): CodeInfo | undefined {
  return Object.hasOwn(CODES, code) ? CODES[code as ErrorCode] : undefined;
}
