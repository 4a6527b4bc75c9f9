/**
 * Checks that the options of clients and servers share.
 */
import { messageOf } from '../errors.js';
import { isAbsent } from '../validation/field-kinds.js';

/** The violations of the option `headers`. */
export function headerViolations(headers: unknown): string[] {
  if (isAbsent(headers)) return [];
  try {
    new Headers(headers as ConstructorParameters<typeof Headers>[0]);
    return [];
  } catch (error) {
    return [`\`headers\` must be headers: ${messageOf(error)}`];
  }
}

/** The violations of an option that is a number of bytes. */
export function byteViolations(field: string, bytes: unknown): string[] {
  const right = isAbsent(bytes) || (typeof bytes === 'number' && bytes > 0);
  return right ? [] : [`\`${field}\` must be a positive number`];
}
