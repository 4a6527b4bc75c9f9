/**
 * The store of a scenario of invocations.
 */
import { Encoder } from '../codec/encoder.js';
import type { Append } from '../entries/stores.js';
import { fullMemoryStore } from '../entries/memory.js';
import type { SessionStore } from '../entries/sessions.js';
import { decoded, described, type Lines, STORE } from './invocation-lines.js';
import type { InvocationFault } from './invocation-scenario.js';
import type { Line } from './line.js';

/** A store in memory that writes appends to the log, and has the scenario's faults. */
export function keeper(lines: Lines, fault: InvocationFault): SessionStore {
  const store = fullMemoryStore();
  let appends = 0;
  const put = (session: string, append: Append, more: Record<string, unknown> = {}): unknown => {
    const line: Record<string, unknown> = { ...appendLine(session, append), ...more };
    try {
      if (appends === fault.fails) throw new Error('the disk is full');
      const revision = store.append(session, append);
      if (appends === fault.lost) line['lost'] = true;
      return revision;
    } catch (error) {
      line['threw'] = described(error);
      throw error;
    } finally {
      lines.write(STORE, line);
    }
  };
  const append: SessionStore['append'] = (session, given) => {
    appends++;
    if (appends === fault.writer) put(session, { event: OTHER }, { other: true });
    const revision = put(session, given) as string;
    if (appends === fault.lost) throw new Error('the connection is lost');
    return revision;
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
}

/** What somebody else has to say. */
const OTHER = (() => {
  const enc = new Encoder(64);
  const content = { parts: [{ text: 'meanwhile' }], role: 'user' };
  enc.value({ author: 'user', content, id: 'other' }, 'event');
  return { id: 'other', body: enc.copy() };
})();

function appendLine(session: string, { event, state = [], artifacts = [] }: Append): Line {
  return {
    session,
    ...(event !== undefined && { append: decoded(event.body), bytes: event.body.length }),
    ...(state.length > 0 && {
      state: state.map(({ scope, name, value }) => [scope, name, decoded(value)]),
    }),
    ...(artifacts.length > 0 && {
      artifacts: artifacts.map(({ scope, name, version }) => [scope, name, version]),
    }),
  };
}
