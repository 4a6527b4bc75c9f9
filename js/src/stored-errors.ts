/**
 * The errors of stores that write records down, and the classes of all errors of stores.
 */
import { STORE_CODES, type StoreErrorCode } from './abi/store-codes.gen.js';
import { STORED_CODES, type StoredErrorCode } from './abi/stored-codes.gen.js';
import { type ErrorClass, errorClass, TurncoreError, type TurncoreErrorOptions } from './errors.js';

/** The descriptions of all codes that stores raise. */
export const ALL_STORE_CODES = /* @__PURE__ */ Object.freeze({ ...STORE_CODES, ...STORED_CODES });

/**
 * Makes an error with the text of a code of stores that write records down.
 *
 * @param detail follows that text after a colon
 */
export function storedError(
  code: StoredErrorCode,
  detail?: string,
  options?: TurncoreErrorOptions,
): TurncoreError {
  return TurncoreError.of(code, detail, options, STORED_CODES[code]);
}

/** @internal Makes the class of the errors of a code. */
export function storeErrorClass<C extends StoreErrorCode>(code: C): ErrorClass<C> {
  return errorClass(code, ALL_STORE_CODES[code]);
}
