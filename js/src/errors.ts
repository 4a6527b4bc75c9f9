/**
 * The class of all errors that Turncore throws.
 */

import { remedyFor } from '#remedies';

import { CODES, type CodeInfo, type CommonCode, type ErrorCode } from './abi/codes.gen.js';

/** Options of a {@link TurncoreError}. */
export interface TurncoreErrorOptions {
  /** HTTP-like status; default: the code's own, or 500. */
  status?: number | undefined;
  /** True for a programming error; default: the code's own, or false. */
  fatal?: boolean | undefined;
  /** The remedy; default: the code's own. */
  help?: string | undefined;
  /** The error that led to this one. */
  cause?: unknown;
  /** Data of the error, such as the list of violations or the progress of a commit. */
  details?: unknown;
  /** Later errors that are not reported separately. */
  suppressed?: readonly unknown[] | undefined;
  /** @internal The description of a code that has one elsewhere. */
  info?: CodeInfo | undefined;
}

const brand = Symbol.for('turncore.error');

/**
 * An error with a code. Test it by {@link TurncoreError.code}; `name` is the code as well. Documented codes have
 * their own status, `fatal` and help.
 */
export class TurncoreError extends Error {
  /** One of the documented codes, `E_…`. */
  readonly code: string;
  /** HTTP-like status. */
  readonly status: number;
  /** True for a programming error, false for a failure at run time. */
  readonly fatal: boolean;
  /** The remedy, if known. In a page an error before the first turn has it only a moment later, when it is loaded. */
  readonly help: string | undefined;
  /** Data of the error, if any. */
  readonly details: unknown;
  /** Later errors that are not reported separately. */
  readonly suppressed: readonly unknown[];

  constructor(code: string, message: string, options: TurncoreErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    const info = options.info ?? codeInfo(code);
    this.status = options.status ?? info?.status ?? 500;
    this.fatal = options.fatal ?? info?.fatal ?? false;
    // A page gets the remedy later. A frozen error does without.
    this.help = options.help ?? remedyFor(code, (help) => Reflect.set(this, 'help', help));
    this.details = options.details;
    this.suppressed = options.suppressed ?? [];
    Object.defineProperty(this, 'name', { value: code, configurable: true, writable: true });
    Object.defineProperty(this, brand, { value: true });
  }

  /**
   * Makes an error with the text of a code.
   *
   * @param detail follows that text after a colon
   */
  static of(code: CommonCode, detail?: string, options?: TurncoreErrorOptions): TurncoreError;
  /** @internal With the description of a code that has one elsewhere. */
  static of(
    code: ErrorCode,
    detail: string | undefined,
    options: TurncoreErrorOptions | undefined,
    info: CodeInfo,
  ): TurncoreError;
  static of(
    code: string,
    detail?: string,
    options?: TurncoreErrorOptions,
    info: CodeInfo = CODES[code as CommonCode],
  ): TurncoreError {
    const { message } = info;
    const text = detail === undefined ? message : `${message.slice(0, -1)}: ${detail}`;
    return new TurncoreError(code, text, { ...options, info });
  }

  /** `NAME [CODE]: message`. */
  override toString(): string {
    return this.code === ''
      ? `${this.name}: ${this.message}`
      : `${this.name} [${this.code}]: ${this.message}`;
  }
}

/**
 * Whether a value is a TurncoreError, even from another copy of this package or another realm.
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
  /** Whether a value is an error of this code, even from another copy of this package or another realm. */
  [Symbol.hasInstance](value: unknown): value is ErrorOf<C>;
}

/** @internal Makes the class of the errors of a code. */
export function errorClass<C extends ErrorCode>(
  code: C,
  info: CodeInfo = CODES[code as CommonCode],
): ErrorClass<C> {
  const CodedError = function (detail?: string, options?: TurncoreErrorOptions): TurncoreError {
    return TurncoreError.of(code, detail, options, info);
  };
  Object.defineProperties(CodedError, {
    name: { value: code },
    code: { value: code },
    prototype: { value: TurncoreError.prototype },
    [Symbol.hasInstance]: { value: (value: unknown) => isTurncoreError(value, code) },
  });
  return CodedError as unknown as ErrorClass<C>;
}

/** The error for a value without an encoding. @param field its path, like `args.items[3].id` */
export function invalidValue(field: string, why: string): TurncoreError {
  return TurncoreError.of('E_INVALID_VALUE', `${field}: ${why}`, { details: { field } });
}

/** The message of an error, or the text of anything else that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The error for data that no frame can hold. */
export function tooLarge(what: string, actual: number, max: number): TurncoreError {
  const why = `${what} of ${actual} bytes is over the limit of ${max}`;
  return TurncoreError.of('E_ABI_LIMIT_EXCEEDED', why, {
    details: { limit: 'frame', max, actual },
  });
}

/** @throws TurncoreError E_INVALID_VALUE unless a value is iterable */
export function requireList(field: string, value: unknown): void {
  // A string would count as a list of its characters.
  const { [Symbol.iterator]: iterate } = (value ?? {}) as Partial<Iterable<unknown>>;
  if (typeof value === 'string' || typeof iterate !== 'function') {
    throw invalidValue(field, 'must be a list');
  }
}

/** The description of a code, or undefined for a foreign code. */
export function codeInfo(code: string): CodeInfo | undefined {
  return Object.hasOwn(CODES, code) ? CODES[code as CommonCode] : undefined;
}
