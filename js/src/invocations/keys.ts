/**
 * Where a store keeps a session and the state that sessions share.
 */
import { invocationError } from '../session-errors.js';

/** Names a session. */
export interface SessionKey {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** The id of the event that creates a session: a session has one. */
export const CREATED = 'created';

/** The beginning of the ids of a user's sessions in a store. */
function userPrefix(appName: string, userId: string): string {
  return `${escape(appName)}/${escape(userId)}/`;
}

/**
 * The beginning of the ids of sessions in a store: those of a user, or of an application.
 *
 * @throws TurncoreError E_INVALID_INVOCATION for an empty name
 */
export function prefixOf(of: {
  readonly appName: string;
  readonly userId?: string | undefined;
}): string {
  requireName(of.appName, 'appName');
  if (of.userId === undefined) return `${escape(of.appName)}/`;
  requireName(of.userId, 'userId');
  return userPrefix(of.appName, of.userId);
}

/**
 * The id of a session in a store, by which `exportConversation` takes it: application, user and session, joined by
 * slashes. In names a slash is `%2F` and a percent sign `%25`.
 *
 * @throws TurncoreError E_INVALID_INVOCATION for an empty name
 */
export function storedId(key: SessionKey): string {
  const { appName, userId, sessionId } = Object(key) as SessionKey;
  requireName(appName, 'appName');
  requireName(userId, 'userId');
  requireName(sessionId, 'sessionId');
  return userPrefix(appName, userId) + escape(sessionId);
}

/** The id of a session as its user knows it, from a store's without the beginning. */
function sessionIdOf(rest: string): string {
  return rest.replaceAll('%2F', '/').replaceAll('%25', '%');
}

/** The session of an id in a store; undefined for one that no service makes, such as that of a conversation of turns. */
export function sessionKeyOf(stored: string): SessionKey | undefined {
  const [appName = '', userId = '', sessionId = ''] = stored.split('/').map(sessionIdOf);
  if (appName === '' || userId === '' || sessionId === '') return undefined;
  const key = { appName, userId, sessionId };
  return storedId(key) === stored ? key : undefined;
}

/** The scope of what all sessions of an application share. */
export function appScope(appName: string): string {
  return `app/${escape(appName)}`;
}

/** The scope of what all sessions of a user share. */
export function userScope(appName: string, userId: string): string {
  return `user/${escape(appName)}/${escape(userId)}`;
}

/** The name of a value with its scope, from the store's. */
export function scopedName(appName: string, scope: string, name: string): string {
  if (scope === '') return name;
  return `${scope === appScope(appName) ? 'app' : 'user'}:${name}`;
}

/** The scope in a store, and the name in it, of an artifact. Artifacts whose names begin with user: are the user's. */
export function artifactPlace({ appName, userId }: SessionKey, name: string): [string, string] {
  const own = !name.startsWith('user:');
  return own ? ['', name] : [userScope(appName, userId), name.slice('user:'.length)];
}

/** The id under which a session keeps the bytes of an artifact until an event names it. */
export function artifactBytes(scope: string, name: string, version: number): string {
  return `artifact:${JSON.stringify([scope, name, version])}`;
}

function requireName(value: unknown, field: string): void {
  if (typeof value === 'string' && value !== '') return;
  throw invocationError('E_INVALID_INVOCATION', `${field}: must be a non-empty string`, {
    details: { field },
  });
}

function escape(name: string): string {
  if (!name.includes('%') && !name.includes('/')) return name; // as nearly all are
  return name.replaceAll('%', '%25').replaceAll('/', '%2F');
}
