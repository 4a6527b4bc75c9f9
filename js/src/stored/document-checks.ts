/**
 * What the parts of a document must be for sessions to go on with them. Go's `host/store` says the same.
 */
import { decodeValue } from '../codec/decoder.js';
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
