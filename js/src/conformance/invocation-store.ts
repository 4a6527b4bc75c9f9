/**
 * The store of a scenario of invocations.
 */
import { Encoder } from '../codec/encoder.js';
import type { Append } from '../entries/stores.js';
import type { fullMemoryStore } from '../entries/memory.js';
import type { SessionStore } from '../entries/sessions.js';
import { decoded, described, type Lines, STORE } from './invocation-lines.js';
import type { InvocationFault } from './invocation-scenario.js';
import type { Line } from './line.js';

/** What the stores of a scenario have in common. */
export interface Kept {
  readonly store: ReturnType<typeof fullMemoryStore>;
  readonly lines: Lines;
  readonly fault: InvocationFault;
  /** How many appends there were. */
  appends: number;
  /** Ends the process: the promise is pending until the scenario is over. */
  vanish(): Promise<void>;
}

/** A store in memory that writes appends to the log, and has the scenario's faults. */
export function keeper(kept: Kept): SessionStore {
  const { store, lines, fault } = kept;
  const put = (session: string, append: Append, more: Record<string, unknown> = {}): unknown => {
    const { appends } = kept;
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
    kept.appends++;
    const { appends } = kept;
    if (appends === fault.writer) put(session, { event: OTHER }, { other: true });
    const revision = put(session, given) as string;
    if (appends === fault.lost) throw new Error('the connection is lost');
    if (appends === fault.dies) {
      return kept.vanish().then(() => {
        throw new Error('the process is gone');
      });
    }
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
