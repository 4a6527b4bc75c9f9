/**
 * Runs agents in sessions.
 */
import { type Awaitable, isThenable } from '../awaitable.js';
import { uuidv6, UUID_ENTROPY } from '../entropy.js';
import type { Host, HostOptions } from '../host/host.js';
import { invocationError } from '../session-errors.js';
import type { BaseAgent } from './agents.js';
import { checkRunner } from './checks.js';
import { type Compaction, compactionOption } from './compaction.js';
import { type Content, contentOf, type GivenBytes } from './content.js';
import type { Event } from './event.js';
import { Invocation } from './invocation.js';
import { type SessionKey, storedId } from './keys.js';
import { type Events, leavable, type Leaving } from './leaving.js';
import { enter, type Place } from './queue.js';
import { invalidMember, isData, requireKnown } from './names.js';
import type { Plugin } from './plugin.js';
import { named, notFound, SessionService, sessionCore } from './session-service.js';
import type { SessionStore } from './session-store.js';
import { Team } from './team.js';
import { after } from './waiting.js';

/** What a {@link Runner} is configured with. */
export interface RunnerConfig {
  /** Name of the application, to which sessions and state belong. */
  readonly appName: string;
  /** The agent that answers first, with those below it. */
  readonly agent: BaseAgent;
  /** Keeps the sessions. Default: one of its own, with the store. */
  readonly sessionService?: SessionService | undefined;
  /** Where sessions are kept, for a runner without `sessionService`. Default: in memory. */
  readonly store?: SessionStore | undefined;
  /** Code around all agents, in order. */
  readonly plugins?: readonly Plugin[] | undefined;
  /** The most model calls of an invocation, whichever agents make them. Default 500. */
  readonly maxModelCalls?: number | undefined;
  /**
   * What becomes of an invocation while another one of its session runs in the process, by whichever runners with the
   * store: `queue` (default) has it wait, `refuse` fails it with E_SESSION_BUSY before any event. Where an invocation
   * ends with its request, as in Workers, requests are kept apart by E_SESSION_CONFLICT, as processes are.
   */
  readonly whenBusy?: 'queue' | 'refuse' | undefined;
  /** Sums up long sessions. Default: never. */
  readonly compaction?: Compaction | undefined;
  /** Options of the host that runs the module; or a Host, to share an instance. Default: that of the service. */
  readonly host?: Host | HostOptions | undefined;
}

/** What an invocation answers. */
export interface RunInput {
  /** The application of the runner. Another one is refused. */
  readonly appName?: string | undefined;
  readonly userId: string;
  readonly sessionId: string;
  /**
   * What the user says; or the answers to function calls that wait for one. Bytes may be base64, as JSON has them. A
   * run without it takes up the calls of an event that were confirmed and have no result, or lets the agent go on if
   * there are none.
   */
  readonly newMessage?: string | Content<GivenBytes> | undefined;
  /** Aborts the invocation. */
  readonly signal?: AbortSignal | undefined;
}

/** The members of an input; what lists tell of a session may be among them. */
const INPUT = ['appName', 'userId', 'sessionId', 'newMessage', 'signal', 'createdAt', 'updatedAt'];

/** @throws TurncoreError E_INVALID_INVOCATION, which names the member */
function checkInput(input: RunInput, appName: string): void {
  requireKnown(input, 'input', INPUT);
  const { appName: given = appName, newMessage, signal } = input;
  if (given !== appName) throw invalidMember('appName', `the runner is of ${appName}`);
  if (newMessage !== undefined && typeof newMessage !== 'string' && !isData(newMessage)) {
    throw invalidMember('message', 'must be a text or a content');
  }
  const heard: unknown = signal ?? undefined;
  if (heard !== undefined && typeof (heard as AbortSignal).addEventListener !== 'function') {
    throw invalidMember('signal', 'must be an AbortSignal');
  }
}

/** Waits for a place in the queue of a session. It is undefined, and given up, if the caller leaves meanwhile. */
async function unlessLeft(
  entering: PromiseLike<Place>,
  leaving: Leaving,
): Promise<Place | undefined> {
  let left = false;
  const gone = new Promise<undefined>((resolve) => {
    leaving.leave = () => {
      left = true;
      resolve(undefined);
    };
  });
  const place = await Promise.race([entering, gone]);
  leaving.leave = undefined;
  if (!left) return place;
  entering.then(
    (late) => late.leave(),
    () => undefined,
  );
  return undefined;
}

/** Bytes of entropy for an invocation. */
const SEED = 16;

/** Runs agents in sessions: each message is answered by an invocation. */
export class Runner {
  readonly appName: string;
  readonly agent: BaseAgent;
  readonly sessionService: SessionService;
  readonly #team: Team;
  readonly #host: Host;
  readonly #options: Readonly<Record<string, unknown>>;
  readonly #refuse: boolean;

  /** @throws TurncoreError E_INVALID_AGENT, whose message lists what is wrong with the agents and the other options */
  constructor(config: RunnerConfig) {
    checkRunner(config);
    const {
      appName,
      agent,
      sessionService,
      store,
      plugins,
      host,
      maxModelCalls,
      whenBusy = 'queue',
    } = config;
    const compaction = config.compaction ?? undefined;
    if (!['queue', 'refuse'].includes(whenBusy)) {
      throw invocationError('E_INVALID_AGENT', 'whenBusy: must be "queue" or "refuse"', {
        details: { field: 'whenBusy' },
      });
    }
    if (maxModelCalls !== undefined && !(Number.isInteger(maxModelCalls) && maxModelCalls > 0)) {
      throw invocationError('E_INVALID_AGENT', 'maxModelCalls: must be an integer from 1 on', {
        details: { field: 'maxModelCalls' },
      });
    }
    this.#refuse = whenBusy === 'refuse';
    this.appName = appName;
    this.agent = agent;
    const service = sessionService ?? new SessionService({ store, host });
    this.sessionService = service;
    this.#team = new Team(appName, agent, plugins ?? [], compaction);
    const own = sessionService === undefined || host === undefined;
    const base = own ? service.host : new SessionService({ store: service.store, host }).host;
    const { credentials } = this.#team;
    this.#host = Object.keys(credentials).length === 0 ? base : base.withCredentials(credentials);
    this.#options = {
      ...(maxModelCalls !== undefined && { maxModelCalls }),
      ...(compaction !== undefined && { compaction: compactionOption(compaction) }),
    };
  }

  /**
   * Answers a message and gives the events as they come. An event that is not partial is stored before it is given, and
   * its agent goes on when the next one is asked for.
   *
   * Another invocation of the session in the process goes first: see {@link RunnerConfig.whenBusy}. So a loop over an
   * invocation's events must not wait for another one of the session.
   *
   * Leaving the loop ends the invocation: agents clean up, plugins are told, and then the loop is left. `return()`
   * while an event is awaited has the signals of all running code fire, too.
   *
   * @throws TurncoreError E_SESSION_NOT_FOUND; E_SESSION_CONFLICT if somebody else has written to the session;
   *   E_SESSION_BUSY; what an agent or a model throws; the reason of an abort
   */
  runAsync(input: RunInput): AsyncGenerator<Event, void, undefined> {
    return leavable((leaving) => this.#run(input, this.#options, leaving));
  }

  /** Answers a message and resolves to all events. @throws (rejects) what {@link runAsync} throws */
  async run(input: RunInput): Promise<Event[]> {
    const events: Event[] = [];
    for await (const event of this.runAsync(input)) events.push(event);
    return events;
  }

  /**
   * Takes a session back to what it was before an invocation: its state, initial values too, but not what it shares.
   * The invocation and what came behind it stay in the session, and models see them no more.
   *
   * @returns the event that says so
   * @throws TurncoreError (rejects) E_INVOCATION_NOT_FOUND, E_SESSION_NOT_FOUND, E_SESSION_CONFLICT;
   *   E_INVALID_INVOCATION without the id of an invocation
   */
  async rewind(
    input: Omit<RunInput, 'newMessage'> & { readonly rewindBeforeInvocationId: string },
  ): Promise<Event> {
    requireKnown(input, 'input', [...INPUT, 'rewindBeforeInvocationId']);
    const { rewindBeforeInvocationId, ...who } = input;
    if (typeof rewindBeforeInvocationId !== 'string') {
      throw invalidMember('rewindBeforeInvocationId', 'must be a string');
    }
    const options = { ...this.#options, rewindBeforeInvocationId };
    let last: Event | undefined;
    const events = leavable((leaving) => this.#run(who, options, leaving));
    for await (const event of events) last = event;
    return last!;
  }

  async *#run(
    input: RunInput,
    options: Readonly<Record<string, unknown>>,
    leaving: Leaving,
  ): Events {
    checkInput(input, this.appName);
    const { userId, sessionId, newMessage } = input;
    const signal = input.signal ?? undefined; // null is none, as for fetch
    const message = newMessage === undefined ? undefined : contentOf(newMessage, 'user');
    const key = { appName: this.appName, userId, sessionId };
    // Without the caller's signal nothing aborts an invocation.
    const controller = signal && new AbortController();
    const abort = (): void => controller?.abort(signal?.reason);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    let place: Place | undefined;
    let invocation: Invocation | undefined;
    try {
      const { store } = this.sessionService;
      const inner = controller?.signal;
      const entering = named(key, () => enter(store, storedId(key), this.#refuse, signal, inner));
      place = isThenable(entering) ? await unlessLeft(entering, leaving) : entering;
      if (place === undefined) return;
      invocation = await this.#start(key, message, options, controller);
      place.runs(invocation);
      for (;;) {
        leaving.leave = invocation.leave;
        const event = await invocation.next();
        leaving.leave = undefined;
        if (event === undefined) break;
        yield event;
      }
      await invocation.recorder?.close();
    } finally {
      signal?.removeEventListener('abort', abort);
      try {
        await invocation?.stop();
      } finally {
        place?.leave();
      }
    }
  }

  #start(
    key: SessionKey,
    message: Content | undefined,
    options: Readonly<Record<string, unknown>>,
    controller: AbortController | undefined,
  ): Awaitable<Invocation> {
    const host = this.#host;
    const { sessionService } = this;
    return after(sessionCore(host), (core) =>
      after(sessionService.load(key), (loaded) => {
        if (loaded === undefined) throw notFound(key);
        const id = uuidv6(host.clock(), host.entropy(UUID_ENTROPY));
        return after(core.alive ? core : sessionCore(host), (alive) =>
          Invocation.start(alive, host.entropy(SEED), {
            id,
            team: this.#team,
            store: sessionService.store,
            key,
            loaded,
            http: host.http,
            message,
            options,
            controller,
            record: (running, number) => host.recorder(id, running, number),
          }),
        );
      }),
    );
  }
}
