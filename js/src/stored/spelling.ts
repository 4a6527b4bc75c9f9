/**
 * How JSON spells what it has no type for: bytes within free values, and times.
 */
import { fromBase64, toBase64 } from '../codec/base64.js';
import { isObject } from '../validation/field-kinds.js';

/** The member of an object that stands for bytes, as base64. */
const BYTES = '$bytes';
/** The member of an object that stands for an object which looks like bytes, or like this. */
const OBJECT = '$object';

/** A free value, as it comes out of MessagePack, as JSON spells it. */
export function spell(value: unknown): unknown {
  if (value instanceof Uint8Array) return { [BYTES]: toBase64(value) };
  const spelled = parts(value, spell);
  return marked(value) === undefined ? spelled : { [OBJECT]: spelled };
}

/** Undoes {@link spell}. @throws Error for bytes that are not base64 */
export function unspell(value: unknown): unknown {
  const mark = marked(value);
  if (mark === undefined) return parts(value, unspell);
  const inner = (value as Record<string, unknown>)[mark];
  if (mark === BYTES) {
    const bytes = typeof inner === 'string' ? fromBase64(inner) : undefined;
    if (bytes === undefined) throw new Error(`${BYTES} is not base64`);
    return bytes;
  }
  if (marked(inner) === undefined) {
    throw new Error(`${OBJECT} is not an object of one member, ${BYTES} or ${OBJECT}`);
  }
  return parts(inner, unspell);
}

function parts(value: unknown, of: (part: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(of);
  if (!isObject(value)) return value;
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    Object.defineProperty(out, key, {
      value: of(value[key]),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return out;
}

/** The one member of an object that is named like a mark. */
function marked(value: unknown): string | undefined {
  if (!isObject(value) || value instanceof Uint8Array) return undefined;
  const keys = Object.keys(value);
  return keys.length === 1 && (keys[0] === BYTES || keys[0] === OBJECT) ? keys[0] : undefined;
}

const TIME = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** The ms of a time in RFC 3339 or of `toISOString`; NaN for any other text. */
export function fromSpelled(text: string): number {
  return TIME.test(text) ? Date.parse(text) : Number.NaN;
}
