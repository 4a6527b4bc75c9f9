/**
 * Lists of tuples within values that came in a frame.
 */
import { CodecError } from './decoder.js';

/**
 * The tuples of a list, for the generated readers of values.
 *
 * @param name of the tuple that has the list
 * @throws CodecError
 */
export function tuplesOf<T>(value: unknown, name: string, read: (value: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new CodecError('field', 0, `${name}: an array is expected`);
  return (value as unknown[]).map((tuple) => read(tuple));
}
