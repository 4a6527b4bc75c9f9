/**
 * A store in memory.
 */
import { systemClock } from '../entropy.js';
import type { ConduitBytes } from '../primitives/readers.js';
import { sessionError, storeError } from '../store-errors.js';
import { NO_REVISION } from './appender.js';
import { collectBytes } from './byte-store.js';
import { MemoryReader } from '../readers/memory-reader.js';
import { MemorySession } from './memory-session.js';
import type { Conversation } from '../sessions/conversation.js';
import type {
  BytesReader,
  Commit,
  PageOptions,
  SessionInfo,
  SessionPage,
  Sessions,
} from './store.js';

/** Keeps conversations in memory during its lifetime. It keeps records as they are, with their readers. */
export function memoryStore(): Sessions {
  return new MemoryStore();
}

/** A store in memory. */
export class MemoryStore implements Sessions {
  /** Those that were updated last are last. */
  readonly sessions = new Map<string, MemorySession>();
  /** Number of the last write to any session. */
  #revision = 0;
  /** The session that was updated last. */
  #last: MemorySession | undefined;

  load(session: string, after = ''): Conversation {
    return (this.sessions.get(session) ?? new MemorySession(session, 0, 0)).load(after);
  }

  commit(session: string, commit: Commit): string {
    const { deltas, key = '', turn = '', ended = [] } = commit;
    const there = this.sessions.get(session);
    there?.forget(ended);
    const answered = there?.keys.get(key);
    if (answered !== undefined) return answered.revision;
    (there ?? new MemorySession(session, 0, 0)).check(commit);
    if (there === undefined && deltas.length === 0) return NO_REVISION;
    const of = deltas.length > 0 ? this.write(session) : there!;
    for (const delta of deltas) of.apply(delta);
    const revision = String(of.revision);
    of.remember(key, turn, revision);
    return revision;
  }

  /** Deleting a record does not move the time back. */
  newest(session: string): number | undefined {
    return this.sessions.get(session)?.newest;
  }

  async putBytes(session: string, id: string, content: ConduitBytes): Promise<void> {
    const reader = new MemoryReader(await collectBytes(content));
    this.begin(session).bytes.set(id, reader);
  }

  openBytes(session: string, id: string): BytesReader {
    const reader = this.sessions.get(session)?.bytes.get(id);
    if (reader === undefined) {
      throw sessionError('E_BYTES_NOT_FOUND', { session, id });
    }
    return reader;
  }

  async list(page?: PageOptions): Promise<SessionPage> {
    return (await whole()).list(this, page);
  }

  async find(session: string): Promise<SessionInfo | undefined> {
    return (await whole()).find(this, session);
  }

  async fork(from: string, to: string): Promise<void> {
    (await whole()).fork(this, storeError, from, to);
  }

  delete(session: string): void {
    this.sessions.delete(session);
  }

  async setTitle(session: string, title: string): Promise<void> {
    (await whole()).named(this, storeError, session).title = title;
  }

  /** The session of an id, which begins if need be. */
  begin(id: string): MemorySession {
    return this.sessions.get(id) ?? this.write(id);
  }

  /** The session of an id with the next revision. */
  write(id: string): MemorySession {
    const session = this.sessions.get(id) ?? new MemorySession(id, this.#revision, systemClock());
    session.update(++this.#revision, systemClock());
    if (session !== this.#last) {
      this.sessions.delete(id);
      this.sessions.set(id, session);
      this.#last = session;
    }
    return session;
  }
}

/** What programs with one conversation do not need. */
function whole() {
  return import('./memory-sessions.js');
}
