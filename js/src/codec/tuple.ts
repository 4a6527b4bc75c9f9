/**
 * Tuples within values that came in a frame.
 */
import { CodecError } from './decoder.js';

const MOST: Readonly<Record<string, number>> = {
  u8: 0xff,
  u16: 0xffff,
  u32: 0xffffffff,
  u64: Number.MAX_SAFE_INTEGER,
};

/** The reason why a field of a kind cannot have a value; undefined if it can. */
function wrong(kind: string, value: unknown): string | undefined {
  const most = MOST[kind];
  if (most !== undefined) {
    if (!Number.isSafeInteger(value)) return 'an integer is expected';
    return (value as number) < 0 || (value as number) > most
      ? 'the integer is out of range'
      : undefined;
  }
  if (kind === 'str') return typeof value === 'string' ? undefined : 'a string is expected';
  if (kind === 'bool') return typeof value === 'boolean' ? undefined : 'true or false is expected';
  return undefined;
}

/**
 * The fields of a tuple, for the generated readers of values.
 *
 * @param name of the tuple
 * @param kinds of its fields, as layouts name them
 * @throws CodecError
 */
export function fieldsOf(value: unknown, name: string, ...kinds: string[]): readonly unknown[] {
  if (!Array.isArray(value)) throw refused(name, 'an array is expected');
  const fields = value as readonly unknown[];
  const { length } = kinds;
  if (fields.length !== length) {
    throw refused(name, `a tuple of ${length} elements is expected, there are ${fields.length}`);
  }
  for (let i = 0; i < length; i++) {
    const why = wrong(kinds[i]!, fields[i]);
    if (why !== undefined) throw refused(name, why);
  }
  return fields;
}

function refused(name: string, why: string): CodecError {
  return new CodecError('field', 0, `${name}: ${why}`);
}
