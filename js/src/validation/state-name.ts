/**
 * Names of the state, and how large it is. The core and Go's hosts refuse the same.
 */
import { typos } from './suggest.js';

/** Bytes of a name, with its scope. */
const MAX_NAME = 512;
/** Bytes of an encoded value. */
export const MAX_VALUE = 1 << 20;
/** Bytes of all names, with their scopes, and encoded values that an invocation sees. */
export const MAX_STATE = 8 << 20;

const utf8 = new TextEncoder();
const SCOPES = ['app:', 'user:', 'temp:'];

/** The scope that a name begins with; an empty text for none. */
export function scopeOf(name: string): string {
  return SCOPES.find((scope) => name.startsWith(scope)) ?? '';
}

/** Why nothing in the state can have a name; undefined for one that is right. */
export function wrongStateName(name: string): string | undefined {
  const scope = scopeOf(name);
  if (name === scope) return 'a name must not be empty';
  if (sizeOf(name) > MAX_NAME) return `a name has at most ${MAX_NAME} bytes`;
  const meant = scope === '' ? meantName(name) : undefined;
  if (meant === undefined) return undefined;
  return `a scope is app:, user: or temp:; did you mean ${JSON.stringify(meant)}?`;
}

/** The name that was probably meant by one whose scope is not known. */
function meantName(name: string): string | undefined {
  if (name.startsWith('temp_')) return `temp:${name.slice('temp_'.length)}`;
  const colon = name.indexOf(':');
  // Typing errors are counted in bytes.
  const bytes = utf8.encode(name.slice(0, colon + 1));
  if (colon < 0 || bytes.length > 9) return undefined;
  const prefix = String.fromCharCode(...bytes).toLowerCase();
  const meant = SCOPES.find((scope) => typos(prefix, scope) <= 1);
  return meant === undefined ? undefined : meant + name.slice(colon + 1);
}

/** How many bytes a text has. */
export function sizeOf(text: string): number {
  return utf8.encode(text).length;
}
