/**
 * Offers a runner of a worker to the page that made it.
 */
import type { Awaitable } from '../awaitable.js';
import type { DispatchContext } from '../context/dispatch-context.js';
import { invalidValue, TurncoreError } from '../errors.js';
import type { TurnEvent, TurnGate } from '../events/events.js';
import type { TurnInput, TurnRunner } from '../runners/turn-runner.js';
import type { TurnStream } from '../runners/turn-stream.js';
import { type AnyTool, Tool } from '../tools/tool.js';
import { mediaOf } from './attachment-form.js';
import { listen, locksOf, ownChannel, requireChannel, type WorkerChannel } from './channel.js';
import { Packer, type Refusals, send, Unpacker } from './cloning.js';
import { formOf } from './event-form.js';
import {
  type AgentForm,
  type Greeting,
  type PageMessage,
  type PageToolForm,
  PROTOCOL,
  type ServerMessage,
} from './protocol.js';

/** Makes the runner of a worker. @param tools those of the page, for the runner's `tools` */
export type MakeRunner = (tools: readonly AnyTool[]) => Awaitable<TurnRunner>;

/** Events in one message at most: the page reads it in one task. */
const BATCH = 64;

/** The channels that a runner is offered on. */
const served = new WeakSet<WorkerChannel>();

/**
 * Offers a runner of this worker to the page: its `createWorkerRunner` runs turns on it. Call it once, when the worker
 * starts.
 *
 * @example
 * serveRunner(createRunner({ model }));
 *
 * @example
 * serveRunner((pageTools) => createRunner({ model, tools: [search, ...pageTools] }));
 *
 * @param runner the runner, or a function that makes it with the tools of the page
 * @param channel the way to the page. Default: that of a dedicated worker, or of a worker of Node
 * @throws TurncoreError E_INVALID_VALUE naming the argument
 */
export function serveRunner(
  runner: TurnRunner | MakeRunner,
  channel: WorkerChannel = ownChannel(),
): void {
  if (typeof runner !== 'function') requireRunner(runner);
  const make = (tools: readonly AnyTool[], agent: AgentForm | undefined): Awaitable<TurnRunner> => {
    if (agent !== undefined) {
      throw TurncoreError.of('E_WORKER_FAILED', 'loadAgent needs a worker that calls serveAgent');
    }
    if (typeof runner === 'function') return runner(tools);
    if (tools.length === 0) return runner;
    const names = tools.map(({ name }) => name).join(', ');
    throw invalidValue(
      'tools',
      `serveRunner needs a function that takes the page's tools: ${names}`,
    );
  };
  serve(make, channel);
}

/** Makes the runner that a page asks for. @param agent that the page wants to be loaded; undefined for none */
type MakeAny = (tools: readonly AnyTool[], agent: AgentForm | undefined) => Awaitable<TurnRunner>;

/** @internal Offers what a function makes to the page. @throws TurncoreError E_INVALID_VALUE naming the argument */
export function serve(runner: MakeAny, channel: WorkerChannel): void {
  requireChannel(channel, 'channel');
  if (served.has(channel)) throw invalidValue('channel', 'offers a runner already');
  served.add(channel);
  const say = (greeting: Greeting): void => channel.postMessage(greeting, []);
  listen(channel, 'message', (data) => {
    const greeting = (data ?? {}) as Partial<Greeting>;
    if (greeting.turncore === 'who') say({ turncore: 'ready' });
    if (greeting.turncore === 'hello') void new Service(greeting as Hello).open(runner);
  });
  channel.start?.();
  say({ turncore: 'ready' });
}

type Hello = Extract<Greeting, { turncore: 'hello' }>;

/** @throws TurncoreError E_INVALID_VALUE unless a value is a runner */
function requireRunner(runner: unknown): TurnRunner {
  if (typeof (runner as Partial<TurnRunner> | null | undefined)?.stream === 'function') {
    return runner as TurnRunner;
  }
  throw invalidValue('runner', 'must be a runner, or a function that makes one');
}

/** A turn of the page. */
interface ServedTurn {
  readonly id: string;
  readonly controller: AbortController;
  readonly stream: TurnStream;
  readonly packer: Packer;
  /** The gates of the turn, by their ids. */
  readonly gates: Map<string, TurnGate>;
  /** Place of the event that is sent next. */
  next: number;
}

/** A call that the page has not answered. */
interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Serves one page. */
class Service {
  readonly #hello: Hello;
  readonly #port: MessagePort;
  readonly #turns = new Map<number, ServedTurn>();
  readonly #calls = new Map<number, Pending>();
  #runner: TurnRunner | undefined;
  #release: () => void = () => undefined;
  #last = 0;
  #gone = false;

  constructor(hello: Hello) {
    this.#hello = hello;
    this.#port = hello.port;
  }

  /** Makes the runner and tells the page that it serves. */
  async open(runner: MakeAny): Promise<void> {
    const port = this.#port;
    port.addEventListener('message', ({ data }) => this.#receive(data as PageMessage));
    port.addEventListener('close', () => this.#close());
    port.start();
    try {
      this.#runner = await this.#make(runner);
      const locked = await this.#hold();
      this.#tell(() => ({ op: 'welcome', locked }));
    } catch (error) {
      this.#tell((packer, how) => ({ op: 'refused', error: packer.pack(error, 'error', how) }));
    }
  }

  async #make(runner: MakeAny): Promise<TurnRunner> {
    const { protocol, tools, agent } = this.#hello;
    if (protocol !== PROTOCOL) {
      const why = `the page has protocol ${protocol}, the worker ${PROTOCOL}: load the same version of turncore in both`;
      throw TurncoreError.of('E_WORKER_FAILED', why);
    }
    const made = runner(
      tools.map((form) => this.#toolOf(form)),
      agent,
    );
    return requireRunner(await made);
  }

  /** Holds the page's lock while the worker lives. @returns whether there are locks */
  #hold(): Promise<boolean> {
    const { lock } = this.#hello;
    const locks = locksOf();
    if (lock === undefined || locks === undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      const held = (): Promise<void> => {
        resolve(true);
        return new Promise((release) => (this.#release = release));
      };
      locks.request(lock, held).catch(() => resolve(false));
    });
  }

  /** The page has gone. */
  #close(): void {
    this.#gone = true;
    this.#release();
    const error = TurncoreError.of('E_WORKER_ENDED', 'the page has gone');
    for (const { controller, stream } of this.#turns.values()) {
      controller.abort(error);
      stream.abort();
    }
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }

  #receive(message: PageMessage): void {
    switch (message.op) {
      case 'start':
        this.#start(message);
        break;
      case 'abort': {
        const turn = this.#turns.get(message.turn);
        turn?.controller.abort(new Unpacker().unpack(message.reason));
        turn?.stream.abort();
        break;
      }
      case 'settle':
        this.#settle(message);
        break;
      case 'ping':
        this.#tell(() => ({ op: 'pong' }));
        break;
      case 'result':
        this.#answered(message.call)?.resolve(new Unpacker().unpack(message.value));
        break;
      case 'failed':
        this.#answered(message.call)?.reject(new Unpacker().unpack(message.error));
    }
  }

  #answered(call: number): Pending | undefined {
    const pending = this.#calls.get(call);
    this.#calls.delete(call);
    return pending;
  }

  #start(message: Extract<PageMessage, { op: 'start' }>): void {
    const { turn: number, attachments } = message;
    const input = new Unpacker().unpack(message.input) as TurnInput & { turnId: string };
    const controller = new AbortController();
    let stream: TurnStream;
    try {
      stream = this.#runner!.stream({
        ...input,
        ...(attachments && { attachments: attachments.map(mediaOf) }),
        turnAbortController: controller,
      });
    } catch (error) {
      this.#reject(number, error);
      return;
    }
    const gates = new Map<string, TurnGate>();
    const packer = new Packer();
    const turn = { id: input.turnId, controller, stream, packer, gates, next: 0 };
    this.#turns.set(number, turn);
    this.#follow(number, turn);
  }

  /** Sends the events of a turn as they come, and its end. */
  #follow(number: number, turn: ServedTurn): void {
    this.#flush(number, turn);
    const { log } = turn.stream;
    if (log.end === undefined) {
      // Events of one task share a message.
      log.onMore(() => queueMicrotask(() => this.#follow(number, turn)));
      return;
    }
    this.#turns.delete(number);
    const { status, iterations, error, object } = log.end;
    if (turn.next === 0 && status === 'failed') {
      this.#reject(number, error);
      return;
    }
    const end = { status, iterations, error, object };
    this.#tell(
      (packer, how) => ({ op: 'end', turn: number, end: packer.pack(end, 'result', how) }),
      turn.packer,
    );
  }

  /** The turn could not start. */
  #reject(turn: number, error: unknown): void {
    this.#tell((packer, how) => ({
      op: 'rejected',
      turn,
      error: packer.pack(error, 'error', how),
    }));
  }

  #flush(number: number, turn: ServedTurn): void {
    const { log } = turn.stream;
    for (;;) {
      const batch: TurnEvent[] = [];
      for (let event; batch.length < BATCH && (event = log.at(turn.next)) !== undefined;) {
        turn.next += 1;
        if (event.event === 'turnGateOpen') turn.gates.set(event.id, event);
        batch.push(event);
      }
      if (batch.length === 0) return;
      this.#tell(
        (packer, how) => ({
          op: 'events',
          turn: number,
          events: batch.map((event) => formOf(event, packer, how)),
        }),
        turn.packer,
      );
    }
  }

  /** Settles a gate. The page gets the gate's event before the answer. */
  #settle(message: Extract<PageMessage, { op: 'settle' }>): void {
    const { call, turnId, gateId, by, digest } = message;
    try {
      const value = new Unpacker().unpack(message.value);
      const [number, turn] = [...this.#turns].find(([, { id }]) => id === turnId) ?? [];
      const gate = turn?.gates.get(gateId);
      if (turn === undefined || gate === undefined) {
        throw TurncoreError.of('E_TURN_GATE_SETTLED', gateId);
      }
      if (by === 'resolve') gate.resolve(value, digest === '' ? undefined : { digest });
      else if (by === 'reject') gate.reject(value);
      else gate.abort();
      this.#flush(number!, turn);
      this.#tell(() => ({ op: 'result', call, value: { value: undefined } }));
    } catch (error) {
      this.#tell((packer, how) => ({
        op: 'failed',
        call,
        error: packer.pack(error, 'error', how),
      }));
    }
  }

  /** The tool whose handler runs in the page. */
  #toolOf(form: PageToolForm): AnyTool {
    const tool = new Tool({
      ...form,
      handler: (args, ctx) => this.#callPage(form.name, args, ctx),
    });
    return tool;
  }

  async #callPage(tool: string, args: unknown, ctx: DispatchContext): Promise<unknown> {
    const { abortSignal: signal, idempotencyKey: key = '' } = ctx;
    signal.throwIfAborted();
    if (this.#gone) throw TurncoreError.of('E_WORKER_ENDED', 'the page has gone');
    const call = ++this.#last;
    const cancel = (): void => {
      this.#tell((packer, how) => ({
        op: 'cancel',
        call,
        reason: packer.pack(signal.reason, 'reason', how),
      }));
    };
    signal.addEventListener('abort', cancel);
    try {
      return await new Promise((resolve, reject) => {
        this.#calls.set(call, { resolve, reject });
        this.#tell((packer, how) => ({
          op: 'call',
          call,
          tool,
          key,
          args: packer.pack(args, 'args', how),
        }));
      });
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Sends a message whose values may be replaced by errors, if there still is a page. */
  #tell(
    message: (packer: Packer, how: Refusals) => ServerMessage,
    packer: Packer = new Packer(),
  ): void {
    if (!this.#gone) send(this.#port, packer, (how) => message(packer, how));
  }
}
