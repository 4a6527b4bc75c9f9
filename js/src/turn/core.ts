/**
 * The core of one instance: frames in, frames out, in order.
 *
 * The core reads the module's frames, changes collections at once, and puts everything else into one queue. Whoever
 * steps drains the queue from its head: up to the reply if the call is answered in its step, otherwise to the end. So
 * an event is delivered before the call that caused it returns, and the calls of listeners keep their order. Effects
 * start in a microtask.
 */
import { Collection, EditKind, Method, Op } from '../abi/frames.gen.js';
import {
  type EffectFrame,
  type ErrorValue,
  type FaultFrame,
  type OutboundFrame,
  type WelcomeFrame,
  writeCall,
  writeCloseRunner,
  writeEdit,
  writeReply,
  writeToolDef,
} from '../codec/tuples.gen.js';
import { CodecError, type Decoder, valueOf, wrongFrame } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import type { Instance } from '../instance/instance.js';
import type { Clock } from '../entropy.js';
import { messageOf, TurncoreError } from '../errors.js';
import { framesOfTurn } from '../journal/format.js';
import type { StepRecorder } from '../journal/writer.js';
import type { Message } from '../primitives/message.js';
import { toolDef } from '../tools/tool-def.js';
import { type AnyTool, writeArguments } from '../tools/tool.js';
import type { MakeFacade } from './context-state.js';
import type { OpenCore, OpenTurn } from './contract.js';
import { isLoaded, runEffect } from './effects.js';
import { loadLateEffects } from './late.js';
import { HistoryUploads } from './history-uploads.js';
import { PendingCall } from './pending-call.js';
import type { Definition } from './definition.js';
import { encodeOpenRunner } from './open-runner.js';
import { Turn } from './turn.js';
import type { TurnSetup } from './turn-setup.js';
import { encodeStart, refusedStart } from './start-turn.js';

/** What a core needs of its host. */
export interface CoreHost {
  readonly clock: Clock;
  /** Called once, when the instance has died. */
  readonly died: (core: Core) => void;
  /** Makes the context object for user code. */
  readonly facade: MakeFacade;
  /** Compares mirrored collections with the module's after each step, and tells the difference. For tests. */
  readonly verify: ((turn: Turn, instance: Instance) => string | undefined) | undefined;
}

/** The queue's entry for the death of the instance. */
const DEAD = Object.freeze({ op: 0, turn: 0 });

/** An entry of the queue. */
type Queued = typeof DEAD | Exclude<OutboundFrame, WelcomeFrame | FaultFrame>;

/** Writes the frame that opens a runner. */
type WriteOpen<Key> = (enc: Encoder, runner: number, call: number, key: Key) => void;

/** Runs functions in a microtask, at less cost in Node than `queueMicrotask`. */
const soon = Promise.resolve();

/** Bytes kept free in a batch for the frame behind the edits. */
const ROOM = 4096;

/** Bytes of memory that a turn needs for each byte that it is started with: the module copies and sends them. */
const NEED = 26;

/** What part of an instance's memory is there for that. */
const SHARE = 0.9;

/** Runs one instance. */
export class Core implements OpenCore {
  readonly instance: Instance;
  readonly clock: Clock;
  readonly #host: CoreHost;
  readonly #turns = new Map<number, Turn>();
  readonly #runners = new WeakMap<object, number>();
  readonly #encoders: Encoder[] = [];
  readonly #batch = new Encoder(1 << 16);
  readonly #histories: HistoryUploads;
  #queue: Queued[] = [];
  #head = 0;
  #starting: EffectFrame[] = [];
  /** The innermost call that is answered in its step. */
  calling: PendingCall | undefined;
  /** Bytes of memory that the running turns need for what they were started with. */
  #needed = 0;
  /** The turn that got the last frame. */
  #recent: Turn | undefined;
  /** The number of the last turn. */
  lastTurn = 0;
  #lastRunner = 0;
  #lastCall = 0;
  #failure: TurncoreError | undefined;
  /** The innermost call outside of turns. */
  #asked: PendingCall | undefined;
  /** Closes runners that nobody has any more. Some hosts do not tell. */
  readonly #gone =
    globalThis.FinalizationRegistry &&
    new FinalizationRegistry<object>((twin) => this.closeRunner(twin));

  constructor(instance: Instance, host: CoreHost) {
    this.instance = instance;
    this.clock = host.clock;
    this.#host = host;
    this.#histories = new HistoryUploads(instance);
  }

  /** False once the instance has died. */
  get alive(): boolean {
    return this.#failure === undefined;
  }

  /** Turns that run. */
  get turns(): number {
    return this.#turns.size;
  }

  /** An empty encoder for one frame. {@link send} takes it back. */
  frame(): Encoder {
    const enc = this.#encoders.pop() ?? new Encoder(1024);
    enc.reset();
    return enc;
  }

  /**
   * Sends a frame of a turn, behind the edits that the module has not heard of, and queues what comes back.
   *
   * @returns the error of a frame that the module could not take
   * @throws TurncoreError E_INSTANCE_FAILED, and E_ABI_LIMIT_EXCEEDED for a frame that is too large
   */
  send(turn: Turn | undefined, enc: Encoder): TurncoreError | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    let batch = enc;
    if (turn?.edits.pending === true) batch = this.#withEdits(turn, enc);
    const fault = this.#step(batch.bytes(), turn);
    this.#encoders.push(enc);
    if (fault === undefined) {
      const difference = turn && this.#host.verify?.(turn, this.instance);
      if (difference !== undefined) throw this.fail(difference);
      return undefined;
    }
    // Without an edit the module lacks a change that the host has made: from here on they disagree about the turn.
    if (fault.offset < batch.length - enc.length) throw this.#refusedEdit(fault);
    return errorOf(fault);
  }

  /** Sends a frame that nobody waits for and delivers what comes back. A failure ends the instance. */
  sendAndDrain(turn: Turn, enc: Encoder): void {
    try {
      const fault = this.send(turn, enc);
      if (fault !== undefined) this.fail(`refused frame: ${fault.message}`, fault);
      this.drain(turn);
    } catch (error) {
      if (this.alive) this.fail(`frame that cannot be delivered: ${messageOf(error)}`, error);
    }
  }

  /** Delivers the whole queue after a step of a turn. Ends an instance that has lost the turn. */
  drain(turn?: OpenTurn): void {
    while (this.#head < this.#queue.length) this.#deliver(this.#next());
    if (turn?.isLost() === true) this.fail('the turn waits for nothing');
  }

  /** Delivers the queue until something has happened. @throws TurncoreError if it never does */
  drainUntil(waiting: { readonly done: boolean }): void {
    while (!waiting.done) {
      if (this.#head >= this.#queue.length) {
        throw this.#failure ?? this.fail('a call was not answered');
      }
      this.#deliver(this.#next());
    }
  }

  /** Reads what the module sent as a byte string. @throws CodecError */
  read<T>(bytes: Uint8Array, read: (d: Decoder) => T): T {
    return valueOf(read, bytes, this.instance.limits);
  }

  /**
   * Starts a turn or standalone dispatch. Its first events are delivered before this returns.
   *
   * @param message a user message to store before the input pipeline
   * @param prepare called with the turn before the module hears of it
   */
  start(
    input: TurnSetup,
    seed: Uint8Array,
    message: Message | undefined,
    record: ((core: Core, number: number) => StepRecorder | undefined) | undefined,
    prepare?: (turn: Turn) => void,
  ): Turn {
    const { definition, standalone } = input;
    const runner = standalone ? this.openRunner(definition) : this.keepRunner(definition);
    const turn = new Turn(this, ++this.lastTurn, input, this.#host.facade);
    try {
      turn.recorder = record?.(this, turn.number);
      this.recordRunner(turn, definition, true);
      const enc = this.frame();
      encodeStart(enc, turn, runner, seed, input, message);
      this.admit(turn, NEED * enc.length);
      this.run(turn, enc, prepare);
    } catch (error) {
      turn.discard();
      throw refusedStart(error, input, message);
    }
    return turn;
  }

  /**
   * Takes memory for what a turn is started with. The module would die of too little, with all of its turns.
   *
   * @throws TurncoreError E_TURN_QUOTA_EXCEEDED for more than there is
   */
  admit(turn: Turn, bytes: number): void {
    const max = Math.trunc(this.instance.maxMemory * SHARE);
    const actual = this.#needed + bytes;
    if (actual > max) {
      const others = this.#needed > 0 ? ', with the turns that run,' : '';
      throw TurncoreError.of(
        'E_TURN_QUOTA_EXCEEDED',
        `what it begins with may take ${actual} bytes of memory${others} of the ${max} that maxMemory leaves for that`,
        { details: { limit: 'maxMemory', max, actual } },
      );
    }
    this.#needed = actual;
    turn.needs = bytes;
  }

  /** Runs a turn whose first frame is written. @throws the refusal */
  run(turn: Turn, enc: Encoder, prepare?: (turn: Turn) => void): void {
    this.#turns.set(turn.number, turn);
    try {
      prepare?.(turn);
      const fault = this.send(turn, enc);
      if (fault !== undefined) throw fault;
    } catch (error) {
      if (this.alive) this.closed(turn);
      throw error;
    }
    this.drain(turn);
  }

  /**
   * The number of a runner, which is opened if necessary. Who opens it closes it.
   *
   * @throws TurncoreError if the module refuses it, because of a tool's schema for example
   */
  openRunner(definition: Definition): number;
  /** The same for what has a frame of its own. */
  openRunner<Key extends object>(key: Key, write: WriteOpen<Key>): number;
  openRunner(key: object, write: WriteOpen<never> = encodeOpenRunner): number {
    const open = this.#runners.get(key);
    if (open !== undefined) return open;
    const runner = ++this.#lastRunner;
    this.ask((enc, call) => write(enc, runner, call, key as never));
    this.#runners.set(key, runner);
    return runner;
  }

  /** The same for a runner that is closed when no code refers to its key any more. */
  keepRunner(definition: Definition): number;
  keepRunner<Key extends object>(key: Key, write: WriteOpen<Key>): number;
  keepRunner(key: object, write?: WriteOpen<never>): number {
    const last = this.#lastRunner;
    const runner = this.openRunner(key as never, write!);
    if (runner > last) {
      const twin = {};
      this.#runners.set(twin, runner);
      this.#gone?.register(key, twin);
    }
    return runner;
  }

  /** Sends a frame outside of turns, which is answered in its step. @throws the refusal */
  ask(write: (enc: Encoder, call: number) => void): unknown {
    const call = ++this.#lastCall;
    const enc = this.frame();
    write(enc, call);
    const outer = this.#asked;
    const asked = new PendingCall(this, call, outer);
    this.#asked = asked;
    try {
      const fault = this.send(undefined, enc);
      if (fault !== undefined) throw fault;
      this.drainUntil(asked);
    } finally {
      this.#asked = outer;
    }
    if (asked.failed) throw asked.value;
    return asked.value;
  }

  /**
   * Records a runner in a turn's journal, whose next frames name it.
   *
   * @param first whether the journal begins with it
   */
  recordRunner(
    turn: Turn,
    definition: object,
    first = false,
    write: WriteOpen<never> = encodeOpenRunner,
  ): void {
    if (turn.recorder === undefined) return;
    const enc = this.frame();
    if (first) enc.raw(this.instance.hello);
    const call = ++this.#lastCall;
    write(enc, this.#runners.get(definition)!, call, definition as never);
    const reply = this.frame();
    if (first) reply.raw(this.instance.welcome);
    writeReply(reply, { turn: 0, call, error: null, value: null });
    turn.recorder.step(enc.copy(), reply.copy());
    this.#encoders.push(enc, reply);
  }

  /** Forgets a runner. If that ends the instance, its turns hear of it. */
  closeRunner(definition: object): void {
    const runner = this.#runners.get(definition);
    this.#runners.delete(definition);
    if (runner === undefined) return;
    const enc = this.frame();
    writeCloseRunner(enc, { runner });
    try {
      this.send(undefined, enc);
    } catch {
      // its turns have heard
    }
  }

  /** Defines a tool in a turn. @throws TurncoreError for a schema that the module does not support */
  defineTool(turn: Turn, number: number, tool: AnyTool): void {
    const enc = this.frame();
    writeEdit(enc, {
      turn: turn.number,
      context: 0,
      collection: Collection.Tools,
      edit: EditKind.Define,
      handle: number,
      other: 0,
      count: 1,
      history: 0,
      data: (e) => writeToolDef(e, toolDef(number, tool)),
    });
    const fault = this.#step(enc.bytes(), turn);
    this.#encoders.push(enc);
    if (fault !== undefined) throw errorOf(fault);
  }

  /**
   * Checks arguments against a tool's schema, outside of any turn, and returns them with its defaults.
   *
   * @throws TurncoreError E_INVALID_TOOL_ARGS, E_INVALID_INITIAL_TOOL_VALUE
   */
  validate(tool: AnyTool, args: unknown): unknown {
    return this.ask((enc, call) =>
      writeCall(enc, {
        turn: 0,
        call,
        elapsed: 0,
        context: 0,
        method: Method.Validate,
        args: { tool: toolDef(1, tool), args: writeArguments(args) },
      }),
    );
  }

  /** A turn has ended. */
  closed(turn: Turn): void {
    this.#turns.delete(turn.number);
    this.#needed -= turn.needs;
    turn.needs = 0;
    if (this.#recent === turn) this.#recent = undefined;
  }

  /** Retires the instance. Its turns end as failed, behind everything that is queued. */
  fail(reason: string, cause?: unknown): TurncoreError {
    if (this.#failure === undefined) {
      const failure = this.instance.fail(reason, cause);
      this.#failure = failure;
      this.#host.died(this);
      this.#queue.push(DEAD);
      this.drain();
    }
    return this.#failure;
  }

  /** Encodes a turn's edits in front of a frame. Edits that do not fit the batch go in steps of their own. */
  #withEdits(turn: Turn, enc: Encoder): Encoder {
    const batch = this.#batch;
    const limit = this.instance.limits.frame - enc.length - ROOM;
    for (;;) {
      batch.reset();
      const all = turn.edits.encode(batch, turn.number, limit, this.#histories);
      this.#histories.record(turn.recorder);
      if (all) break;
      this.#stepEdits(turn, batch);
    }
    if (batch.length > limit) {
      this.#stepEdits(turn, batch);
      return enc;
    }
    batch.raw(enc.bytes());
    return batch;
  }

  #stepEdits(turn: Turn, batch: Encoder): void {
    const fault = this.#step(batch.bytes(), turn);
    if (fault !== undefined) throw this.#refusedEdit(fault);
  }

  #refusedEdit(fault: FaultFrame): TurncoreError {
    return this.fail(`refused edit: ${fault.message}`, errorOf(fault));
  }

  /** Steps, applies the changes that come back and queues the rest. */
  #step(batch: Uint8Array, turn: Turn | undefined): FaultFrame | undefined {
    let out: Uint8Array;
    try {
      out = this.instance.step(batch);
    } catch (error) {
      if (this.instance.alive) throw error;
      throw this.fail(messageOf(error), error);
    }
    const recorder = turn?.recorder;
    if (out.length === 0) {
      recorder?.step(batch, out);
      return undefined;
    }
    try {
      const offsets: number[] | undefined = recorder === undefined ? undefined : [];
      const frames = this.instance.decode(out, offsets);
      // A step takes the frames of one turn, and only that turn answers.
      recorder?.step(batch, framesOfTurn(out, frames, offsets!, turn!.number));
      return this.#take(frames, turn);
    } catch (error) {
      if (error instanceof CodecError || !this.instance.alive) {
        throw this.fail(`malformed frame: ${messageOf(error)}`, error);
      }
      throw error;
    }
  }

  #take(frames: readonly OutboundFrame[], turn: Turn | undefined): FaultFrame | undefined {
    let fault: FaultFrame | undefined;
    for (const frame of frames) {
      if (frame.op === Op.Fault) {
        fault = frame;
        continue;
      }
      if (frame.op === Op.Welcome) throw wrongFrame('a second Welcome');
      requireOwn(frame, turn);
      if (frame.op !== Op.Sync) turn?.note(frame);
      else if (turn?.sync(frame) === false) continue;
      this.#queue.push(frame);
    }
    return fault;
  }

  #next(): Queued {
    const frame = this.#queue[this.#head++]!;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    return frame;
  }

  #deliver(frame: Queued): void {
    if (frame.op === 0) {
      for (const turn of [...this.#turns.values()]) turn.fail(this.#failure!);
      return;
    }
    const turn = this.#turnOf(frame.turn);
    try {
      if (turn === undefined) this.#deliverOther(frame);
      else this.#deliverTo(turn, frame);
    } catch (error) {
      // Errors of user code are caught where it is called. Without its frame the turn would wait for ever.
      this.fail(`frame that cannot be delivered: ${messageOf(error)}`, error);
    }
  }

  #turnOf(number: number): Turn | undefined {
    if (this.#recent?.number !== number) this.#recent = this.#turns.get(number);
    return this.#recent;
  }

  #deliverTo(turn: Turn, frame: Exclude<Queued, typeof DEAD>): void {
    switch (frame.op) {
      case Op.Event:
        turn.event(frame);
        return;
      case Op.Reply:
        turn.reply(frame);
        return;
      case Op.Effect:
        if (this.#starting.push(frame) === 1) void soon.then(this.#startEffects);
        return;
      case Op.Cancel:
        turn.requests?.get(frame.effect)?.cancel();
        return;
      case Op.Timer:
        turn.timer(frame.due);
        return;
      case Op.Sync:
        turn.synced(frame);
        return;
      case Op.End:
        turn.end(frame);
    }
  }

  /** Takes frames outside of running turns: replies to calls outside of turns, and late frames. */
  #deliverOther(frame: Exclude<Queued, typeof DEAD>): void {
    if (frame.op !== Op.Reply || frame.turn !== 0) return;
    const { call, error, value } = frame;
    const asked = this.#asked?.find(this, call);
    if (error === null) asked?.settle(false, value);
    else asked?.settle(true, refusal(error));
  }

  readonly #startEffects = (): void => {
    const frames = this.#starting;
    this.#starting = [];
    if (frames.every(({ kind }) => isLoaded(kind))) this.#run(frames);
    else void this.#startLater(frames);
  };

  /** Loads what the effects run first: a runner without tools got one in a turn. */
  async #startLater(frames: readonly EffectFrame[]): Promise<void> {
    let failing: (() => never) | undefined;
    try {
      await loadLateEffects();
    } catch (error) {
      failing = () => {
        throw error;
      };
    }
    this.#run(frames, failing);
  }

  #run(frames: readonly EffectFrame[], instead?: () => never): void {
    for (const frame of frames) {
      const turn = this.#turns.get(frame.turn);
      if (turn === undefined) continue;
      try {
        runEffect(turn, frame, instead);
      } catch (error) {
        this.fail(`effect that cannot be delivered: ${messageOf(error)}`, error);
      }
    }
  }
}

/** A step of a turn must answer with frames of that turn only. @throws CodecError */
function requireOwn(
  frame: Exclude<OutboundFrame, WelcomeFrame | FaultFrame>,
  turn: Turn | undefined,
): void {
  const number = turn?.number ?? 0;
  if (frame.turn !== number) {
    const text = `a frame of turn ${frame.turn} came in answer to those of turn ${number}`;
    throw wrongFrame(text);
  }
  // A call may have crossed with the end.
  if (turn?.watch.over === true && frame.op !== Op.Reply) {
    throw wrongFrame(`a frame came after the end of turn ${number}`);
  }
}

/** The error of a refused frame. */
function errorOf({ code, message }: FaultFrame): TurncoreError {
  return new TurncoreError(code, message);
}

/** The error of a refused call outside of turns. */
function refusal({ code, message, details }: ErrorValue): TurncoreError {
  return new TurncoreError(code, message, { details: details ?? undefined });
}
