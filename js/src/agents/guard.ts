/**
 * Holds the turns of an agent to its grant: counts what comes out of the module, aborts a turn that exceeds its quota,
 * and cuts its log. It sits between the instance and what runs turns on it, which knows nothing of it.
 */
import { EffectKind, EventKind, Op, Status, SyncKind } from '../abi/frames.gen.js';
import { joined } from '../bytes.js';
import { Decoder } from '../codec/decoder.js';
import type { ErrorValue, EventFrame, OutboundFrame } from '../codec/tuples.gen.js';
import type { TurncoreError } from '../errors.js';
import type { Instance } from '../instance/instance.js';
import type { StepRecorder } from '../journal/writer.js';
import { agentError } from '../agent-errors.js';
import type { Refusable } from '../turn/effects.js';
import { BOUNDS } from './asks.js';
import type { AgentQuota } from './manifest.js';

/** What a turn has used. */
interface Usage extends Record<(typeof BOUNDS)[number], number> {
  readonly id: string;
  /** Bytes of log. */
  logged: number;
  /** Rejects with the limit that is exceeded. */
  refusal: Promise<never> | undefined;
}

/** What a turn may use beyond twice its quota, after it was aborted for it: the end takes some steps and frames. */
const SPARE = 1000;

/** Ops of the frames that belong to a turn, whose number follows. */
const OF_TURNS: ReadonlySet<number> = new Set([
  Op.StartTurn,
  Op.Call,
  Op.Edit,
  Op.Result,
  Op.Chunk,
  Op.Abort,
  Op.Tick,
]);

/** What went into an instance in its last step, and came out. */
interface Step {
  /** What the host handed over. */
  readonly given: Uint8Array;
  readonly in: Uint8Array;
  readonly out: Uint8Array;
}

/** Holds the turns of one agent. */
export class Guard {
  readonly #quota: Readonly<Required<AgentQuota>>;
  readonly #log: number;
  readonly #steps = new WeakMap<Instance, Step>();
  /** What aborts the running turns, by their ids. */
  readonly #aborters = new Map<string, AbortController>();

  /** @param log bytes of log that are passed on of each turn */
  constructor(quota: Readonly<Required<AgentQuota>>, log: number) {
    this.#quota = quota;
    this.#log = log;
  }

  /** How the frames that open runners are completed; undefined if they stay as they are. */
  complete: ((batch: Uint8Array) => Uint8Array) | undefined;

  /** A turn is about to begin. @returns what is to be called when it has ended */
  enter(id: string, controller: AbortController): () => void {
    if (this.#aborters.has(id)) return () => undefined;
    this.#aborters.set(id, controller);
    return () => this.#aborters.delete(id);
  }

  /** Watches over an instance. @returns it */
  watch(instance: Instance): Instance {
    const turns = new Map<number, Usage>();
    let usage: Usage | undefined;
    const step = instance.step.bind(instance);
    const decode = instance.decode.bind(instance);
    instance.step = (batch) => {
      usage = turnOf(batch, turns);
      const opens = this.complete !== undefined && new Decoder(batch).op() === Op.OpenRunner;
      const fed = opens ? this.complete!(batch) : batch;
      const out = step(fed);
      this.#steps.set(instance, { given: batch, in: fed, out });
      if (usage !== undefined) {
        usage.steps++;
        usage.bytes += out.length;
        if (out.length === 0) this.#enforce(instance, usage, []);
      }
      return out;
    };
    instance.decode = (out, offsets = []) => {
      const frames = decode(out, offsets);
      if (usage === undefined) return frames;
      const kept = this.#count(usage, frames, offsets, out.length);
      const end = kept.find((frame) => frame.op === Op.End);
      if (end === undefined) {
        this.#enforce(instance, usage, kept);
        return kept;
      }
      turns.delete(end.turn);
      return this.#cut(usage, end.status, kept, offsets);
    };
    return instance;
  }

  /** A recorder that is told of what the module gets and sends, and not of what its host hands over and is passed on. */
  recorder(instance: Instance, inner: StepRecorder): StepRecorder {
    return {
      step: (inbound, outbound) => {
        const last = this.#steps.get(instance);
        if (last?.given === inbound) inner.step(last.in, last.out);
        else inner.step(this.#completed(inbound), outbound);
      },
      close: () => inner.close(),
    };
  }

  /** What a journal has beside steps: a runner that was opened before its turn, which a greeting may precede. */
  #completed(batch: Uint8Array): Uint8Array {
    const op = opOf(batch);
    if (this.complete === undefined || (op !== Op.Hello && op !== Op.OpenRunner)) return batch;
    const d = new Decoder(batch);
    const parts: Uint8Array[] = [];
    while (d.position < batch.length) {
      const start = d.position;
      d.value();
      const frame = batch.subarray(start, d.position);
      parts.push(opOf(frame) === Op.OpenRunner ? this.complete(frame) : frame);
    }
    return joined(parts);
  }

  /** Counts frames, and leaves out of them and of their offsets what is not passed on. */
  #count(usage: Usage, frames: OutboundFrame[], offsets: number[], end: number): OutboundFrame[] {
    usage.frames += frames.length;
    const starts = [...offsets];
    const kept: OutboundFrame[] = [];
    offsets.length = 0;
    frames.forEach((frame, i) => {
      const start = starts[i]!;
      const passed =
        frame.op === Op.Event ? this.#event(usage, frame, (starts[i + 1] ?? end) - start) : frame;
      if (frame.op === Op.Effect) usage.effects++;
      if (passed === undefined) return;
      kept.push(passed);
      offsets.push(start);
    });
    return kept;
  }

  /** Counts an event of so many bytes. @returns what is passed on of it */
  #event(usage: Usage, frame: EventFrame, size: number): EventFrame | undefined {
    if (frame.kind === EventKind.GenerationStats) usage.tokens += tokensOf(frame.payload.stats);
    if (frame.kind !== EventKind.Log) return frame;
    const full = usage.logged > this.#log;
    usage.logged += size;
    if (full) return undefined;
    if (usage.logged <= this.#log) return frame;
    const message = `the log of this turn is cut: its grant allows ${this.#log} bytes`;
    const payload = {
      level: frame.payload.level,
      kind: 'cut',
      message,
      hasPayload: false,
      payload: null,
    };
    return { ...frame, payload };
  }

  /**
   * Aborts a turn whose last step exceeds its quota, as if it had kept to it: nothing of the step is told but what
   * begins and ends.
   */
  #cut(usage: Usage, status: number, step: OutboundFrame[], offsets: number[]): OutboundFrame[] {
    const error = this.#exceeded(usage);
    const before = usage.refusal !== undefined;
    if (error === undefined || status === Status.Refused) return step;
    if (before && status !== Status.Ack && this.#ignored(usage) === undefined) return step;
    usage.refusal ??= this.#refusal(usage);
    const starts = [...offsets];
    const kept: OutboundFrame[] = [];
    offsets.length = 0;
    step.forEach((frame, i) => {
      const told = abridged(frame, error);
      if (told === undefined) return;
      kept.push(told);
      offsets.push(starts[i]!);
    });
    return kept;
  }

  /** The bound that a turn exceeds long after it was aborted for its quota. */
  #ignored(usage: Usage): (typeof BOUNDS)[number] | undefined {
    return BOUNDS.find((name) => usage[name] > 2 * this.#quota[name] + SPARE);
  }

  /** Aborts a turn that has exceeded its quota. No effect of the step that exceeded it starts: all of them are refused. */
  #enforce(instance: Instance, usage: Usage, step: OutboundFrame[]): void {
    const name = this.#ignored(usage);
    if (name !== undefined) {
      throw instance.fail(
        `the turn was aborted for its quota of ${name}, and goes on beyond twice that`,
      );
    }
    usage.refusal ??= this.#refusal(usage);
    const { refusal: refused } = usage;
    if (refused === undefined) return;
    step.forEach((frame, i) => {
      // What ends an iteration runs in any case.
      if (frame.op === Op.Effect && frame.kind !== EffectKind.Discard) {
        step[i] = { ...frame, refused: () => refused } as Refusable;
      }
    });
  }

  /** Aborts a turn if it has exceeded its quota. @returns what rejects with the limit, when it is aborted */
  #refusal(usage: Usage): Promise<never> | undefined {
    const error = this.#exceeded(usage);
    if (error === undefined) return undefined;
    const refusal = new Promise<never>((_, reject) => {
      // No step may begin within a step.
      queueMicrotask(() => {
        this.#aborters.get(usage.id)?.abort(error);
        reject(error);
      });
    });
    refusal.catch(() => undefined); // there may be nothing to refuse
    return refusal;
  }

  #exceeded(usage: Usage): TurncoreError | undefined {
    const name = BOUNDS.find((bound) => usage[bound] > this.#quota[bound]);
    if (name === undefined) return undefined;
    const most = this.#quota[name];
    return agentError('E_AGENT_LIMIT', `more than ${most} ${name}`, {
      details: { limit: name, most },
    });
  }
}

/** What a last step that is cut tells of a frame, undefined for nothing. */
function abridged(frame: OutboundFrame, error: TurncoreError): OutboundFrame | undefined {
  switch (frame.op) {
    case Op.Event:
      return abridgedEvent(frame);
    case Op.Sync:
      return frame.sync === SyncKind.Signal ? undefined : frame;
    case Op.Reply:
    case Op.Effect:
      return undefined;
    case Op.End:
      return { ...frame, status: Status.Aborted, error: valueOf(error) };
    default:
      return frame;
  }
}

/** An error as a frame has it. */
function valueOf({ code, message, status, fatal, details }: TurncoreError): ErrorValue {
  const rest = { handle: 0, name: '', abort: true, cause: null, suppressed: [] };
  return { ...rest, code, message, status, fatal, details };
}

function abridgedEvent(frame: EventFrame): EventFrame | undefined {
  const status = Status.Aborted;
  switch (frame.kind) {
    case EventKind.TurnStart:
    case EventKind.DispatchStart:
    case EventKind.IterationStart:
      return frame;
    case EventKind.TurnEnd:
      return { ...frame, payload: { ...frame.payload, status, error: null } };
    case EventKind.DispatchEnd:
      return { ...frame, payload: { ...frame.payload, status, error: null } };
    case EventKind.IterationEnd:
      return { ...frame, payload: { ...frame.payload, status, discarded: [] } };
    default:
      return undefined;
  }
}

/** The op of the first frame of a batch. */
function opOf(batch: Uint8Array): number {
  return new Decoder(batch).op();
}

/** The bits of a frame's first byte that say how many elements it has. */
const SIZE = 0x0f;

/** The turn that a batch is of; undefined for none. */
function turnOf(batch: Uint8Array, turns: Map<number, Usage>): Usage | undefined {
  const d = new Decoder(batch);
  const op = d.op();
  if (!OF_TURNS.has(op)) return undefined;
  d.tuple('frame', batch[0]! & SIZE);
  d.u8();
  const number = d.u32();
  if (op !== Op.StartTurn) return turns.get(number);
  const [, , , , id] = [d.value(), d.value(), d.value(), d.value(), d.value()];
  const usage: Usage = {
    id: id as string,
    steps: 0,
    frames: 0,
    effects: 0,
    bytes: 0,
    tokens: 0,
    logged: 0,
    refusal: undefined,
  };
  turns.set(number, usage);
  return usage;
}

/** What counts at most of a number of tokens that is reported. */
const MAX_TOKENS = 2 ** 50;

/** The tokens of an answer, as the module reports them. */
function tokensOf(stats: unknown): number {
  if (typeof stats !== 'object' || stats === null) return 0;
  const { promptTokens, completionTokens } = stats as Readonly<Record<string, unknown>>;
  return [promptTokens, completionTokens].reduce<number>(
    (sum, n) =>
      sum + (typeof n === 'number' ? Math.min(Math.max(Math.trunc(n), 0), MAX_TOKENS) : 0),
    0,
  );
}
