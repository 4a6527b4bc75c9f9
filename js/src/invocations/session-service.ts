/**
 * Keeps sessions in a store.
 */
import { Feature, Op, SessionMethod } from '../abi/frames.gen.js';
import { SESSION_CODES, type SessionErrorCode } from '../abi/session-codes.gen.js';
import type { StoreErrorCode } from '../abi/store-codes.gen.js';
import { type Awaitable, isThenable } from '../awaitable.js';
import type { Encoder, Write } from '../codec/encoder.js';
import {
  type AppendArgs,
  toAppendArgs,
  writeAppendEventArgs,
  writeNewSessionArgs,
} from '../codec/tuples.gen.js';
import { uuidv6, UUID_ENTROPY } from '../entropy.js';
import { invalidValue, isTurncoreError, TurncoreError } from '../errors.js';
import { fullModule } from '../front/create-runner.js';
import { Host, type HostOptions, sharedHost } from '../host/host.js';
import { invocationError } from '../session-errors.js';
import { type Append, NO_REVISION, type StateChange, type StateValue } from '../store/appender.js';
import { copiesAtOnce, pooled } from '../store/pooled.js';
import type { PageOptions } from '../store/store.js';
import { storeError } from '../store-errors.js';
import { ALL_STORE_CODES } from '../stored-errors.js';
import { fullMemoryStore } from '../stores/memory.js';
import type { Core } from '../turn/core.js';
import { SessionArtifacts, unsaved } from './artifacts.js';
import type { GivenBytes, Part } from './content.js';
import { type Event, type EventData, givenEvent, revive } from './event.js';
import { bodyOf } from './event-bytes.js';
import { HeldSession } from './held-session.js';
import { writeMembers, writeState } from './invalid.js';
import {
  appScope,
  CREATED,
  prefixOf,
  scopedName,
  type SessionKey,
  sessionKeyOf,
  storedId,
  userScope,
} from './keys.js';
import {
  hasNames,
  invalidMember,
  isData,
  requireCount,
  requireKnown,
  unknownNames,
} from './names.js';
import { Session } from './session.js';
import { recentEvents } from './recent.js';
import { encoded, type EncodedState, type SessionStore } from './session-store.js';
import type { State } from './state.js';
import { StateSize } from './state-size.js';
import { after, all } from './waiting.js';

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

/** Which events of a session are wanted: those that fit both. */
export interface RecentEvents {
  /** How many there are at most, the last ones: from 1 on. Default: all. */
  readonly last?: number | undefined;
  /**
   * Leaves out the events before the last one whose timestamp is earlier, and that one, in ms since the Unix epoch.
   * Default: none.
   */
  readonly since?: number | undefined;
}

/** Whose sessions are listed: those of a user, or of all users of an application. */
export interface SessionsOf {
  readonly appName: string;
  readonly userId?: string | undefined;
}

/** What is known of a session without reading it. */
export interface SessionSummary extends SessionKey {
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A page of a list of sessions. */
export interface SummaryPage {
  readonly sessions: readonly SessionSummary[];
  /** The cursor of the next page; empty behind the last. */
  readonly next: string;
}

/** A session that was read, for an invocation. */
export interface LoadedSession {
  /** Its id in the store. */
  readonly stored: string;
  readonly held: HeldSession;
  /** How many events of it there were. */
  readonly count: number;
  readonly state: EncodedState;
}

/** @throws TurncoreError E_INVALID_VALUE unless the store keeps events */
function requireStore(store: unknown): void {
  const { append, events } = Object(store) as Partial<SessionStore>;
  if (typeof append === 'function' && typeof events === 'function') return;
  const why =
    'must keep events: fullMemoryStore() of turncore/stores/memory does, memoryStore() does not';
  throw invalidValue('store', why);
}

/** @throws TurncoreError E_INVALID_VALUE for what has other members than options do, such as a store */
function requireOptions(options: unknown): void {
  if (!isData(options)) throw invalidValue('options', 'must be an object');
  const prototype: unknown = Object.getPrototypeOf(options);
  if (prototype !== Object.prototype && prototype !== null) {
    throw invalidValue('options', 'must be a plain object; a store goes into its member store');
  }
  const [unknown] = unknownNames(options, ['store', 'host']);
  if (unknown !== undefined) throw invalidValue(...unknown);
}

/** The names by which sessions are listed: those of a session's key will do. */
const LISTED = ['appName', 'userId', 'sessionId', 'createdAt', 'updatedAt'];

/** @throws TurncoreError E_INVALID_INVOCATION unless a value is a session that was read */
function requireSession(session: unknown): void {
  if (session instanceof Session) return;
  throw invalidMember('session', 'must be what createSession or getSession gave');
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
  /** The one that was used last. */
  #last: HeldSession | undefined;
  /** What was saved for handles. */
  readonly #artifacts = new WeakMap<Session, SessionArtifacts>();

  /** @throws TurncoreError E_INVALID_VALUE for a store that cannot keep sessions */
  constructor(options: SessionServiceOptions = {}) {
    requireOptions(options);
    const { store = fullMemoryStore(), host } = options;
    requireStore(store);
    this.store = store;
    this.host = sessionHost(host);
  }

  /**
   * Creates a session.
   *
   * @throws TurncoreError (rejects) E_SESSION_EXISTS; E_INVALID_STATE for a misspelled scope or an invalid value
   */
  async createSession(given: NewSession): Promise<Session> {
    requireKnown(given, 'session', ['appName', 'userId', 'sessionId', 'state']);
    const { clock, entropy } = this.host;
    const { appName, userId, state, sessionId = uuidv6(clock(), entropy(UUID_ENTROPY)) } = given;
    const key = { appName, userId, sessionId };
    const stored = storedId(key);
    if (state !== undefined && (!hasNames(state) || Symbol.iterator in state)) {
      throw invalidMember('state', 'must be an object', 'E_INVALID_STATE');
    }
    const args = await this.#ask(SessionMethod.NewSession, (enc) =>
      writeNewSessionArgs(enc, {
        app: appName,
        user: userId,
        id: CREATED,
        now: clock(),
        state: state === undefined ? null : writeState(state),
      }),
    );
    const append = appendOf(this.store, args!, NO_REVISION);
    await named(key, async () => {
      if ((await this.store.events(stored, { limit: 1 })).length > 0) throw exists(stored);
      if (append.state.length > 0) {
        const shared = await this.#state(key, stored, false);
        new StateSize(shared).change(args!, append.state, appName, 'state');
      }
      try {
        await this.store.append(stored, append);
      } catch (error) {
        if (isTurncoreError(error, 'E_SESSION_CONFLICT')) throw exists(stored);
        throw error;
      }
    });
    this.#forget(stored);
    return (await this.#read(key))!;
  }

  /**
   * A session; undefined if there is none.
   *
   * @param recent asks for the last events alone. What that costs depends on how many these are, and not on how many
   *   events the session has
   */
  async getSession(key: SessionKey, recent: RecentEvents = {}): Promise<Session | undefined> {
    requireKnown(recent, 'recent', ['last', 'since']);
    const { last, since } = recent;
    requireCount(last, 'last');
    if (since !== undefined && !Number.isFinite(since)) {
      throw invalidMember('since', 'must be a time in ms since the Unix epoch');
    }
    if (last !== undefined || since !== undefined) return this.#getRecent(key, last ?? 0, since);
    return this.#read(key);
  }

  #read(key: SessionKey): Awaitable<Session | undefined> {
    return after(this.load(key), (loaded) => {
      if (loaded === undefined) return undefined;
      const { held, count, state } = loaded;
      const found = { events: held.shown(count), revision: held.at(count - 1)!.revision };
      return new Session(key, state, found);
    });
  }

  async #getRecent(
    key: SessionKey,
    last: number,
    since: number | undefined,
  ): Promise<Session | undefined> {
    const stored = storedId(key);
    return named(key, async () => {
      const state = await this.#state(key, stored, true);
      const found = await recentEvents(this.store, stored, last, since);
      return found && new Session(key, state, found);
    });
  }

  /** The sessions of a user, those updated last first; of all users of the application without `userId`. */
  async listSessions(user: SessionsOf): Promise<SessionSummary[]> {
    const list: SessionSummary[] = [];
    for (let cursor: string | undefined; cursor !== '';) {
      const page: SummaryPage = await this.listPage(user, { cursor });
      list.push(...page.sessions);
      cursor = page.next;
    }
    return list;
  }

  /**
   * A page of the sessions of a user, or of all users of the application, those updated last first. How many sessions
   * others have does not matter to what it costs in a database.
   */
  async listPage(of: SessionsOf, options: Omit<PageOptions, 'prefix'> = {}): Promise<SummaryPage> {
    requireKnown(of, 'of', LISTED);
    requireKnown(options, 'options', ['cursor', 'limit']);
    const { cursor, limit } = options;
    requireCount(limit, 'limit');
    if (cursor !== undefined && typeof cursor !== 'string') {
      throw invalidMember('cursor', 'must be a string');
    }
    const page = await this.store.list({ prefix: prefixOf(of), cursor, limit });
    const sessions = page.sessions.flatMap(({ id, createdAt, updatedAt }) => {
      const key = sessionKeyOf(id);
      return key === undefined ? [] : [{ ...key, createdAt, updatedAt }];
    });
    return { sessions, next: page.next };
  }

  /** Deletes a session. What it shares stays. One that is not there is no error. */
  async deleteSession(key: SessionKey): Promise<void> {
    const stored = storedId(key);
    this.#forget(stored);
    await named(key, () => this.store.delete(stored));
  }

  #forget(stored: string): void {
    const held = this.#held.get(stored);
    if (held === undefined) return;
    held.forget();
    this.#held.delete(stored);
    if (held === this.#last) this.#last = undefined;
  }

  /**
   * Appends an event, with the changes of the state and the artifacts that its actions name, in one transaction. The
   * handle has them afterwards. A partial event changes nothing.
   *
   * @param event what JSON has of one will do: its bytes may be base64
   * @returns the event as it was stored
   * @throws TurncoreError (rejects) E_SESSION_CONFLICT if the store has events that the handle has not: then neither
   *   changes, and {@link retry} loads anew; E_INVALID_EVENT and E_INVALID_STATE, naming the field
   */
  async appendEvent(session: Session, event: EventData<GivenBytes>): Promise<Event> {
    requireSession(session);
    const { key } = session;
    const stored = storedId(key);
    const { clock, entropy } = this.host;
    const value = givenEvent(event);
    const args = await this.#ask(SessionMethod.Append, (enc) =>
      writeAppendEventArgs(enc, {
        app: key.appName,
        user: key.userId,
        id: uuidv6(clock(), entropy(UUID_ENTROPY)),
        now: clock(),
        event: writeMembers(value),
      }),
    );
    if (args === undefined) return revive(value);
    return named(key, async () => {
      const artifacts = this.#artifactsOf(session);
      const saved = artifacts.mark();
      try {
        const append = appendOf(this.store, args, session.revision, () => artifacts);
        const size = session.size.copy();
        size.change(args, append.state, key.appName, 'actions.stateDelta');
        const revision = await this.store.append(stored, append);
        return session.appended(args, revision, size);
      } catch (error) {
        artifacts.reset(saved);
        throw error;
      }
    });
  }

  /**
   * Puts the next version of an artifact of a session into the store, or of one of its user if the name begins with
   * `user:`. It is there when {@link appendEvent} has stored an event with the same handle whose `artifactDelta` has
   * it.
   *
   * @param part a text, or `inlineData`
   * @returns the number of the version, from 0
   */
  async saveArtifact(session: Session, name: string, part: Part): Promise<number> {
    requireSession(session);
    return named(session.key, () => this.#artifactsOf(session).save(name, part));
  }

  /** A version of an artifact of a session or of its user, by default the last one; undefined if there is none. */
  async loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined> {
    const artifacts = new SessionArtifacts(this.store, storedId(key), key);
    return named(key, () => artifacts.load(name, version));
  }

  /** The artifacts of a session and of its user: their last versions, by name. */
  async listArtifacts(key: SessionKey): Promise<Record<string, number>> {
    const artifacts = new SessionArtifacts(this.store, storedId(key), key);
    return named(key, () => artifacts.versions());
  }

  #artifactsOf(session: Session): SessionArtifacts {
    let artifacts = this.#artifacts.get(session);
    if (artifacts === undefined) {
      const { key } = session;
      artifacts = new SessionArtifacts(this.store, storedId(key), key);
      this.#artifacts.set(session, artifacts);
    }
    return artifacts;
  }

  /**
   * Runs a function with a session. When another writer has come first, it loads the session anew and runs the function
   * again. The conflict of an event whose id the session has already would come again: it rejects at once.
   *
   * @param attempts how often it runs at most. Default 16
   * @throws TurncoreError (rejects) E_SESSION_CONFLICT after the last attempt; what the function throws;
   *   E_SESSION_NOT_FOUND if the session was deleted; E_INVALID_INVOCATION, which names the argument
   */
  async retry<T>(
    session: Session,
    run: (session: Session) => T | PromiseLike<T>,
    attempts = 16,
  ): Promise<T> {
    requireSession(session);
    if (typeof run !== 'function') throw invalidMember('run', 'must be a function');
    requireCount(attempts, 'attempts');
    for (let current = session, left = attempts; ; left--) {
      try {
        return await run(current);
      } catch (error) {
        if (left <= 1 || !isTurncoreError(error, 'E_SESSION_CONFLICT') || isTaken(error)) {
          throw error;
        }
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
    requireKnown(key, 'key', LISTED);
    requireKnown(options, 'options', ['sessionId', 'upTo']);
    const { clock, entropy } = this.host;
    const { sessionId = uuidv6(clock(), entropy(UUID_ENTROPY)), upTo } = options;
    const to = { ...key, sessionId };
    const loaded = await this.load(key);
    if (loaded === undefined) throw notFound(key);
    await named(key, () =>
      named(to, async () => {
        if (upTo === undefined) await this.store.fork(loaded.stored, storedId(to));
        else await this.#forkUpTo(loaded, to, upTo);
      }),
    );
    return (await this.getSession(to))!;
  }

  async #forkUpTo(
    { held, count, stored }: LoadedSession,
    to: SessionKey,
    upTo: string,
  ): Promise<void> {
    let last = count - 1;
    while (last > 0 && held.at(last)!.id !== upTo) last--;
    if (last === 0) {
      throw invocationError('E_INVALID_EVENT', `upTo: the session has no event ${upTo}`, {
        details: { field: 'upTo' },
      });
    }
    const own = new Map<string, unknown>();
    const artifacts = new Map<string, number>();
    for (let i = 0; i <= last; i++) {
      const { stateDelta, artifactDelta } = held.at(i)!.event.actions;
      for (const [name, value] of Object.entries(stateDelta)) {
        // What sessions share has these changes already.
        if (/^(?:app|user):/u.test(name)) continue;
        if (value === null) own.delete(name);
        else own.set(name, value);
      }
      for (const [name, version] of Object.entries(artifactDelta)) {
        if (!name.startsWith('user:')) artifacts.set(name, version + 1);
      }
    }
    const state = [...own].map(([name, value]) => ({ scope: '', name, value: encoded(value)! }));
    const { revision } = held.at(last)!;
    const at = { revision, state, artifacts: Object.fromEntries(artifacts) };
    await this.store.forkAt(stored, storedId(to), at);
  }

  /** @internal Reads a session; undefined if there is none. Waits only if the store does. */
  load(key: SessionKey): Awaitable<LoadedSession | undefined> {
    const stored = storedId(key);
    return named(key, () =>
      after(
        all<[HeldSession, EncodedState]>(
          () => this.#hold(stored),
          () => this.#state(key, stored, true),
        ),
        ([held, state]) => {
          const count = held.length;
          return count === 0 ? undefined : { stored, held, count, state };
        },
      ),
    );
  }

  /** The values of a session: those that it shares, and its own. */
  #state({ appName, userId }: SessionKey, stored: string, own: boolean): Awaitable<EncodedState> {
    const scopes = [appScope(appName), userScope(appName, userId)];
    if (own) scopes.push('');
    const values = all<StateValue[][]>(
      ...scopes.map((scope) => () => this.store.state(stored, scope)),
    );
    return after(values, (lists) =>
      lists
        .flat()
        .map(({ scope, name, value }) => [scopedName(appName, scope, name), value] as const),
    );
  }

  #hold(stored: string): Awaitable<HeldSession> {
    const held = this.#held.get(stored) ?? new HeldSession();
    return after(held.refresh(this.store, stored), (same) => {
      if (same) return this.#keep(stored, held);
      held.forget();
      const again = new HeldSession();
      return after(again.refresh(this.store, stored), () => this.#keep(stored, again));
    });
  }

  #keep(stored: string, held: HeldSession): HeldSession {
    if (held === this.#last) return held;
    this.#held.delete(stored);
    if (held.length === 0) return held;
    this.#held.set(stored, held);
    this.#last = held;
    if (this.#held.size > MOST_HELD) this.#forget(this.#held.keys().next().value!);
    return held;
  }

  /** Asks the module what to append; undefined for nothing. */
  #ask(method: number, args: Write): Awaitable<AppendArgs | undefined> {
    return after(sessionCore(this.host), (core) => {
      let value: unknown;
      try {
        value = core.ask((enc, call) =>
          writeMethod(enc, { turn: 0, call, elapsed: 0, context: 0, method, args }),
        );
      } catch (error) {
        throw described(error);
      }
      return value === null ? undefined : toAppendArgs(value);
    });
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

/**
 * What one transaction appends.
 *
 * @param revision that the writer has seen
 * @param saved the artifacts that the event may name
 * @throws TurncoreError E_INVALID_EVENT for an artifact that nobody has saved
 */
export function appendOf(
  store: SessionStore,
  { event, state, artifacts }: AppendArgs,
  revision: string | undefined,
  saved?: () => SessionArtifacts,
): Append & {
  readonly event: { readonly id: string; readonly body: Uint8Array };
  readonly state: readonly StateChange[];
} {
  const copy = copiesAtOnce in store ? pooled : sliced;
  return {
    event: { id: (event as EventData).id!, body: bodyOf(event, copy) },
    state: state.map(({ scope, name, value }) => ({ scope, name, value: encoded(value) })),
    artifacts: artifacts.flatMap(({ scope, name, version }) => {
      if (saved === undefined) throw unsaved(scope, name, version);
      return saved().take(scope, name, version);
    }),
    revision,
  };
}

function sliced(bytes: Uint8Array): Uint8Array {
  return bytes.slice();
}

/** E_SESSION_EXISTS. */
function exists(session: string): Error {
  return storeError('E_SESSION_EXISTS', JSON.stringify(session), { details: { session } });
}

/** Calls what uses the store: its errors name the session as its user knows it. */
export function named<T>(key: SessionKey, run: () => Awaitable<T>): Awaitable<T> {
  const fail = (error: unknown): never => {
    throw inSession(error, key);
  };
  try {
    const value = run();
    return isThenable(value) ? Promise.resolve(value).catch(fail) : value;
  } catch (error) {
    return fail(error);
  }
}

/** An error of a store which names a session as its user knows it. */
export function inSession(error: unknown, key: SessionKey): unknown {
  if (!isTurncoreError(error) || !Object.hasOwn(ALL_STORE_CODES, error.code)) return error;
  const details = error.details as { readonly session?: unknown } | undefined;
  const stored = storedId(key);
  if (details?.session !== stored) return error;
  const { sessionId: session, userId: user } = key;
  const message = error.message.replace(JSON.stringify(stored), () => JSON.stringify(session));
  const info = ALL_STORE_CODES[error.code as StoreErrorCode];
  const named = { details: { ...details, session, user }, info };
  return new TurncoreError(error.code, message, {
    ...named,
    ...('cause' in error && { cause: error.cause }),
  });
}

/** Whether a conflict is that of an event whose id the session has. */
function isTaken({ details }: TurncoreError): boolean {
  return (details as { readonly kind?: unknown } | undefined)?.kind === 'event';
}

/** E_SESSION_NOT_FOUND. */
export function notFound({ userId, sessionId }: SessionKey): Error {
  const who = `user ${JSON.stringify(userId)}, session ${JSON.stringify(sessionId)}`;
  return storeError('E_SESSION_NOT_FOUND', who, { details: { user: userId, session: sessionId } });
}

/** The host for an option: sessions need the full module. */
function sessionHost(given: Host | HostOptions | undefined): Host {
  if (given instanceof Host) return given;
  if (given === undefined || given === null) return sharedHost(fullModule());
  if (!isData(given)) throw invalidValue('host', 'must be a Host or options of one');
  return new Host({ ...given, module: given.module ?? fullModule() });
}

/** The core of an instance with sessions. @throws TurncoreError (or rejects) E_INVALID_MODULE if the module has none */
export function sessionCore(host: Host): Awaitable<Core> {
  return after(host.ready() ?? host.acquire(), (core) => {
    if ((core.instance.features & Feature.Sessions) !== 0) return core;
    throw TurncoreError.of('E_INVALID_MODULE', 'it has no sessions: load the full module');
  });
}

/** An error of the module with the description of its code. */
function described(error: unknown): unknown {
  if (!isTurncoreError(error) || !Object.hasOwn(SESSION_CODES, error.code)) return error;
  const info = SESSION_CODES[error.code as SessionErrorCode];
  return new TurncoreError(error.code, error.message, { details: error.details, info });
}
