/**
 * The sessions of the store in memory, each as a whole.
 */
import type { storeError } from '../store-errors.js';
import type { MemorySession } from './memory-session.js';
import type { PageOptions, SessionInfo, SessionPage } from './store.js';

/** It is handed over: a file that loads late imports nothing that the first one has. */
type MakeError = typeof storeError;

/** The store. */
interface All {
  /** By id. Those that were updated last are last. */
  readonly sessions: ReadonlyMap<string, MemorySession>;
  /** Makes a session. */
  begin(id: string): MemorySession;
}

/** A page of the sessions. */
export function list(
  all: All,
  { cursor = '', prefix = '', limit = 100 }: PageOptions = {},
): SessionPage {
  const behind = [...all.sessions.values()].reverse().filter(({ id, revision }) => {
    return id.startsWith(prefix) && (cursor === '' || revision < Number(cursor));
  });
  const sessions = behind.slice(0, limit).map((each) => infoOf(each));
  return { sessions, next: behind.length > limit ? sessions.at(-1)!.revision : '' };
}

/** What the list says of a session. */
export function find(all: All, session: string): SessionInfo | undefined {
  const there = all.sessions.get(session);
  return there && infoOf(there);
}

function infoOf(session: MemorySession): SessionInfo {
  const { id, title, revision, created, updated } = session;
  const [createdAt, updatedAt] = [new Date(created), new Date(updated)];
  const messages = session.list('message').entries.length;
  return { id, title, revision: String(revision), createdAt, updatedAt, messages };
}

/** The session of an id. @throws TurncoreError E_SESSION_NOT_FOUND */
export function named(all: All, error: MakeError, session: string): MemorySession {
  const there = all.sessions.get(session);
  if (there !== undefined) return there;
  throw error('E_SESSION_NOT_FOUND', JSON.stringify(session), { details: { session } });
}

/** Makes a session like another one. @throws TurncoreError E_SESSION_NOT_FOUND, E_SESSION_EXISTS */
export function fork(all: All, error: MakeError, from: string, to: string): MemorySession {
  const old = named(all, error, from);
  if (all.sessions.has(to)) {
    throw error('E_SESSION_EXISTS', JSON.stringify(to), { details: { session: to } });
  }
  const session = all.begin(to);
  session.title = old.title;
  session.newest = old.newest;
  session.settled = old.settled;
  for (const [id, reader] of old.bytes) session.bytes.set(id, reader);
  for (const kind of Object.keys(old.lists) as (keyof MemorySession['lists'])[]) {
    for (const { record } of old.list(kind).entries) {
      session.list(kind).put(record, session.revision);
    }
  }
  return session;
}
