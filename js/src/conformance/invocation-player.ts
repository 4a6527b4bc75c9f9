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
import { fullMemoryStore } from '../entries/memory.js';
import { Host, type HostOptions } from '../index.js';
import { storedId } from '../invocations/keys.js';
import { notFound } from '../invocations/session-service.js';
import { Cast, Counts, type InvocationStage } from './invocation-agents.js';
import { brief, described, Lines, MAIN, plainEvent } from './invocation-lines.js';
import { odd, oddEvent } from './invocation-odd.js';
import {
  type InvocationScenario,
  type InvocationStep,
  type Target,
  together,
} from './invocation-scenario.js';
import { type Kept, keeper } from './invocation-store.js';
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
  readonly #options: HostOptions;
  readonly #host: Host;
  #entropy: Entropy = seededEntropy(1);

  constructor({ host }: InvocationPlayerOptions = {}) {
    this.#options = {
      ...host,
      clock: () => FIXED_INSTANT,
      entropy: (size) => this.#entropy(size),
    };
    this.#host = new Host(this.#options);
  }

  /** Makes the host of another process, with entropy of its own. */
  #another(): Host {
    this.#entropy = seededEntropy(2);
    return new Host(this.#options);
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
    const play = new Play(ordered, this.#host, () => this.#another());
    await play.main();
    const log = play.lines.log(together(scenario), scenario.fault !== undefined);
    await play.end();
    return log;
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
  readonly #kept: Kept;
  readonly #another: () => Host;
  #service: SessionService;
  #runner: Runner;
  /** Ids of the runs' invocations. */
  readonly #invocations: string[] = [];
  #delivered = 0;
  #controller = new AbortController();
  /** Settles when the process is gone. */
  readonly #gone = deferred();
  /** Settles when the scenario is over: what the process that is gone has begun may end. */
  readonly #over = deferred();
  /** What it has begun, and its host. */
  #left: { readonly run: Promise<void>; host?: Host } | undefined;
  /** Of models, tools, hooks and scripts, over all processes. */
  readonly #counts = new Counts();

  constructor(scenario: InvocationScenario, host: Host, another: () => Host) {
    this.scenario = scenario;
    this.#another = another;
    const { lines } = this;
    this.#kept = {
      store: fullMemoryStore(),
      lines,
      fault: scenario.fault ?? {},
      appends: 0,
      vanish: () => this.#vanish(),
    };
    [this.#service, this.#runner] = this.#open(host);
  }

  /** The services of a process. */
  #open(host: Host): [SessionService, Runner] {
    const { scenario } = this;
    const service = new SessionService({ store: keeper(this.#kept), host });
    const cast = new Cast(this, this.#counts);
    const bounds = scenario.main.flatMap(({ run }) => run?.maxModelCalls ?? []);
    const runner = new Runner({
      appName: 'app',
      agent: cast.agent(scenario.agents[0]!.name),
      plugins: cast.plugins(),
      compaction: cast.compaction(),
      sessionService: service,
      maxModelCalls: bounds.length === 0 ? undefined : Math.max(...bounds),
    });
    return [service, runner];
  }

  /** Ends the process: it does nothing until the scenario is over. */
  #vanish(): Promise<void> {
    this.#gone.resolve();
    return this.#over.promise;
  }

  /** Lets what is left end. */
  async end(): Promise<void> {
    this.#over.resolve();
    await this.#left?.run;
  }

  async main(): Promise<void> {
    const { main } = this.scenario;
    if (!main.some(({ create }) => create !== undefined)) await this.#step({ create: {} });
    for (const step of main) {
      await this.#step(step);
      if (this.#left === undefined || this.#left.host !== undefined) continue;
      this.#left.host = this.#another();
      [this.#service, this.#runner] = this.#open(this.#left.host);
    }
    if (main.at(-1)!.load === undefined) await this.#load(MAIN, {});
  }

  load(by: string): Promise<void> {
    return this.#load(by, {});
  }

  abort(): void {
    this.#controller.abort();
  }

  async #step(step: InvocationStep): Promise<void> {
    const { create, run, rewind, append, retry, load, fork, two } = step;
    if (create !== undefined) {
      const state = odd(create.state) as Target['state'];
      await this.#do('create', () => this.#service.createSession({ ...keyOf(create), state }));
    } else if (load !== undefined) await this.#load(MAIN, load);
    else if (run !== undefined) await this.#run(run);
    else if (rewind !== undefined) await this.#do('rewind', () => this.#rewind(rewind));
    else if (append !== undefined) await this.#do('append', () => this.#append(append));
    else if (retry !== undefined) await this.#do('retry', () => this.#retry(retry));
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
    const given = oddEvent(target.event!);
    try {
      await this.#service.appendEvent(session, given);
    } finally {
      if (target.change === true) change(given);
      this.lines.write(MAIN, { handle: session.state });
    }
  }

  /** Appends an event, to the session as somebody else has left it. */
  async #retry(target: Target): Promise<void> {
    const { event, others = 0 } = target;
    let n = 0;
    await this.#service.retry(await this.#session(target), async (session) => {
      n++;
      this.lines.write(MAIN, { attempt: n, events: session.events.length });
      if (n <= others) {
        const content = { role: 'user', parts: [{ text: 'meanwhile' }] } as const;
        await this.#service.appendEvent(await this.#session(target), { author: 'user', content });
      }
      await this.#service.appendEvent(session, oddEvent(event!));
    });
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

  /** Runs an invocation, until it ends or the process is gone. */
  async #run(target: Target): Promise<void> {
    const run = this.#invoke(target);
    if (this.#left !== undefined) return run; // a process is gone once
    const gone = await Promise.race([run.then(() => false), this.#gone.promise.then(() => true)]);
    if (!gone) return;
    this.#left = { run };
    this.lines.write(MAIN, { did: 'run', gone });
  }

  async #invoke(target: Target): Promise<void> {
    const { message, stopAfter, load } = target;
    const { userId, sessionId } = keyOf(target);
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    let n = 0;
    let first = '';
    let left = false;
    let failure: { error: unknown } | undefined;
    try {
      const newMessage = odd(message) as Target['message'];
      const input = { userId, sessionId, newMessage, signal };
      for await (const event of this.#runner.runAsync(input)) {
        n++;
        this.#delivered++;
        if (first === '') first = event.invocationId;
        this.#event(event);
        if (load === true && event.partial !== true) await this.#load(MAIN, target);
        if (this.#delivered === this.scenario.fault?.gone) {
          await this.#vanish();
          return;
        }
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

function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
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
