/**
 * What the tests of sessions share.
 */
import { isTurncoreError } from '../errors.js';
import type { Host } from '../host/host.js';
import { BaseAgent } from '../invocations/agents.js';
import { textOf } from '../invocations/content.js';
import type { InvocationContext } from '../invocations/contexts.js';
import type { ActionsData, Event, EventData } from '../invocations/event.js';
import type { SessionKey } from '../invocations/keys.js';
import { Runner } from '../invocations/runner.js';
import { SessionService } from '../invocations/session-service.js';
import type { SessionStore } from '../invocations/session-store.js';
import type { Session } from '../invocations/session.js';
import type { State } from '../invocations/state.js';
import { equal, failureOf, type Opened } from '../storetest/opened.js';
import { Watched } from './watched.js';

/** A test. */
export type Run = (place: Place) => Promise<void>;

/** Whose sessions most tests have. */
export const WHO = { appName: 'app', userId: 'ada' };
/** The session of most tests. */
export const KEY = { ...WHO, sessionId: 's' };

/** Events that an agent yields. */
export type Script = (ctx: InvocationContext) => AsyncGenerator<EventData, void, Event>;

/** An agent that yields what a test says. */
class Scripted extends BaseAgent {
  run: Script | undefined;

  override async *runAsyncImpl(ctx: InvocationContext): AsyncGenerator<EventData, void, Event> {
    if (this.run !== undefined) yield* this.run(ctx);
  }
}

/** A store, and a service on it. */
export class Place {
  readonly opened: Opened;
  readonly host: Host | undefined;
  readonly watched: Watched;
  readonly service: SessionService;
  readonly runner: Runner;
  readonly #agent = new Scripted({ name: 'agent' });

  private constructor(opened: Opened, store: SessionStore, host: Host | undefined) {
    this.opened = opened;
    this.host = host;
    this.watched = new Watched(store);
    this.service = new SessionService({ store: this.watched.store, host });
    this.runner = this.runnerOn(this.service);
  }

  static async open(opened: Opened, host: Host | undefined): Promise<Place> {
    return new Place(opened, await opened.appender(), host);
  }

  /** What the agent yields. */
  set agent(run: Script) {
    this.#agent.run = run;
  }

  runnerOn(sessionService: SessionService, whenBusy?: 'queue' | 'refuse'): Runner {
    const agent = new Scripted({ name: 'agent' });
    agent.run = (ctx) => this.#agent.run!(ctx);
    return new Runner({ appName: WHO.appName, agent, sessionService, host: this.host, whenBusy });
  }

  /** A service that has read nothing, on the store as another process has it. */
  async another(): Promise<SessionService> {
    const { opened, watched, host } = this;
    const again = opened.maker.again !== undefined;
    const store = again ? ((await opened.again(watched.inner)) as SessionStore) : watched.inner;
    return new SessionService({ store, host });
  }

  /** A service on the store that does not count: a process may know the store by its identity. */
  plain(): SessionService {
    return new SessionService({ store: this.watched.inner, host: this.host });
  }

  async create(state: State = {}, sessionId = KEY.sessionId): Promise<Session> {
    return this.service.createSession({ ...WHO, sessionId, state });
  }

  /** A session as a service has it that knows nothing of it. */
  async get(sessionId = KEY.sessionId): Promise<Session> {
    return loaded(await this.another(), { ...WHO, sessionId });
  }

  append(session: Session, event: EventData): Promise<Event> {
    return this.service.appendEvent(session, event);
  }

  /** Appends an event that must not be stored: neither the store nor the handle changes. Returns the details of the error. */
  async refused(
    session: Session,
    event: EventData,
    code: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const [before, handle] = [shown(await this.get(session.id)), shown(session)];
    const details = await fails(() => this.append(session, event), code);
    equal(shown(await this.get(session.id)), before, 'the store after a refused append');
    equal(shown(session), handle, 'the handle after a refused append');
    return details;
  }

  /** Answers a message with the agent. */
  run(newMessage = 'hello'): Promise<Event[]> {
    return this.runner.run({ userId: WHO.userId, sessionId: KEY.sessionId, newMessage });
  }

  /** Answers a message with the agent, as the events come. */
  runAsync(newMessage = 'hello'): AsyncGenerator<Event, void, undefined> {
    return this.runner.runAsync({ userId: WHO.userId, sessionId: KEY.sessionId, newMessage });
  }
}

/** @throws Error if there is no session */
export async function loaded(service: SessionService, key: SessionKey): Promise<Session> {
  const session = await service.getSession(key);
  if (session === undefined) throw new Error(`there is no session ${key.sessionId}`);
  return session;
}

/** Calls what must fail with a code. Returns the details of the error. */
export async function fails(
  call: () => unknown,
  code: string,
): Promise<Readonly<Record<string, unknown>>> {
  const error = await failureOf(call);
  if (!isTurncoreError(error, code)) throw new Error(`${String(error)} instead of ${code}`);
  return (error.details ?? {}) as Readonly<Record<string, unknown>>;
}

/** A session: its events as words, its revision and its state. */
export function shown(session: Session): unknown {
  return [words(session.events), session.revision, sorted(session.state)];
}

/** A state in the order of its names. */
export function sorted(state: State): [name: string, value: unknown][] {
  return Object.entries(state).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Author and text of events. */
export function words(events: readonly Event[]): string {
  return events.map(({ author, content }) => `${author}:${textOf(content)}`).join(' ');
}

/** An event of the host with a text. */
export function said(text: string, actions: ActionsData = {}): EventData {
  return { author: 'host', content: { role: 'model', parts: [{ text }] }, actions };
}

/** An event of the host that changes the state. */
export function changed(stateDelta: Readonly<Record<string, unknown>>): EventData {
  return { author: 'host', actions: { stateDelta } };
}
