/**
 * The host's side of a running turn, or of a standalone dispatch.
 */
import { EventKind, Op, Results, Scope, Status, SyncKind } from '../abi/frames.gen.js';
import {
  type EndFrame,
  type ErrorValue,
  type EventFrame,
  type MethodArgs,
  type ReplyFrame,
  type SyncFrame,
  writeAbort,
  writeCall,
  writeTick,
  type OutboundFrame,
} from '../codec/tuples.gen.js';
import { rejected } from '../attempt.js';
import { wrongFrame } from '../codec/decoder.js';
import type { Encoder } from '../codec/encoder.js';
import { HandleTable } from '../collections/handle-table.js';
import { TurncoreError } from '../errors.js';
import type { Bus } from '../events/bus.js';
import type { EventName, TurnEvent, TurnEvents, TurnStatus } from '../events/events.js';
import {
  eventNames,
  eventOf,
  type EventSource,
  isText,
  textKindOf,
  turnStatusOf,
} from '../events/from-frame.js';
import type { StepRecorder } from '../journal/writer.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { Root } from '../stash/stash.js';
import { ContextState, type MakeFacade } from './context-state.js';
import type { EmittedEvent, OpenCore, OpenModelCalls, OpenTurn } from './contract.js';
import { EditQueue } from './edits.js';
import { ErrorTable } from './error-table.js';
import { Gates } from './gates.js';
import type { HttpSettings } from '../http/exchange.js';
import { reportFailure } from './listener-failures.js';
import { applySync } from './mirror.js';
import { OpenSpans } from './open-spans.js';
import { PendingCall } from './pending-call.js';
import type { Definition } from './definition.js';
import type { TurnSetup } from './turn-setup.js';
import { TurnTools } from './turn-tools.js';
import { OVERDUE, Watch } from './watch.js';

/** The longest delay of `setTimeout`, in ms. */
const LONGEST = 0x7fffffff;
/** How a turn ended. */
export interface Outcome {
  readonly status: TurnStatus | 'refused';
  readonly iterations: number;
  /** Why it failed, was nacked or was refused. */
  readonly error: unknown;
}

/** A running turn or standalone dispatch. */
export class Turn implements EventSource, OpenTurn {
  readonly core: OpenCore;
  readonly number: number;
  readonly id: string;
  readonly definition: Definition;
  readonly http: HttpSettings;
  readonly now: number;
  readonly publicTurnId: string | undefined;
  readonly systemPrompt: Tokenizable;
  readonly edits: EditQueue;
  readonly standalone: boolean;
  readonly waitFor: ((raw: unknown) => unknown) | undefined;
  readonly gates: Gates;
  readonly tools: TurnTools = new TurnTools(this);
  readonly handles = new HandleTable();
  readonly errors: ErrorTable;
  /** By number; 0 is the turn's. */
  readonly contexts: (ContextState | undefined)[] = [];
  /** Running requests, answers of engines and tool calls that the module may give up, by effect. */
  requests: Map<number, { cancel(): void; readonly facade?: object }> | undefined;
  /** Results of handlers that do not cross, by the number of their effect. */
  kept: Map<number, unknown> | undefined;
  readonly watch = new Watch();
  /** The calls of models, once somebody wants to know of one. */
  models: OpenModelCalls | undefined;
  /** Settles when the turn has ended; never rejects. */
  readonly done: Promise<Outcome>;
  recorder: StepRecorder | undefined;
  /** How to run effects of some kinds in another way, and of kinds that no turn has. */
  runs: object | undefined;
  ended = false;
  /** Bytes of memory that were taken for what it is started with. */
  needs = 0;

  readonly #bus: Bus<TurnEvents> | undefined;
  readonly #tap: ((event: TurnEvent) => void) | undefined;
  /** Calls that may be answered later. */
  readonly #pending = new Map<number, PendingCall>();
  /** The last context that was looked up, which is mostly the next one. */
  #recent: ContextState | undefined;
  readonly #spans = new OpenSpans();
  /** Number of the last call. */
  #call = 0;
  /** Number of the last event. */
  #seq = 0;
  /** Events that the host made while the module lived. */
  #made = 0;
  readonly #stash: Root;
  readonly #dispatchBus: Bus<TurnEvents> | undefined;
  readonly makeFacade: MakeFacade;
  readonly #unfollow: (() => void) | undefined;
  #elapsed = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #opening: { definition: Definition; bus: Bus<TurnEvents> | undefined } | undefined;
  /** The event that an emit call is about to cause. */
  #emitted: EmittedEvent | undefined;
  halves: Map<string, string> | undefined;
  /** How many events are being delivered, each inside the one before it. */
  #delivering = 0;
  /** Errors of the listeners of the innermost event. */
  #thrown: unknown[] | undefined;
  #finish!: (outcome: Outcome) => void;

  constructor(core: OpenCore, number: number, input: TurnSetup, facade: MakeFacade) {
    this.core = core;
    this.number = number;
    this.id = input.id;
    this.definition = input.definition;
    this.http = input.http;
    this.now = core.clock();
    this.standalone = input.standalone;
    this.waitFor = input.waitFor;
    this.gates = new Gates(this, input.gates);
    this.publicTurnId = input.standalone ? undefined : input.id;
    this.systemPrompt = input.systemPrompt;
    this.edits = new EditQueue(this.handles, core.instance.limits.frame);
    this.errors = new ErrorTable(core.instance.limits);
    this.done = new Promise((resolve) => (this.#finish = resolve));
    this.#bus = input.bus;
    this.#tap = input.tap;
    this.#stash = input.stash;
    this.#dispatchBus = input.dispatchBus;
    this.makeFacade = facade;
    if (!input.standalone) {
      const turn = this.#makeContext(0, undefined, input.definition, undefined);
      if (input.controller !== undefined) this.#unfollow = turn.follow(input.controller);
    } else if (input.controller !== undefined) {
      this.#unfollow = this.#openStandalone(input).follow(input.controller);
    } else {
      this.#openStandalone(input);
    }
  }

  get run(): string {
    return `${this.id}@${this.now.toString(36)}`;
  }

  /** The turn's context, or the standalone dispatch's. */
  get root(): ContextState {
    return (this.contexts[0] ?? this.contexts[1])!;
  }

  /** A context by its number. @throws CodecError if there is none */
  context(number: number): ContextState {
    if (this.#recent?.number === number) return this.#recent;
    const state = this.contexts[number];
    if (state === undefined) throw wrongFrame(`unknown context ${number}`);
    this.#recent = state;
    return state;
  }

  /** Milliseconds since the turn's start; never less than before. */
  elapsed(): number {
    const elapsed = Math.trunc(this.core.clock() - this.now);
    if (elapsed > this.#elapsed) this.#elapsed = elapsed;
    return this.#elapsed;
  }

  // Calls

  /**
   * Sends a call that is answered in the same step, and delivers everything up to its reply.
   *
   * @returns the reply's value
   * @throws the call's error; TurncoreError E_CALL_AFTER_END
   */
  callNow<M extends keyof MethodArgs>(context: number, method: M, args: MethodArgs[M]): unknown {
    const { core } = this;
    const call = this.#nextCall();
    const enc = this.encodeCall(call, context, method, args);
    const outer = core.calling;
    const pending = new PendingCall(this, call, outer);
    core.calling = pending;
    try {
      this.#send(enc, pending);
      if (!pending.done) core.drainUntil(pending);
    } finally {
      core.calling = outer;
    }
    if (pending.failed) throw pending.value;
    return pending.value;
  }

  /**
   * Sends a call that may be answered later, and delivers everything there is.
   *
   * @throws TurncoreError E_CALL_AFTER_END, and errors of arguments that have no encoding
   */
  callLater<M extends keyof MethodArgs>(
    context: number,
    method: M,
    args: MethodArgs[M],
  ): Promise<unknown> {
    const call = this.#nextCall();
    const enc = this.encodeCall(call, context, method, args);
    const pending = new PendingCall(this, call, undefined);
    this.#pending.set(call, pending);
    try {
      this.#send(enc, pending);
      this.core.drain(this);
    } catch (error) {
      this.#pending.delete(call);
      return rejected(error);
    }
    if (pending.done) {
      return pending.failed ? rejected(pending.value) : Promise.resolve(pending.value);
    }
    return new Promise((resolve, reject) => {
      pending.resolve = resolve;
      pending.reject = reject;
    });
  }

  #nextCall(): number {
    if (this.ended) throw TurncoreError.of('E_CALL_AFTER_END', 'the turn has ended');
    return ++this.#call;
  }

  /** Encodes a Call. */
  encodeCall<M extends keyof MethodArgs>(
    call: number,
    context: number,
    method: M,
    args: MethodArgs[M],
  ): Encoder {
    const enc = this.core.frame();
    writeCall(enc, {
      turn: this.number,
      call,
      elapsed: this.elapsed(),
      context,
      method,
      args,
    });
    return enc;
  }

  #send(enc: Encoder, pending: PendingCall): void {
    const fault = this.core.send(this, enc);
    if (fault !== undefined) pending.settle(true, fault);
  }

  /** Tells the module that a context was aborted. */
  sendAbort(context: number, reason: unknown): void {
    if (this.ended || !this.core.alive) return;
    const enc = this.core.frame();
    writeAbort(enc, {
      turn: this.number,
      elapsed: this.elapsed(),
      context,
      reason: reason === undefined ? null : this.errors.wireOf(reason, reason),
    });
    this.core.sendAndDrain(this, enc);
  }

  /** Runs a call that opens a dispatch: the next context to open belongs to it. */
  opening<T>(definition: Definition, bus: Bus<TurnEvents> | undefined, run: () => T): T {
    this.#opening = { definition, bus };
    try {
      return run();
    } finally {
      this.#opening = undefined;
    }
  }

  /** Runs an emit call whose event shows a text of its own. */
  emitting<T>(event: EmittedEvent, run: () => T): T {
    this.#emitted = event;
    try {
      return run();
    } finally {
      this.#emitted = undefined;
    }
  }

  // Frames

  /** Takes a Reply. */
  reply(frame: ReplyFrame): void {
    const { call } = frame;
    let pending = this.core.calling?.find(this, call);
    if (pending === undefined) {
      pending = this.#pending.get(call);
      this.#pending.delete(call);
    }
    if (pending === undefined || pending.done) return;
    const { error, value } = frame;
    if (error === null) pending.settle(false, value);
    else pending.settle(true, this.errors.decode(error));
  }

  /**
   * Takes a Sync: a change inside the module.
   *
   * @returns whether user code must be told when its turn in the queue comes
   */
  sync(frame: SyncFrame): boolean {
    const number = frame.context;
    if (frame.sync === SyncKind.Open) {
      this.#openContext(number, frame.other);
      return false;
    }
    // Nobody sees the turn around a standalone dispatch.
    if (number === 0 && this.contexts[0] === undefined) return false;
    return applySync(this, this.context(number), frame);
  }

  /** Tells user code of a Sync: a dispatch was acked inside the module. */
  synced(frame: SyncFrame): void {
    this.context(frame.context).callAckHandlers();
  }

  /** Takes an Event and tells the listeners. */
  event(frame: EventFrame): void {
    const { kind, dispatch, scope } = frame;
    const name = eventNames[kind];
    if (name === undefined) return;
    const state = dispatch === 0 ? this.contexts[0] : this.context(dispatch);
    if (kind === EventKind.IterationStart && state !== undefined) {
      state.iteration = frame.iteration;
    } else if (kind === EventKind.DispatchEnd && state !== undefined) state.ended = true;
    this.#seq = frame.seq + this.#made;
    if (kind > EventKind.ToolCall) this.#spans.note(frame);
    if (frame.kind === EventKind.TurnGateClosed) this.gates.forget(frame.payload.gate);
    const own = (scope & Scope.Dispatch) !== 0 && dispatch !== 0 ? state?.bus : undefined;
    const bus = (scope & Scope.Turn) !== 0 ? this.#bus : undefined;
    const tapped = (scope & Scope.Turn) !== 0 && this.#tap !== undefined;
    if (!tapped && own?.listens(name) !== true && bus?.listens(name) !== true) {
      if (isText(frame)) {
        this.text(dispatch, textKindOf(frame.kind), frame.payload.id, frame.payload.delta);
      }
      return;
    }
    const event = eventOf(frame, this);
    if (event === undefined) return;
    if (this.#made > 0) (event as { seq: number }).seq = this.#seq;
    this.#deliver(event, own, bus, tapped);
  }

  /** Whether anybody listens to events of a name by that name. */
  listens(name: EventName, { bus }: ContextState): boolean {
    return bus?.listens(name) === true || this.#bus?.listens(name) === true;
  }

  /** Tells of an event of a dispatch that the host makes. */
  tell(event: (seq: number) => TurnEvent, { bus }: ContextState): void {
    this.#made++;
    this.#deliver(event(++this.#seq), bus, this.#bus, this.#tap !== undefined);
  }

  /** Notes a frame before its delivery. @throws CodecError for one effect too many, and for an invalid event */
  note(frame: OutboundFrame): void {
    const { watch } = this;
    switch (frame.op) {
      case Op.Event:
        this.#noteEvent(frame);
        return;
      case Op.Effect: {
        const most = this.core.instance.limits.turnEffects;
        if (++watch.effects > most) {
          throw wrongFrame(`more than ${most} effects are outstanding`);
        }
        return;
      }
      case Op.Timer:
        watch.ticking = frame.due !== 0;
        return;
      case Op.End:
        if (frame.status > Status.Refused) {
          throw wrongFrame(`the turn ends with status ${frame.status}`);
        }
        watch.over = true;
        return;
      default:
    }
  }

  /** Notes the state of a gate, and the kept result that a tool call shows, which its record takes away. */
  #noteEvent(frame: EventFrame): void {
    this.models?.note(frame);
    switch (frame.kind) {
      case EventKind.TurnGateOpen:
        this.gates.noteOpen(frame, frame.payload);
        return;
      case EventKind.TurnGateClosed:
        this.gates.noteClosed(frame.payload);
        return;
      case EventKind.ToolCall: {
        const { id, results, kept } = frame.payload;
        if (results !== Results.Kept) return;
        if (this.kept?.has(kept) !== true) {
          throw wrongFrame(`nothing is kept of effect ${kept}`);
        }
        this.context(frame.dispatch).setResults(id, this.kept.get(kept));
        return;
      }
      default:
    }
  }

  /** Tells, after a step, whether the module has lost the turn. */
  isLost(): boolean {
    if (this.ended || !this.core.alive) return false;
    const waits = this.gates.open > 0 || this.#pending.size > 0 || this.core.calling !== undefined;
    return this.watch.lost(waits, this.root.aborted, this);
  }

  /** The module does not end the turn, though it should have. */
  giveUp(reason: string): void {
    if (!this.ended) this.core.fail(reason);
  }

  /** Takes a Timer. */
  timer(due: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (due === 0) return;
    const wait = Math.max(0, due - this.elapsed());
    this.watch.overdue = wait > 0 ? 0 : this.watch.overdue + 1;
    if (this.watch.overdue > OVERDUE) {
      this.giveUp(`the turn asked ${OVERDUE} times in a row for a time that had passed`);
      return;
    }
    this.#timer = setTimeout(() => this.#tick(wait > LONGEST ? 0 : due), Math.min(wait, LONGEST));
  }

  /** Takes an End. */
  end({ status, iterations, error }: EndFrame): void {
    this.#close({
      status: status === Status.Refused ? 'refused' : turnStatusOf(status),
      iterations,
      error: error === null ? undefined : this.errors.decode(error),
    });
  }

  /** Lets go of the caller's controller after a refused start. */
  discard(): void {
    this.ended = true;
    this.#unfollow?.();
    this.core.closed(this);
  }

  /** Ends everything open, innermost first, after the instance's death. */
  fail(error: TurncoreError): void {
    if (this.ended) return;
    const { begun } = this.#spans;
    this.#spans.failure = error;
    const elapsed = this.elapsed();
    const next = (): number => this.#seq - this.#made + 1;
    for (const f of this.gates.abandon(this.number, elapsed, next)) this.event(f);
    this.models?.fail(error);
    for (const frame of this.#spans.close(this.number, elapsed, next)) this.event(frame);
    this.#close({
      status: begun ? 'failed' : 'refused',
      iterations: this.#spans.iterations,
      error,
    });
  }

  // What events are made with

  dispatchId(dispatch: number): string {
    const state = this.#recent?.number === dispatch ? this.#recent : this.contexts[dispatch];
    return state?.id ?? `${this.id}.d${dispatch}`;
  }

  error(value: ErrorValue): unknown {
    return value === OpenSpans.FAILURE ? this.#spans.failure : this.errors.decode(value);
  }

  text(dispatch: number, kind: number, id: string, delta: string): string {
    const emitted = this.#emitted;
    if (emitted?.id === id && emitted.context === dispatch && emitted.kind === kind) {
      this.#emitted = undefined; // its listeners may report meanwhile
      return emitted.full;
    }
    if (dispatch === 0 && this.standalone) return delta;
    return this.context(dispatch).addText(kind - EventKind.Message, id, delta);
  }

  /** Keeps the result of an effect. */
  keep(effect: number, result: unknown): void {
    (this.kept ??= new Map<number, unknown>()).set(effect, result);
  }

  /** Removes and returns the kept result of an effect, or undefined. */
  takeKept(effect: number): unknown {
    const result = this.kept?.get(effect);
    this.kept?.delete(effect);
    return result;
  }

  recordId(handle: number): string {
    const entry = handle === 0 ? undefined : this.handles.entryOf(handle);
    if (entry === undefined) return '';
    return 'id' in entry ? entry.id : entry.toString();
  }

  results(dispatch: number, id: string): unknown {
    return this.contexts[dispatch]?.results(id);
  }

  // Internals

  #makeContext(
    number: number,
    parent: ContextState | undefined,
    definition: Definition,
    bus: Bus<TurnEvents> | undefined,
  ): ContextState {
    const state = new ContextState(
      this,
      number,
      parent,
      definition,
      bus,
      parent?.stashSnapshot() ?? this.#stash,
      parent?.toolSnapshot() ?? definition.toolState,
      this.makeFacade,
    );
    this.contexts[number] = state;
    return state;
  }

  #openStandalone(input: TurnSetup): ContextState {
    return this.#makeContext(1, undefined, input.definition, this.#dispatchBus);
  }

  #openContext(number: number, other: number): void {
    if (other < 0 || this.contexts[number] !== undefined) {
      // The host itself made the context of a standalone dispatch.
      if (number === 1 && this.contexts[0] === undefined) return;
      throw wrongFrame(`context ${number} is open already`);
    }
    const parent = this.contexts[other];
    if (parent === undefined) {
      if (number === 1 && other === 0) return;
      throw wrongFrame(`unknown context ${other}`);
    }
    if (number !== Math.max(this.contexts.length, 1)) {
      throw wrongFrame(`context ${number} is not the next one`);
    }
    const opening = this.#opening;
    this.#opening = undefined;
    this.#makeContext(number, parent, opening?.definition ?? this.definition, opening?.bus);
  }

  #deliver(
    event: TurnEvent,
    own: Bus<TurnEvents> | undefined,
    bus: Bus<TurnEvents> | undefined,
    tapped: boolean,
  ): void {
    const outer = this.#thrown;
    this.#thrown = undefined;
    this.#delivering++;
    own?.deliver(event, this.#failed);
    bus?.deliver(event, this.#failed);
    if (tapped) this.#tap!(event);
    this.#delivering--;
    const failures = this.#thrown as unknown[] | undefined;
    this.#thrown = outer;
    // The report follows the event: all listeners hear the event first.
    if (failures !== undefined) for (const cause of failures) reportFailure(this, cause, event);
  }

  /** Takes a listener's error. After the event's delivery it is reported at once. */
  readonly #failed = (cause: unknown, event: TurnEvent): void => {
    if (this.#delivering > 0) (this.#thrown ??= []).push(cause);
    else reportFailure(this, cause, event);
  };

  #tick(due: number): void {
    this.#timer = undefined;
    if (this.ended || !this.core.alive) return;
    // Trust the timer: the clock may be coarse or stand still.
    this.#elapsed = Math.max(this.elapsed(), due);
    this.watch.ticking = false; // the module asks again if it wants another tick
    const enc = this.core.frame();
    writeTick(enc, { turn: this.number, elapsed: this.elapsed() });
    this.core.sendAndDrain(this, enc);
  }

  #refusePending(cause: unknown): void {
    const late = TurncoreError.of('E_CALL_AFTER_END', 'the turn has ended', { cause });
    for (let call = this.core.calling; call !== undefined; call = call.outer) {
      if (call.turn === this && !call.done) call.settle(true, late);
    }
    for (const pending of this.#pending.values()) pending.settle(true, late);
    this.#pending.clear();
  }

  #close(outcome: Outcome): void {
    this.ended = true;
    for (const state of this.contexts) if (state !== undefined) state.ended = true;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.watch.close();
    this.#unfollow?.();
    this.edits.close();
    if (this.requests !== undefined) for (const request of this.requests.values()) request.cancel();
    this.requests = undefined;
    this.kept = undefined;
    if (this.core.calling !== undefined || this.#pending.size > 0)
      this.#refusePending(outcome.error);
    this.core.closed(this);
    this.#finish(outcome);
  }
}
