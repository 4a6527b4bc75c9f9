/** The errors about sessions. Their texts are apart from the others: what has no sessions does not load them. */
import { SESSION_CODES, type SessionErrorCode } from './abi/session-codes.gen.js';
import { type ErrorClass, errorClass, TurncoreError, type TurncoreErrorOptions } from './errors.js';

/**
 * Makes an error with the text of a code about sessions.
 *
 * @param detail follows that text after a colon
 */
export function invocationError(
  code: SessionErrorCode,
  detail?: string,
  options?: TurncoreErrorOptions,
): TurncoreError {
  return TurncoreError.of(code, detail, options, SESSION_CODES[code]);
}

/** @internal Makes the class of the errors of a code. */
export function sessionErrorClass<C extends SessionErrorCode>(code: C): ErrorClass<C> {
  return errorClass(code, SESSION_CODES[code]);
}
