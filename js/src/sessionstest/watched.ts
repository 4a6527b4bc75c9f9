/**
 * A store that counts, and fails at times.
 */
import type { SessionStore } from '../invocations/session-store.js';

/** What the store fails with. */
export const FAILS = new Error('the store fails');

/** A store that counts the calls that read or write events and sessions, and fails at one of its appends. */
export class Watched {
  readonly inner: SessionStore;
  readonly store: SessionStore;
  calls = 0;
  /** Events that were read. */
  read = 0;
  /** Sessions that were listed. */
  listed = 0;
  /** Transactions that make a fork. */
  forks = 0;
  /** Appends since the last call of {@link failAt}. */
  appends = 0;
  #failing = 0;
  #late = false;

  constructor(inner: SessionStore) {
    this.inner = inner;
    const watching: Partial<SessionStore> = {
      append: async (session, append) => {
        this.calls++;
        const fails = ++this.appends === this.#failing;
        if (fails && !this.#late) throw FAILS;
        const revision = await inner.append(session, append);
        if (fails) throw FAILS;
        return revision;
      },
      events: async (session, query) => {
        this.calls++;
        const events = await inner.events(session, query);
        this.read += events.length;
        return events;
      },
      list: async (page) => {
        this.calls++;
        const found = await inner.list(page);
        this.listed += found.sessions.length;
        return found;
      },
      fork: (from, to) => {
        this.forks++;
        return inner.fork(from, to);
      },
      forkAt: (from, to, at) => {
        this.forks++;
        return inner.forkAt(from, to, at);
      },
      find: (session) => {
        this.calls++;
        return inner.find(session);
      },
    };
    this.store = new Proxy(inner, {
      get: (target, name) => {
        const own: unknown = Reflect.get(watching, name);
        if (own !== undefined) return own;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
      },
    });
  }

  /** Lets the n-th append from here on fail: before it is stored, or after that if `late`; 0 for none. */
  failAt(append: number, late = false): void {
    this.appends = 0;
    this.#failing = append;
    this.#late = late;
  }

  /** Calls a function. Returns what it cost. */
  async cost(call: () => Promise<unknown>): Promise<{ calls: number; read: number }> {
    this.calls = 0;
    this.read = 0;
    await call();
    return { calls: this.calls, read: this.read };
  }
}
