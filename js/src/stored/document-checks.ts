/**
 * What the parts of a document must be for sessions to go on with them. Go's `host/store` says the same.
 */
import { joined } from '../bytes.js';
import { Decoder, decodeValue } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import { isObject } from '../validation/field-kinds.js';
import { MAX_STATE, MAX_VALUE, scopeOf, wrongStateName } from '../validation/state-name.js';
import { type Form, FORMS } from './document-forms.gen.js';

const KINDS = {
  string: (value: unknown) => typeof value === 'string',
  boolean: (value: unknown) => typeof value === 'boolean',
  integer: Number.isInteger,
};

/** Why a body is not that of the event of an id; undefined if it is. */
export function wrongEvent(id: string, body: Uint8Array): string | undefined {
  const event = decoded(body);
  if (!isMap(event)) return 'it is not the encoding of an event';
  const wrong = wrongIn('', FORMS.event, event);
  return wrong ?? (event['id'] === id ? undefined : `id: it is not ${JSON.stringify(id)}`);
}

/** What becomes of a member of a map: its value, or undefined for none. */
type Keep = (name: string, value: Uint8Array) => Uint8Array | undefined;

/**
 * The body of an event without the artifacts of the user, which a session's document does not have: in another store
 * they have other versions, or none. What is no event is as it was.
 */
export function ownEvent(body: Uint8Array): Uint8Array {
  if (!isMap(decoded(body))) return body;
  const own: Keep = (name, value) => (name.startsWith('user:') ? undefined : value);
  return keptIn(body, within('actions', within('artifactDelta', own))) ?? body;
}

/** Keeps of one member what another function keeps in it. */
function within(member: string, keep: Keep): Keep {
  return (name, value) => (name === member ? keptIn(value, keep) : value);
}

/** A value; a map with what is kept of its members. It is undefined if no member is left of some. */
function keptIn(bytes: Uint8Array, keep: Keep): Uint8Array | undefined {
  const [type = 0] = bytes;
  const long = type === 0xde ? 2 : type === 0xdf ? 4 : 0; // bytes of its size
  if (long === 0 && (type & 0xf0) !== 0x80) return bytes;
  const from = 1 + long;
  const size = long === 0 ? type & 0x0f : bytes.subarray(1, from).reduce((n, b) => n * 256 + b, 0);
  const reader = new Decoder(bytes.subarray(from));
  const members: (readonly [string, Uint8Array])[] = [];
  let same = true;
  for (let n = 0; n < size; n++) {
    const name = reader.str();
    const start = from + reader.position;
    reader.value();
    const value = bytes.subarray(start, from + reader.position);
    const kept = keep(name, value);
    if (kept !== value) same = false;
    if (kept !== undefined) members.push([name, kept]);
  }
  if (same) return bytes;
  if (members.length === 0) return undefined;
  const whole = new Encoder();
  whole.mapHeader(members.length);
  const parts: Uint8Array[] = [whole.copy()];
  for (const [name, kept] of members) {
    whole.reset();
    whole.str(name);
    parts.push(whole.copy(), kept);
  }
  return joined(parts);
}

/** Why a body is not that of an artifact's version; undefined if it is. */
export function wrongArtifact(body: Uint8Array): string | undefined {
  const described = decoded(body);
  if (!isMap(described)) return 'it is not the encoding of a map';
  return wrongIn('', FORMS.artifact, described);
}

/** What is not of its form in a value; undefined for nothing. null is of every form. */
function wrongIn(at: string, want: Form, value: unknown): string | undefined {
  if (value === null) return undefined;
  if (typeof want === 'string') {
    if (KINDS[want](value)) return undefined;
    return `${at}: must be ${want === 'integer' ? 'an' : 'a'} ${want}`;
  }
  if (isList(want)) {
    if (!Array.isArray(value)) return `${at}: must be a list`;
    for (const [i, one] of value.entries()) {
      const wrong = wrongIn(`${at}[${i}]`, want[0], one);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
  if (!isMap(value)) return `${at}: must be a map`;
  for (const [name, one] of Object.entries(value)) {
    if (!Object.hasOwn(want, name)) continue;
    const wrong = wrongIn(at === '' ? name : `${at}.${name}`, want[name]!, one);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof Uint8Array);
}

function isList(form: Form): form is readonly [Form] {
  return Array.isArray(form);
}

/** The value of bytes; undefined if they are none that a frame can hold. */
function decoded(bytes: Uint8Array): unknown {
  try {
    return decodeValue(bytes);
  } catch {
    return undefined;
  }
}

/** Why a value of a session's own state cannot have a name; undefined if it can. */
export function wrongName(name: string): string | undefined {
  const scoped = scopeOf(name) !== '' ? "a session's own state has no scopes" : undefined;
  return wrongStateName(name) ?? scoped;
}

/** Why a state cannot have a value that makes it so large; undefined if it can. */
export function wrongValue(value: Uint8Array, size: number): string | undefined {
  if (decoded(value) === undefined) return 'it is not the encoding of a value';
  if (value.length > MAX_VALUE) return `a value has at most ${MAX_VALUE} bytes`;
  return size > MAX_STATE ? `the state has at most ${MAX_STATE} bytes` : undefined;
}
