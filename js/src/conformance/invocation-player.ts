/**
 * Plays scenarios of invocations.
 */
import { canonicalJSON } from '../codec/canonical-json.js';
import { type Entropy, FIXED_INSTANT, seededEntropy } from '../entries/host.js';
import {
  type Event,
  type EventData,
  Runner,
  type Session,
  type SessionKey,
  SessionService,
} from '../entries/sessions.js';
import { Host, type HostOptions } from '../index.js';
import { storedId } from '../invocations/keys.js';
import { notFound } from '../invocations/session-service.js';
import { Cast, type InvocationStage } from './invocation-agents.js';
import { brief, described, Lines, MAIN, plain, plainEvent } from './invocation-lines.js';
import {
  type InvocationScenario,
  type InvocationStep,
  type Target,
  together,
} from './invocation-scenario.js';
import { keeper } from './invocation-store.js';
import { type Log, logText } from './line.js';
import { marksOf } from './marks.js';
import { Malformed } from './scenario.js';

/** What scenarios of invocations are played on. */
export interface InvocationPlayerOptions {
  /** The host's options; its clock and entropy are the player's. */
  readonly host?: HostOptions | undefined;
}

/**
 * Plays scenarios of invocations, one after the other, on one host, each with a store in memory of its own. The clock
 * stands still at FIXED_INSTANT, and entropy is that of `seededEntropy(1)`, afresh for each scenario.
 */
export class InvocationPlayer {
  readonly #host: Host;
  #entropy: Entropy = seededEntropy(1);

  constructor({ host }: InvocationPlayerOptions = {}) {
    this.#host = new Host({
      ...host,
      clock: () => FIXED_INSTANT,
      entropy: (size) => this.#entropy(size),
    });
  }

  /**
   * Plays a scenario and returns what was written to its log.
   *
   * @throws Malformed (rejects) when the scenario makes no sense
   */
  async play(scenario: InvocationScenario): Promise<Log> {
    this.#entropy = seededEntropy(1);
    // Other languages have no order of members but that of their names.
    const ordered = JSON.parse(canonicalJSON(scenario)) as InvocationScenario;
    const play = new Play(ordered, this.#host);
    await play.main();
    return play.lines.log(together(scenario), scenario.fault !== undefined);
  }
}

/** @throws Error unless the log has the marks of the scenario */
export function checkInvocation(scenario: InvocationScenario, log: Log): void {
  const want = scenario.marks?.split(' ') ?? [];
  const got = marksOf(log);
  if (scenario.marks === undefined || want.join() === got.join()) return;
  const at = got.findIndex((mark, i) => mark !== want[i]);
  throw new Error(`${scenario.id}: line ${at} is another one than its mark says\n${logText(log)}`);
}

/** A scenario that is played. */
class Play implements InvocationStage {
  readonly scenario: InvocationScenario;
  readonly lines = new Lines();
  readonly #service: SessionService;
  readonly #runner: Runner;
  /** Ids of the runs' invocations. */
  readonly #invocations: string[] = [];
  #delivered = 0;
  #controller = new AbortController();

  constructor(scenario: InvocationScenario, host: Host) {
    this.scenario = scenario;
    const store = keeper(this.lines, scenario.fault ?? {});
    this.#service = new SessionService({ store, host });
    const cast = new Cast(this);
    const bounds = scenario.main.flatMap(({ run }) => run?.maxModelCalls ?? []);
    this.#runner = new Runner({
      appName: 'app',
      agent: cast.agent(scenario.agents[0]!.name),
      plugins: cast.plugins(),
      compaction: cast.compaction(),
      sessionService: this.#service,
      maxModelCalls: bounds.length === 0 ? undefined : Math.max(...bounds),
    });
  }

  async main(): Promise<void> {
    const { main } = this.scenario;
    if (!main.some(({ create }) => create !== undefined)) await this.#step({ create: {} });
    for (const step of main) await this.#step(step);
    if (main.at(-1)!.load === undefined) await this.#load(MAIN, {});
  }

  load(by: string): Promise<void> {
    return this.#load(by, {});
  }

  abort(): void {
    this.#controller.abort();
  }

  async #step(step: InvocationStep): Promise<void> {
    const { create, run, rewind, append, load, fork, two } = step;
    if (create !== undefined) {
      const { state } = create;
      await this.#do('create', () => this.#service.createSession({ ...keyOf(create), state }));
    } else if (load !== undefined) await this.#load(MAIN, load);
    else if (run !== undefined) await this.#run(run);
    else if (rewind !== undefined) await this.#do('rewind', () => this.#rewind(rewind));
    else if (append !== undefined) await this.#do('append', () => this.#append(append));
    else if (step.delete !== undefined) {
      const key = keyOf(step.delete);
      await this.#do('delete', () => this.#service.deleteSession(key));
    } else if (fork !== undefined) await this.#do('fork', () => this.#fork(fork));
    else await this.#two(two ?? []);
  }

  async #do(what: string, run: () => Promise<unknown>): Promise<void> {
    let failure: { error: unknown } | undefined;
    try {
      await run();
    } catch (error) {
      failure = { error };
    }
    this.lines.did(what, failure);
  }

  async #session(target: Target): Promise<Session> {
    const key = keyOf(target);
    const session = await this.#service.getSession(key);
    if (session !== undefined) return session;
    // The function gives undefined, where that of other hosts fails.
    throw notFound(key);
  }

  /** Writes what a session has. */
  async #load(by: string, target: Target): Promise<void> {
    let session: Session;
    try {
      session = await this.#session(target);
    } catch (error) {
      this.lines.write(by, { did: 'load', threw: described(error) });
      return;
    }
    const { events, state } = session;
    this.lines.write(by, {
      stored: events.map(brief),
      ids: events.map((event) => event.id),
      state,
      session: storedId(session.key),
    });
  }

  async #rewind(target: Target): Promise<void> {
    const { before = 0, id = this.#invocations[before - 1] } = target;
    if (id === undefined) throw new Malformed(`there is no run ${before}`);
    const { userId, sessionId } = keyOf(target);
    const event = await this.#runner.rewind({ userId, sessionId, rewindBeforeInvocationId: id });
    this.#event(event);
  }

  async #append(target: Target): Promise<void> {
    const session = await this.#session(target);
    const given = plain(target.event) as EventData;
    try {
      await this.#service.appendEvent(session, given);
    } finally {
      if (target.change === true) change(given);
      this.lines.write(MAIN, { handle: session.state });
    }
  }

  async #fork(target: Target): Promise<void> {
    const { to = '', upTo = 0 } = target;
    const options: { sessionId: string; upTo?: string } = { sessionId: to };
    if (upTo > 0) {
      const last = (await this.#session(target)).events[upTo - 1];
      if (last === undefined) throw new Error('there is no such event');
      options.upTo = last.id;
    }
    await this.#service.forkSession(keyOf(target), options);
  }

  /** Appends events by handles that have seen the same revision. */
  async #two(events: readonly EventData[]): Promise<void> {
    const handles: Session[] = [];
    try {
      for (const _ of events) handles.push(await this.#session({}));
    } catch (error) {
      this.lines.did('append', { error });
      return;
    }
    for (const [i, event] of events.entries()) {
      const handle = handles[i]!;
      await this.#do('append', async () => {
        try {
          await this.#service.appendEvent(handle, event);
        } finally {
          this.lines.write(MAIN, { handle: handle.state });
        }
      });
    }
  }

  async #run(target: Target): Promise<void> {
    const { message, stopAfter, load } = target;
    const { userId, sessionId } = keyOf(target);
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    let n = 0;
    let first = '';
    let left = false;
    let failure: { error: unknown } | undefined;
    try {
      const input = { userId, sessionId, newMessage: message, signal };
      for await (const event of this.#runner.runAsync(input)) {
        n++;
        this.#delivered++;
        if (first === '') first = event.invocationId;
        this.#event(event);
        if (load === true && event.partial !== true) await this.#load(MAIN, target);
        left = n === stopAfter || this.#delivered === this.scenario.fault?.leaves;
        if (left) break;
      }
    } catch (error) {
      failure = { error };
    }
    this.#invocations.push(first);
    if (left) this.lines.write(MAIN, { did: 'run', left });
    else this.lines.did('run', failure);
  }

  #event(event: Event): void {
    this.lines.write(MAIN, { event: plainEvent(event), final: event.isFinalResponse() });
  }
}

function keyOf({ user = 'u', session = 's' }: Target): SessionKey {
  return { appName: 'app', userId: user, sessionId: session };
}

/** Changes what is in an event. */
function change({ actions, content }: EventData): void {
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const members = value as Record<string, unknown>;
    for (const name of Object.keys(members)) {
      walk(members[name]);
      members[name] = 'changed';
    }
  };
  walk(actions?.stateDelta);
  for (const part of content?.parts ?? []) Object.assign(part, { text: 'changed' });
}
