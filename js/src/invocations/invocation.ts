/**
 * The host's side of an invocation.
 */
import { EffectKind, SessionEffect, SessionMethod, SyncKind } from '../abi/frames.gen.js';
import { type Awaitable, isThenable } from '../awaitable.js';
import { wrongFrame } from '../codec/decoder.js';
import type { Encoder, Write } from '../codec/encoder.js';
import {
  type AppendArgs,
  type EffectFrame,
  type MethodArgs,
  type ModelRequest,
  type SyncFrame,
  toAgentArgs,
  toAppendArgs,
  toDeliverArgs,
  toHookArgs,
  toModelRequest,
  type ToolArgs,
  writeRequestArgs,
  writeRunAgentArgs,
  writeStartInvocation,
  writeYieldArgs,
} from '../codec/tuples.gen.js';
import { TurnContext } from '../context/turn-context.js';
import { isTurncoreError } from '../errors.js';
import type { HttpSettings } from '../http/exchange.js';
import { toText } from '../primitives/tokenizable.js';
import { Stash } from '../stash/stash.js';
import { invocationError } from '../session-errors.js';
import { ContextState } from '../turn/context-state.js';
import type { Core } from '../turn/core.js';
import type { Effect } from '../turn/effect.js';
import { HistoryUploads } from '../turn/history-uploads.js';
import { lateEffects } from '../turn/late.js';
import type { Run } from '../turn/runs.js';
import { Turn } from '../turn/turn.js';
import type { BaseAgent } from './agents.js';
import { SessionArtifacts } from './artifacts.js';
import { Channel, stopped } from './channel.js';
import type { Content } from './content.js';
import { actionsOf, CallbackContext, InvocationContext, ToolContext } from './contexts.js';
import type { AgentInfo, LiveSession, OpenInvocation } from './contract.js';
import { bytesBy } from './event-bytes.js';
import { type Event, type EventData, givenEvent, revive } from './event.js';
import { writeAnswer, writeMembers, writeMessage } from './invalid.js';
import type { SessionKey } from './keys.js';
import { EffectOrder } from './order.js';
import { appendOf, inSession, type LoadedSession, writeMethod } from './session-service.js';
import type { SessionStore } from './session-store.js';
import { Stoppable } from './stoppable.js';
import { liveState } from './state.js';
import type { RequestParts, ShownContents } from './shown.js';
import { hookName, type Member, type Team } from './team.js';
import { after } from './waiting.js';

/** The first number of an agent that a generator runs. */
const FIRST_RUN = 0x80000000;
/** The number before that of the first session that an instance is told of. Histories have lower ones. */
const BEFORE_SESSIONS = 0x80000000;

/**
 * Bytes of memory that an invocation needs for each byte of its message, of the session's events, of what requests may
 * have of these, of its state, and of that if instructions may have values of it. The message is stored, asked and
 * often answered at length.
 */
const NEEDS = { message: 32, events: 3, shown: 5, state: 5, instructed: 9 };

/** The sessions that instances were told of. */
const uploads = new WeakMap<Core, HistoryUploads>();

/** What an invocation is started with. */
export interface InvocationSetup {
  readonly id: string;
  readonly team: Team;
  readonly store: SessionStore;
  readonly key: SessionKey;
  readonly loaded: LoadedSession;
  readonly http: HttpSettings;
  readonly message: Content | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** Aborts it; undefined if nothing does. */
  readonly controller: AbortController | undefined;
  /** The writer of its journal, if there is one. */
  readonly record: (core: Core, number: number) => Turn['recorder'];
}

/** A running invocation. */
export class Invocation extends Turn implements OpenInvocation {
  readonly message: Content | undefined;
  #artifacts: SessionArtifacts | undefined;
  #session: LiveSession | undefined;
  readonly #setup: InvocationSetup;
  /** Its events on their way to the caller. */
  readonly #events = new Channel();
  /** Those of agents that generators run. */
  readonly #children = new Map<number, Channel>();
  #lastRun = FIRST_RUN - 1;
  /** What the caller has left with that waited for an event. */
  #left: Error | undefined;
  /** How many events the session has. */
  #count: number;
  /** The call of a tool that is about to get its context. */
  #executing: ToolArgs | undefined;
  /** Tells the instance of sessions. */
  #told: HistoryUploads | undefined;
  /** The agents of model calls, by number. */
  readonly #agents: (Member | undefined)[] = [];
  /** What model calls are asked, by number, as far as the module has said so by itself. */
  readonly #requests: (RequestParts | undefined)[] = [];
  readonly #order = new EffectOrder();
  /** Signals of its code, beside those of its contexts. */
  readonly signals = new WeakSet<AbortSignal>();

  constructor(core: Core, number: number, setup: InvocationSetup) {
    super(
      core,
      number,
      {
        definition: setup.team.definition,
        http: setup.http,
        id: setup.id,
        standalone: false,
        systemPrompt: NO_TEXT,
        instructions: [],
        stash: new Stash().share(),
        initial: [],
        dispatchBus: undefined,
        bus: undefined,
        tap: undefined,
        controller: setup.controller,
        gates: undefined,
        waitFor: undefined,
      },
      (state, key, signal) =>
        state.number === 0
          ? new TurnContext(state, key, signal)
          : new ToolContext(state, key, signal, (state.turn as unknown as Invocation).#executing),
    );
    this.#setup = setup;
    this.message = setup.message;
    this.#count = setup.loaded.count;
    this.runs = RUNS;
  }

  get artifacts(): SessionArtifacts {
    const { store, loaded, key } = this.#setup;
    return (this.#artifacts ??= new SessionArtifacts(store, loaded.stored, key));
  }

  get session(): LiveSession {
    const { key, loaded } = this.#setup;
    const shown = (): readonly Event[] => loaded.held.shown(this.#count);
    return (this.#session ??= Object.freeze({
      id: key.sessionId,
      appName: key.appName,
      userId: key.userId,
      state: liveState(this, undefined),
      get events() {
        return shown();
      },
    }));
  }

  /** Starts an invocation. @throws the refusal */
  static start(core: Core, seed: Uint8Array, setup: InvocationSetup): Invocation {
    const { team, key, loaded, message, options } = setup;
    const runner = team.open(core);
    let told = uploads.get(core);
    if (told === undefined) {
      uploads.set(core, (told = new HistoryUploads(core.instance, BEFORE_SESSIONS)));
    }
    const invocation = new Invocation(core, ++core.lastTurn, setup);
    invocation.#told = told;
    try {
      const said = message && bytesBy(writeMessage(message));
      const state = loaded.state.reduce((size, [, value]) => size + value.length, 0);
      core.admit(
        invocation,
        NEEDS.message * (said?.length ?? 0) +
          NEEDS.events * loaded.held.bytes +
          NEEDS.shown * loaded.held.shownBytes +
          (NEEDS.state + (team.instructsFromState ? NEEDS.instructed : 0)) * state,
      );
      const history = told.number(loaded.held, loaded.count);
      invocation.recorder = setup.record(core, invocation.number);
      if (invocation.recorder !== undefined) {
        team.record(core, invocation);
        told.named(loaded.held);
        told.record(invocation.recorder);
      }
      const enc = core.frame();
      writeStartInvocation(enc, {
        turn: invocation.number,
        runner,
        now: invocation.now,
        seed,
        id: setup.id,
        session: key.sessionId,
        user: key.userId,
        history,
        count: loaded.count,
        state: (e) => {
          e.mapHeader(loaded.state.length);
          for (const [name, value] of loaded.state) {
            e.str(name);
            e.raw(value);
          }
        },
        message: said === undefined ? null : (e) => e.raw(said),
        options: (e) => e.value(options, 'options'),
        shown: team.shown((agent) => loaded.held.kept(agent)),
        aborted: invocation.root.aborted,
      });
      loaded.held.toldBy(told);
      const signal = setup.controller?.signal;
      signal?.addEventListener('abort', () => invocation.#events.stop(signal.reason as Error));
      void invocation.done.then((result) => invocation.#close(result.status === 'ack'));
      core.run(invocation, enc);
      told.counted(loaded.held, loaded.count);
    } catch (error) {
      invocation.discard();
      throw error;
    }
    return invocation;
  }

  // For the caller

  /**
   * The next event; undefined when there are no more.
   *
   * @throws (or rejects) what the invocation has failed with, or the reason of its abort
   */
  next(): Awaitable<Event | undefined> {
    return after(this.#events.next(), (event) => event ?? this.#over());
  }

  async #over(): Promise<undefined> {
    const { status, error } = await this.done;
    if (this.#left !== undefined && (status === 'aborted' || error === this.#left))
      return undefined;
    const why = status === 'aborted' && this.root.aborted ? this.root.reason : error;
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the reason stays what it is
    if (why !== undefined) throw why;
    return undefined;
  }

  /** Ends the invocation, because its caller has left while it waits for an event. */
  readonly leave = (): void => {
    if (this.ended || this.#left !== undefined) return;
    this.#left = stopped();
    this.#events.stop(this.#left);
    this.root.abort(this.#left);
  };

  /** Ends the invocation, because its caller has left. Resolves when all has ended. @throws what fails meanwhile */
  async stop(): Promise<void> {
    if (this.ended) return;
    const reason = stopped();
    this.#events.stop(reason);
    const { status, error } = await this.done;
    if (status === 'failed' && error !== reason) throw error;
  }

  // For contexts

  ask(method: number, write: ((enc: Encoder) => void) | null, context = 0): unknown {
    return this.callNow(context, method as never, write as never);
  }

  later(method: number, write: (enc: Encoder) => void, context = 0): Promise<unknown> {
    return this.callLater(context, method as never, write as never);
  }

  request(context: number): RequestParts {
    const member = this.#agents[context]!;
    const given = this.#requests[context];
    if (given !== undefined) return given;
    const parts = this.#contents(member).read(member.tools === undefined, (args) =>
      this.ask(SessionMethod.Request, (enc) => writeRequestArgs(enc, args), context),
    );
    return withTools(parts, member);
  }

  #contents(member: Member): ShownContents {
    return this.#setup.loaded.held.contents(member.agent.name);
  }

  agentOf(context: number): string {
    return this.#agents[context]?.agent.name ?? '';
  }

  async *runAgent(run: number, agent: AgentInfo): AsyncGenerator<Event, void, undefined> {
    const number = ++this.#lastRun;
    const events = new Channel();
    this.#children.set(number, events);
    const args = { run, agent: this.#setup.team.numberOf(agent), number };
    const reply = this.later(SessionMethod.RunAgent, (enc) => writeRunAgentArgs(enc, args)).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    void reply.then(() => events.close());
    let over = false;
    try {
      for (let event; (event = await events.next()) !== undefined;) yield event;
      over = true;
    } finally {
      if (!over) {
        events.stop();
        await reply;
      }
      this.#children.delete(number);
    }
    const failure = await reply;
    if (failure !== undefined) throw failure.error;
  }

  // For the core

  /** Calls of methods about sessions have arguments that write themselves. */
  override encodeCall<M extends keyof MethodArgs>(
    call: number,
    context: number,
    method: M,
    args: MethodArgs[M],
  ): Encoder {
    if (method < SessionMethod.GetState) return super.encodeCall(call, context, method, args);
    const enc = this.core.frame();
    writeMethod(enc, {
      turn: this.number,
      call,
      elapsed: this.elapsed(),
      context,
      method,
      args: args as never,
    });
    return enc;
  }

  /** The only change inside the module that a host hears of: a model call of an agent begins. */
  override sync({ sync, context, other }: SyncFrame): boolean {
    const member = this.#setup.team.member(other);
    if (sync !== SyncKind.Open || member?.definition === undefined) {
      throw wrongFrame(`agent ${other} has no model call ${context}`);
    }
    const { definition } = member;
    this.#agents[context] = member;
    this.contexts[context] = new ContextState(
      this,
      context,
      this.root,
      definition,
      undefined,
      this.root.stashSnapshot(),
      definition.toolState,
      this.makeFacade,
    );
    return false;
  }

  /** Runs an effect when its turn has come. */
  inOrder(effect: Effect, run: () => void): void {
    this.#order.run(effect, run);
  }

  /** Lets the executor of a model answer. @param asked what it is asked, if the module has said so */
  think(effect: Effect, asked: ModelRequest | undefined): void {
    const { number, definition } = effect.state;
    const { executor } = definition;
    if (asked !== undefined) {
      const member = this.#agents[number]!;
      const parts = this.#contents(member).take(asked);
      if (parts !== undefined) this.#requests[number] = withTools(parts, member);
    }
    if (typeof executor !== 'function') {
      throw wrongFrame('the chat executor has no host function');
    }
    effect.perform(
      () => executor(effect.state.facade as never, undefined as never),
      (response) => {
        if (response === undefined || response === null) effect.settle();
        else settleWith(effect, writeMembers(response));
      },
    );
  }

  /** Calls the handler of a tool. Its context is for the call. */
  execute(effect: Effect, args: ToolArgs, frame: EffectFrame): void {
    this.#executing = args;
    try {
      lateEffects()![EffectKind.Tool](effect, args, frame);
    } finally {
      this.#executing = undefined;
    }
  }

  /** Stores an event, and delivers it if the caller is to have it. */
  append(effect: Effect, args: AppendArgs): void {
    const { store, loaded, key } = this.#setup;
    const { held, stored } = loaded;
    const place = this.#count;
    this.#told!.appended(held, place); // the module goes on with the event before
    const handled = args.ahead ? this.#order.ahead(effect) : effect;
    const fail = (error: unknown): void => handled.fail(inSession(error, key));
    let append: ReturnType<typeof appendOf>;
    let appended: Awaitable<string>;
    try {
      append = appendOf(store, args, held.at(place - 1)?.revision, () => this.artifacts);
      appended = store.append(stored, append);
    } catch (error) {
      fail(error);
      return;
    }
    const deliver = (revision: string): void => {
      this.#count = place + 1;
      held.put(place, { id: append.event.id, body: append.event.body, revision });
      if (args.deliver) this.#events.offer(revive(args.event as EventData), handled);
      else handled.settle();
    };
    if (isThenable(appended)) Promise.resolve(appended).then(deliver, fail);
    else deliver(appended);
  }

  /** Delivers an event that is not stored. @param run of the agent that a generator runs; 0 for the caller */
  deliver(effect: Effect, run: number, event: EventData): void {
    const channel = run === 0 ? this.#events : this.#children.get(run);
    if (channel === undefined) effect.fail(stopped());
    else channel.offer(revive(event), effect);
  }

  /** Calls host code at a hook. */
  hook(effect: Effect, args: ReturnType<typeof toHookArgs>, code: Stoppable): void {
    const { hook, plugin, index, agent, value } = args;
    const { team } = this.#setup;
    const callback = team.callback(hook, plugin, agent, index);
    if (callback === undefined) throw wrongFrame(`unknown callback of hook ${hook}`);
    const context = effect.state.number;
    const ctx = new CallbackContext(this, code, team.member(agent)?.agent.name ?? '');
    effect.perform(
      () => callback(ctx, { turn: effect.turn, invocation: this, context, value }),
      (answer) => {
        const given = answer !== undefined && answer !== null;
        let actions: object | undefined;
        try {
          actions = ctx[actionsOf].value();
        } catch (error) {
          effect.fail(error);
          return;
        }
        if (!given && actions === undefined) effect.settle();
        else {
          const whole = { ...(given && { value: answer }), ...(actions && { actions }) };
          settleWith(effect, writeAnswer(hookName(hook), whole));
        }
      },
    );
  }

  /** Runs the generator of an agent. */
  generate(effect: Effect, args: ReturnType<typeof toAgentArgs>, code: Stoppable): void {
    const member = this.#setup.team.member(args.agent);
    if (member === undefined) throw wrongFrame(`unknown agent ${args.agent}`);
    const of = member.agent;
    effect.perform(() => this.#drive(of, new InvocationContext(this, code, of, args)));
  }

  async #drive(agent: BaseAgent, ctx: InvocationContext): Promise<void> {
    const { run } = ctx;
    const generator = agent.runAsyncImpl(ctx);
    if (typeof (generator as unknown as Partial<typeof generator>).next !== 'function') {
      const why = `agent ${agent.name}: runAsyncImpl must be an async generator`;
      throw invocationError('E_INVALID_AGENT', why);
    }
    let failures = 0;
    for (let step = await generator.next(undefined as never); step.done !== true;) {
      try {
        const value = givenEvent(step.value);
        const stored = await this.later(SessionMethod.Yield, (enc) =>
          writeYieldArgs(enc, { run, event: writeMembers(value) }),
        );
        step = await generator.next(revive(stored as EventData));
      } catch (error) {
        if (step.done === true) throw error;
        // It may clean up, and go on to its end. What it yields meanwhile nobody gets.
        if (++failures > MOST_FAILURES) return;
        step =
          failures > 1 || isTurncoreError(error, 'E_INVOCATION_STOPPED')
            ? await generator.return(undefined)
            : await generator.throw(error);
      }
    }
  }

  #close(isWhole: boolean): void {
    if (isWhole) this.#told!.appended(this.#setup.loaded.held, this.#count);
    this.#events.close();
    for (const events of this.#children.values()) events.stop();
  }
}

/** A request with the tools that are kept, if it comes without. */
function withTools(parts: RequestParts, member: Member): RequestParts {
  if (parts.isKept) member.tools ??= parts.tools;
  if (parts.tools !== undefined) return parts;
  const { instructions, contents, count, isKept } = parts;
  return { instructions, contents, count, tools: member.tools, isKept };
}

/** Settles an effect with a value, or with the error that it has no encoding. */
function settleWith(effect: Effect, write: Write): void {
  let written = false;
  try {
    effect.settleWith((enc) => {
      write(enc);
      written = true;
    });
  } catch (error) {
    if (written) throw error;
    effect.fail(error);
  }
}

/** How often a generator is told of a failure. */
const MOST_FAILURES = 3;

const NO_TEXT = toText('', () => undefined) as never;

/** How to run the effects of invocations. */
const RUNS: Readonly<Record<number, Run<never>>> = {
  [EffectKind.Tool]: stoppable((effect, args, frame) => of(effect).execute(effect, args, frame)),
  [EffectKind.Validate]: inOrder((effect, args, frame) =>
    lateEffects()![EffectKind.Validate](effect, args, frame),
  ),
  [SessionEffect.Append]: inOrder((effect, args) => of(effect).append(effect, toAppendArgs(args))),
  [SessionEffect.Model]: stoppable((effect, args) =>
    of(effect).think(effect, args === null ? undefined : toModelRequest(args)),
  ),
  [SessionEffect.Deliver]: (effect, args) => {
    const { run, event } = toDeliverArgs(args);
    of(effect).deliver(effect, run, event as EventData);
  },
  [SessionEffect.Hook]: stoppable((effect, args, _, code) =>
    of(effect).hook(effect, toHookArgs(args), code),
  ),
  [SessionEffect.Agent]: stoppable((effect, args, _, code) =>
    of(effect).generate(effect, toAgentArgs(args), code),
  ),
};

/** Runs effects that may come behind an event which the module has gone ahead of. */
function inOrder<Args>(run: Run<Args>): Run<Args> {
  return (effect, args, frame) => of(effect).inOrder(effect, () => run(effect, args, frame));
}

/** The same for code that can be told that nobody wants its result. */
function stoppable<Args>(
  run: (effect: Effect, args: Args, frame: EffectFrame, code: Stoppable) => void,
): Run<Args> {
  return (effect, args, frame) => {
    const code = new Stoppable(effect, of(effect).signals);
    of(effect).inOrder(effect, () => run(effect, args, frame, code));
  };
}

function of(effect: Effect): Invocation {
  return effect.turn as never; // others have no such effects
}
