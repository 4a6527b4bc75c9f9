/**
 * Keeps sessions in a store.
 */
import { Feature, Op, SessionMethod } from '../abi/frames.gen.js';
import { SESSION_CODES, type SessionErrorCode } from '../abi/session-codes.gen.js';
import { decodeValue } from '../codec/decoder.js';
import type { Encoder, Write } from '../codec/encoder.js';
import {
  type AppendArgs,
  toAppendArgs,
  writeAppendEventArgs,
  writeNewSessionArgs,
} from '../codec/tuples.gen.js';
import { uuidv6, UUID_ENTROPY } from '../entropy.js';
import { isTurncoreError, TurncoreError } from '../errors.js';
import { fullModule } from '../front/create-runner.js';
import { Host, type HostOptions, sharedHost } from '../host/host.js';
import { invocationError } from '../session-errors.js';
import type { Append, Appender } from '../store/appender.js';
import { copiesAtOnce, pooled } from '../store/pooled.js';
import type { Sessions } from '../store/store.js';
import { storeError } from '../store-errors.js';
import { fullMemoryStore } from '../stores/memory.js';
import type { Core } from '../turn/core.js';
import { bodyOf, bytesOf, type Event, type EventData, eventValue, revive } from './event.js';
import { HeldSession } from './held-session.js';
import {
  appScope,
  artifactBytes,
  CREATED,
  type SessionKey,
  sessionIdOf,
  storedId,
  userPrefix,
  userScope,
} from './keys.js';
import { scopedName, Session } from './session.js';
import type { State } from './state.js';

/** A store of sessions: that of `turncore/stores/memory`, and all others of the package. */
export type SessionStore = Sessions & Appender;

/** Options of a {@link SessionService}. */
export interface SessionServiceOptions {
  /** Where sessions are kept. Default: in memory. */
  readonly store?: SessionStore | undefined;
  /** What runs the module that checks sessions; options of one take effect on a host of their own. Default: a shared one. */
  readonly host?: Host | HostOptions | undefined;
}

/** What a session begins with. */
export interface NewSession extends Omit<SessionKey, 'sessionId'> {
  /** Default: a UUID. */
  readonly sessionId?: string | undefined;
  /** Values by name; `app:` and `user:` names are shared at once. */
  readonly state?: Readonly<State> | undefined;
}

/** What is known of a session without reading it. */
export interface SessionSummary extends SessionKey {
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A session that was read, for an invocation. */
export interface LoadedSession {
  /** Its id in the store. */
  readonly stored: string;
  readonly held: HeldSession;
  /** How many events of it there were. */
  readonly count: number;
  /** Encoded values by name with scope. */
  readonly state: readonly (readonly [name: string, value: Uint8Array])[];
}

/** How many sessions are held at most. */
const MOST_HELD = 1000;

/** Keeps sessions in a store. All its methods name the application and the user: a session of another one is not there. */
export class SessionService {
  readonly store: SessionStore;
  /** @internal */
  readonly host: Host;
  /** Those that were used last are last. */
  readonly #held = new Map<string, HeldSession>();

  constructor({ store = fullMemoryStore(), host }: SessionServiceOptions = {}) {
    this.store = store;
    this.host = sessionHost(host);
  }

  /**
   * Creates a session.
   *
   * @throws TurncoreError (rejects) E_SESSION_EXISTS; E_INVALID_STATE for a misspelled scope or an invalid value
   */
  async createSession(given: NewSession): Promise<Session> {
    const { clock, entropy } = this.host;
    const { appName, userId, state, sessionId = uuidv6(clock(), entropy(UUID_ENTROPY)) } = given;
    const stored = storedId({ appName, userId, sessionId });
    const args = await this.#ask(SessionMethod.NewSession, (enc) =>
      writeNewSessionArgs(enc, {
        app: appName,
        user: userId,
        id: CREATED,
        now: clock(),
        state: state === undefined ? null : (e) => e.value({ ...state }, 'state'),
      }),
    );
    const there = await this.store.events(stored, { limit: 1 });
    const exists = (): Error =>
      storeError('E_SESSION_EXISTS', JSON.stringify(sessionId), {
        details: { session: sessionId },
      });
    if (there.length > 0) throw exists();
    try {
      await this.store.append(stored, appendOf(this.store, args!, undefined));
    } catch (error) {
      if (isTurncoreError(error, 'E_SESSION_CONFLICT')) throw exists();
      throw error;
    }
    this.#forget(stored);
    return (await this.getSession({ appName, userId, sessionId }))!;
  }

  /** A session; undefined if there is none. */
  async getSession(key: SessionKey): Promise<Session | undefined> {
    const loaded = await this.load(key);
    if (loaded === undefined) return undefined;
    const { held, count, state } = loaded;
    const values = state.map(([name, value]) => [name, decodeValue(value)] as const);
    return new Session({
      ...key,
      state: Object.fromEntries(values),
      events: held.shown(count),
      revision: held.at(count - 1)!.revision,
    });
  }

  /** The sessions of a user, those updated last first. */
  async listSessions(user: Omit<SessionKey, 'sessionId'>): Promise<SessionSummary[]> {
    const { appName, userId } = user;
    const prefix = userPrefix(appName, userId);
    const list: SessionSummary[] = [];
    for (let cursor: string | undefined; cursor !== '';) {
      const page = await this.store.list(cursor === undefined ? {} : { cursor });
      for (const { id, createdAt, updatedAt } of page.sessions) {
        if (!id.startsWith(prefix)) continue;
        const sessionId = sessionIdOf(id.slice(prefix.length));
        list.push({ appName, userId, sessionId, createdAt, updatedAt });
      }
      cursor = page.next;
    }
    return list;
  }

  /** Deletes a session. What it shares stays. One that is not there is no error. */
  async deleteSession(key: SessionKey): Promise<void> {
    const stored = storedId(key);
    this.#forget(stored);
    await this.store.delete(stored);
  }

  #forget(stored: string): void {
    this.#held.get(stored)?.forget();
    this.#held.delete(stored);
  }

  /**
   * Appends an event, with the changes of the state and the artifacts that its actions name, in one transaction. The handle
   * has them afterwards. A partial event changes nothing.
   *
   * @returns the event as it was stored
   * @throws TurncoreError (rejects) E_SESSION_CONFLICT if the store has events that the handle has not: then neither
   *   changes, and {@link retry} loads anew; E_INVALID_EVENT and E_INVALID_STATE, naming the field
   */
  async appendEvent(session: Session, event: EventData): Promise<Event> {
    const { key } = session;
    const stored = storedId(key);
    const { clock, entropy } = this.host;
    const value = eventValue(event);
    const args = await this.#ask(SessionMethod.Append, (enc) =>
      writeAppendEventArgs(enc, {
        app: key.appName,
        user: key.userId,
        id: uuidv6(clock(), entropy(UUID_ENTROPY)),
        now: clock(),
        event: (e) => e.value(value, 'event'),
      }),
    );
    if (args === undefined) return revive(value);
    const revision = await this.store.append(stored, appendOf(this.store, args, session.revision));
    return session.appended(args, revision);
  }

  /**
   * Runs a function with a session. When another writer has come first, it loads the session anew and runs the function
   * again.
   *
   * @param attempts how often it runs at most. Default 5
   * @throws TurncoreError (rejects) E_SESSION_CONFLICT after the last attempt; what the function throws;
   *   E_SESSION_NOT_FOUND if the session was deleted
   */
  async retry<T>(
    session: Session,
    run: (session: Session) => T | PromiseLike<T>,
    attempts = 5,
  ): Promise<T> {
    for (let current = session, left = attempts; ; left--) {
      try {
        return await run(current);
      } catch (error) {
        if (left <= 1 || !isTurncoreError(error, 'E_SESSION_CONFLICT')) throw error;
      }
      const fresh = await this.getSession(session.key);
      if (fresh === undefined) throw notFound(session.key);
      current = fresh;
    }
  }

  /**
   * Makes a session that begins as another one: with all its events, or with those up to one of them.
   *
   * @param options `sessionId` of the new one, by default a UUID; `upTo`, the id of the last event to take
   * @throws TurncoreError (rejects) E_SESSION_NOT_FOUND, E_SESSION_EXISTS; E_INVALID_EVENT if there is no such event
   */
  async forkSession(
    key: SessionKey,
    options: { readonly sessionId?: string; readonly upTo?: string } = {},
  ): Promise<Session> {
    const { clock, entropy } = this.host;
    const { sessionId = uuidv6(clock(), entropy(UUID_ENTROPY)), upTo } = options;
    const to = { ...key, sessionId };
    const loaded = await this.load(key);
    if (loaded === undefined) throw notFound(key);
    if (upTo === undefined) await this.store.fork(loaded.stored, storedId(to));
    else await this.#forkUpTo(loaded, to, upTo);
    return (await this.getSession(to))!;
  }

  async #forkUpTo({ held, count }: LoadedSession, to: SessionKey, upTo: string): Promise<void> {
    let last = count - 1;
    while (last > 0 && held.at(last)!.id !== upTo) last--;
    if (last === 0) {
      throw invocationError('E_INVALID_EVENT', `upTo: the session has no event ${upTo}`, {
        details: { field: 'upTo' },
      });
    }
    const stored = storedId(to);
    if ((await this.store.events(stored, { limit: 1 })).length > 0) {
      throw storeError('E_SESSION_EXISTS', JSON.stringify(to.sessionId), {
        details: { session: to.sessionId },
      });
    }
    for (let i = 0; i <= last; i++) {
      const { id, body, event } = held.at(i)!;
      // What sessions share has these changes already.
      const own = Object.entries(event.actions.stateDelta).filter(([name]) => !name.includes(':'));
      await this.store.append(stored, {
        event: { id, body },
        state: own.map(([name, value]) => ({ scope: '', name, value: encoded(value) })),
      });
    }
  }

  /** @internal Reads a session; undefined if there is none. */
  async load(key: SessionKey): Promise<LoadedSession | undefined> {
    const stored = storedId(key);
    const { appName, userId } = key;
    const { store } = this;
    const values = (scope: string): ReturnType<Appender['state']> => store.state(stored, scope);
    const [held, ...scopes] = await Promise.all([
      this.#hold(stored),
      values(appScope(appName)),
      values(userScope(appName, userId)),
      values(''),
    ]);
    const count = held.length;
    if (count === 0) return undefined;
    const state = scopes
      .flat()
      .map(({ scope, name, value }) => [scopedName(appName, scope, name), value] as const);
    return { stored, held, count, state };
  }

  async #hold(stored: string): Promise<HeldSession> {
    let held = this.#held.get(stored) ?? new HeldSession();
    if (!(await held.refresh(this.store, stored))) {
      held.forget();
      held = new HeldSession();
      await held.refresh(this.store, stored);
    }
    this.#held.delete(stored);
    if (held.length === 0) return held;
    this.#held.set(stored, held);
    if (this.#held.size > MOST_HELD) this.#forget(this.#held.keys().next().value!);
    return held;
  }

  /** Asks the module what to append; undefined for nothing. */
  async #ask(method: number, args: Write): Promise<AppendArgs | undefined> {
    const core = await sessionCore(this.host);
    let value: unknown;
    try {
      value = core.ask((enc, call) =>
        writeMethod(enc, { turn: 0, call, elapsed: 0, context: 0, method, args }),
      );
    } catch (error) {
      throw described(error);
    }
    return value === null ? undefined : toAppendArgs(value);
  }
}

/** A call of a method about sessions. */
interface MethodCall {
  readonly turn: number;
  readonly call: number;
  readonly elapsed: number;
  readonly context: number;
  readonly method: number;
  readonly args: Write | null;
}

/** Writes a Call frame. */
export function writeMethod(enc: Encoder, frame: MethodCall): void {
  enc.arrayHeader(7);
  enc.int(Op.Call);
  enc.int(frame.turn);
  enc.int(frame.call);
  enc.int(frame.elapsed);
  enc.int(frame.context);
  enc.int(frame.method);
  enc.put(frame.args);
}

/** What one transaction appends to a store. @param revision that the writer has seen */
export function appendOf(
  store: SessionStore,
  { event, state, artifacts }: AppendArgs,
  revision: string | undefined,
  body: (id: string) => Uint8Array = () => encoded({ mimeType: '' })!,
): Append & { readonly event: { readonly id: string; readonly body: Uint8Array } } {
  const copy = copiesAtOnce in store ? pooled : sliced;
  return {
    event: { id: (event as EventData).id!, body: bodyOf(event, copy) },
    state: state.map(({ scope, name, value }) => ({ scope, name, value: encoded(value) })),
    artifacts: artifacts.map(({ scope, name, version }) => {
      const bytes = artifactBytes(scope, name, version);
      return { scope, name, version, bytes, body: body(bytes) };
    }),
    revision,
  };
}

function sliced(bytes: Uint8Array): Uint8Array {
  return bytes.slice();
}

/** A value as a store keeps it; null deletes. */
export function encoded(value: unknown): Uint8Array<ArrayBuffer> | null {
  return value === null ? null : bytesOf(value, 'value');
}

/** E_SESSION_NOT_FOUND. */
export function notFound({ sessionId }: SessionKey): Error {
  return storeError('E_SESSION_NOT_FOUND', JSON.stringify(sessionId), {
    details: { session: sessionId },
  });
}

/** The host for an option: sessions need the full module. */
function sessionHost(given: Host | HostOptions | undefined): Host {
  if (given instanceof Host) return given;
  if (given === undefined) return sharedHost(fullModule());
  return new Host({ ...given, module: given.module ?? fullModule() });
}

/** The core of an instance with sessions. @throws TurncoreError (rejects) E_INVALID_MODULE if the module has none */
export async function sessionCore(host: Host): Promise<Core> {
  const core = host.ready() ?? (await host.acquire());
  if ((core.instance.features & Feature.Sessions) !== 0) return core;
  throw TurncoreError.of('E_INVALID_MODULE', 'it has no sessions: load the full module');
}

/** An error of the module with the description of its code. */
function described(error: unknown): unknown {
  if (!isTurncoreError(error) || !Object.hasOwn(SESSION_CODES, error.code)) return error;
  const info = SESSION_CODES[error.code as SessionErrorCode];
  return new TurncoreError(error.code, error.message, { details: error.details, info });
}
