/**
 * The errors of stores about sessions and bytes. Their texts are apart from the others: what needs no store does not
 * load them.
 */
import { type HeldErrorCode, STORE_CODES } from './abi/store-codes.gen.js';
import { TurncoreError, type TurncoreErrorOptions } from './errors.js';

/**
 * Makes an error with the text of a store's code.
 *
 * @param detail follows that text after a colon
 */
export function storeError(
  code: HeldErrorCode,
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
  code: HeldErrorCode,
  details: { readonly session: string; readonly kind?: string; readonly id?: string },
): TurncoreError {
  const { session, kind = 'id', id } = details;
  const what = id === undefined ? '' : `, ${kind} ${JSON.stringify(id)}`;
  return storeError(code, `session ${JSON.stringify(session)}${what}`, { details });
}
