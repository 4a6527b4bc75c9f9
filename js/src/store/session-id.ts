/**
 * The ids of sessions.
 */
import { storeError } from '../store-errors.js';

/** The most bytes of UTF-8 that an id may have. */
const MOST = 512;

/**
 * The session of an id: "default" if there is none.
 *
 * @param field goes by this name in the error
 * @throws TurncoreError E_INVALID_SESSION_ID unless it is an id: it must not select another session
 */
export function sessionNamed(id: unknown, field = 'stash.sessionId'): string {
  return id === undefined || id === null || id === '' ? 'default' : requireSession(id, field);
}

/** @throws TurncoreError E_INVALID_SESSION_ID unless it is the id of a session */
export function requireSession(id: unknown, field = 'session'): string {
  if (
    typeof id === 'string' &&
    !/\p{Surrogate}/u.test(id) &&
    new TextEncoder().encode(id).length <= MOST
  )
    return id;
  const form = typeof id === 'string' ? `well-formed string of at most ${MOST} bytes` : 'string';
  throw storeError('E_INVALID_SESSION_ID', `${field}: must be a ${form}`, { details: { field } });
}
