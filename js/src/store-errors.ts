/**
 * The errors of stores, and of records that are written down. Their texts are apart from the others: what needs no
 * store does not load them.
 */
import { STORE_CODES, type StoreErrorCode } from './abi/store-codes.gen.js';
import { type ErrorClass, errorClass, TurncoreError, type TurncoreErrorOptions } from './errors.js';

/**
 * Makes an error with the text of a store's code.
 *
 * @param detail follows that text after a colon
 */
export function storeError(
  code: StoreErrorCode,
  detail?: string,
  options?: TurncoreErrorOptions,
): TurncoreError {
  return TurncoreError.of(code, detail, options, STORE_CODES[code]);
}

/**
 * Makes an error about a session, or about a record or the bytes of an id in it. The details name them.
 *
 * @param details `kind`, if any, names the id
 */
export function sessionError(
  code: StoreErrorCode,
  details: { readonly session: string; readonly kind?: string; readonly id?: string },
): TurncoreError {
  const { session, kind = 'id', id } = details;
  const what = id === undefined ? '' : `, ${kind} ${JSON.stringify(id)}`;
  return storeError(code, `session ${JSON.stringify(session)}${what}`, { details });
}

/** @internal Makes the class of the errors of a code. */
export function storeErrorClass<C extends StoreErrorCode>(code: C): ErrorClass<C> {
  return errorClass(code, STORE_CODES[code]);
}
