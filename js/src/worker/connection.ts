/**
 * A page's connection to its worker.
 */
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import type { Settlement } from '../events/turn-gate.js';
import type { RemoteTurn } from '../remote/remote-runner.js';
import type { TurnEnd } from '../sse/turn-end.js';
import { type Attachment, attachmentsIn, readAttachment } from './attachment-form.js';
import { listen, locksOf, type WorkerChannel } from './channel.js';
import { type Packed, Packer, type Refusals, send, Unpacker } from './cloning.js';
import { EventReader } from './event-form.js';
import type { AnyPageTool } from './page-tool.js';
import {
  type AgentForm,
  type Greeting,
  type PageMessage,
  PROTOCOL,
  type ServerMessage,
} from './protocol.js';
import { Watch } from './watch.js';

/** A turn that runs. */
interface LiveTurn {
  readonly remote: RemoteTurn<unknown>;
  readonly unpacker: Unpacker;
  readonly events: EventReader;
  readonly resolve: (end: TurnEnd) => void;
  readonly reject: (error: unknown) => void;
}

/** The input of a turn, ready to cross but for the bytes of attachments. */
interface PackedInput {
  readonly input: Packed;
  readonly attachments: readonly Attachment[] | undefined;
}

/** A call that the worker has not answered. */
interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The connection to one worker, from its start to its end. */
export class Connection {
  readonly #channel: WorkerChannel;
  readonly #tools: ReadonlyMap<string, AnyPageTool>;
  readonly #agent: AgentForm | undefined;
  readonly #turns = new Map<number, LiveTurn>();
  readonly #settling = new Map<number, Pending>();
  /** The calls of the page's tools that run. */
  readonly #calls = new Map<number, AbortController>();
  readonly #listening: (() => void)[];
  /** Resolves when the worker has said that it serves. */
  readonly #opened: Promise<void>;
  #open!: () => void;
  #refuse!: (error: unknown) => void;
  #isOpen = false;
  #port: MessagePort | undefined;
  /** Waits for the lock that the worker holds while it lives. */
  #lock: { readonly name: string; readonly waiting: AbortController } | undefined;
  /** Of the worker's thread, if its time is bounded. */
  readonly #watch: Watch | undefined;
  /** An error that the worker did not catch: perhaps it ends by it. */
  #uncaught: unknown;
  #last = 0;
  #ended: TurncoreError | undefined;

  /**
   * @param timeout of the worker's thread, in milliseconds; undefined for none
   * @param agent that the worker is to load; undefined for none
   */
  constructor(
    channel: WorkerChannel,
    tools: ReadonlyMap<string, AnyPageTool>,
    timeout: number | undefined,
    agent: AgentForm | undefined,
  ) {
    this.#channel = channel;
    this.#tools = tools;
    this.#agent = agent;
    if (timeout !== undefined) {
      this.#watch = new Watch(
        timeout,
        () => this.#port!.postMessage({ op: 'ping' } satisfies PageMessage),
        (cause) => {
          this.end(TurncoreError.of('E_WORKER_ENDED', cause.message, { cause }));
          this.terminate();
        },
      );
    }
    this.#opened = new Promise<void>((resolve, reject) => {
      this.#open = resolve;
      this.#refuse = reject;
    });
    this.#opened.catch(() => undefined); // turns tell it
    // Node ends a process for an error of a worker that nobody listens to, even behind the end.
    listen(channel, 'error', (error) => this.#failed(error));
    this.#listening = [
      listen(channel, 'message', (data) => this.#greet(data)),
      listen(channel, 'exit', () => this.#gone()),
      listen(channel, 'close', () => this.#gone()),
    ];
    channel.start?.();
    this.#say({ turncore: 'who' });
  }

  /** Resolves when the worker has made its runner. @throws why it has not (rejects) */
  get opened(): Promise<void> {
    return this.#opened;
  }

  /** Why no turn can run any more; undefined while they can. */
  get ended(): TurncoreError | undefined {
    return this.#ended;
  }

  /** @throws TurncoreError E_INVALID_VALUE, E_NOT_CLONEABLE for an input that cannot cross */
  static inputOf(turn: RemoteTurn<{ readonly attachments?: unknown }>): PackedInput {
    const { attachments, ...rest } = turn.input;
    return {
      input: new Packer().pack({ ...rest, turnId: turn.id }, '', 'throw'),
      attachments: attachmentsIn(attachments),
    };
  }

  /**
   * Runs a turn.
   *
   * @throws TurncoreError (rejects) E_WORKER_FAILED, E_WORKER_ENDED, E_NOT_CLONEABLE for an attachment that cannot be
   * read, or why the turn could not start
   */
  async run(
    remote: RemoteTurn<unknown>,
    { input, attachments: given }: PackedInput,
  ): Promise<TurnEnd> {
    const { signal } = remote;
    const reading = given && Promise.all(given.map(readAttachment));
    await unlessAborted(Promise.all([this.#opened, reading]), signal);
    if (signal.aborted) {
      return { status: 'aborted', iterations: 0, error: signal.reason, object: undefined };
    }
    const attachments = await reading;
    this.#requireAlive();
    const turn = ++this.#last;
    const unpacker = new Unpacker();
    const events = new EventReader(unpacker, (question) => remote.gate(question));
    const abort = (): void => {
      this.#tell((packer, how) => ({
        op: 'abort',
        turn,
        reason: packer.pack(signal.reason, 'reason', how),
      }));
    };
    signal.addEventListener('abort', abort);
    this.#watch?.begin();
    try {
      return await new Promise<TurnEnd>((resolve, reject) => {
        this.#turns.set(turn, { remote, unpacker, events, resolve, reject });
        const bytes = attachments?.map((each) => each.bytes.buffer);
        this.#send({ op: 'start', turn, input, attachments }, 'input', bytes);
      });
    } finally {
      this.#watch?.end();
      this.#turns.delete(turn);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Settles a gate. @throws what the gate in the worker throws (rejects) */
  async settle(turnId: string, gateId: string, settlement: Settlement): Promise<void> {
    this.#requireAlive();
    const { by } = settlement;
    const value = new Packer().pack(
      by === 'resolve' ? settlement.value : by === 'reject' ? settlement.error : undefined,
      by === 'resolve' ? 'value' : 'error',
      'throw',
    );
    const digest = by === 'resolve' ? settlement.digest : '';
    const call = ++this.#last;
    await new Promise((resolve, reject) => {
      this.#settling.set(call, { resolve, reject });
      this.#send({ op: 'settle', call, turnId, gateId, by, value, digest }, 'value');
    });
  }

  /** Ends the connection: everything that waits for the worker fails. */
  end(error: TurncoreError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#refuse(error);
    this.#watch?.stop();
    for (const stop of this.#listening) stop();
    this.#port?.close();
    this.#lock?.waiting.abort();
    for (const { reject } of [...this.#turns.values(), ...this.#settling.values()]) reject(error);
    this.#settling.clear();
    for (const call of this.#calls.values()) call.abort(error);
    this.#calls.clear();
  }

  /** Ends the worker, or closes the port to it. */
  terminate(): void {
    const channel = this.#channel;
    if (channel.terminate === undefined) channel.close?.();
    else channel.terminate();
  }

  #requireAlive(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  #say(greeting: Greeting, transfer: MessagePort[] = []): void {
    this.#channel.postMessage(greeting, transfer as never[]);
  }

  /** Greets the worker as soon as it serves. */
  #greet(data: unknown): void {
    if ((data as Partial<Greeting> | null)?.turncore !== 'ready' || this.#port !== undefined)
      return;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.addEventListener('message', ({ data: message }) =>
      this.#receive(message as ServerMessage),
    );
    port1.addEventListener('close', () => this.#gone());
    port1.start();
    const locks = locksOf();
    if (locks !== undefined) {
      this.#lock = { name: `turncore ${crypto.randomUUID()}`, waiting: new AbortController() };
    }
    const tools = [...this.#tools.values()].map((tool) => tool.form());
    const lock = this.#lock?.name;
    const agent = this.#agent;
    this.#say({ turncore: 'hello', protocol: PROTOCOL, port: port2, tools, lock, agent }, [port2]);
    this.#watch?.begin(); // until it has made its runner
  }

  #receive(message: ServerMessage): void {
    switch (message.op) {
      case 'welcome':
        this.#isOpen = true;
        this.#open();
        this.#watch?.end();
        if (message.locked) this.#awaitLock();
        break;
      case 'refused':
        this.end(new Unpacker().unpack(message.error) as TurncoreError);
        break;
      case 'pong':
        this.#watch?.heard();
        break;
      case 'events':
        this.#read(this.#turns.get(message.turn), message.events);
        break;
      case 'end': {
        const turn = this.#turns.get(message.turn);
        turn?.resolve(turn.unpacker.unpack(message.end) as TurnEnd);
        break;
      }
      case 'rejected': {
        const turn = this.#turns.get(message.turn);
        turn?.reject(turn.unpacker.unpack(message.error));
        break;
      }
      case 'result':
      case 'failed':
        this.#answered(message);
        break;
      case 'call':
        void this.#call(message);
        break;
      case 'cancel':
        this.#calls.get(message.call)?.abort(new Unpacker().unpack(message.reason));
    }
  }

  #read(turn: LiveTurn | undefined, forms: readonly Packed[]): void {
    if (turn === undefined) return;
    for (const form of forms) {
      const event = turn.events.read(form);
      if (event !== undefined) turn.remote.event(event);
    }
  }

  #answered(message: Extract<ServerMessage, { op: 'result' | 'failed' }>): void {
    const pending = this.#settling.get(message.call);
    this.#settling.delete(message.call);
    if (message.op === 'result') pending?.resolve(new Unpacker().unpack(message.value));
    else pending?.reject(new Unpacker().unpack(message.error));
  }

  /** Runs a tool of the page, and answers. */
  async #call(message: Extract<ServerMessage, { op: 'call' }>): Promise<void> {
    const { call, tool, key, args } = message;
    const controller = new AbortController();
    this.#calls.set(call, controller);
    try {
      const { signal } = controller;
      const given = { signal, idempotencyKey: key };
      const value = await this.#toolNamed(tool).run(new Unpacker().unpack(args), given);
      const packed = new Packer().pack(value, `the result of ${tool}`, 'throw');
      this.#send({ op: 'result', call, value: packed }, `the result of ${tool}`);
    } catch (error) {
      this.#tell((packer, how) => ({
        op: 'failed',
        call,
        error: packer.pack(error, 'error', how),
      }));
    }
    this.#calls.delete(call);
  }

  #toolNamed(name: string): AnyPageTool {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw invalidValue('tool', `the page has no ${JSON.stringify(name)}`);
    return tool;
  }

  /** Sends a message whose values may be replaced by errors, if there still is a worker. */
  #tell(message: (packer: Packer, how: Refusals) => PageMessage): void {
    if (this.#ended !== undefined) return;
    const packer = new Packer();
    send(this.#port!, packer, (how) => message(packer, how));
  }

  /** Sends a message with values of the program. @throws TurncoreError E_NOT_CLONEABLE for one that cannot cross */
  #send(message: PageMessage, field: string, transfer: ArrayBuffer[] = []): void {
    if (this.#ended !== undefined) return;
    try {
      this.#port!.postMessage(message, transfer);
    } catch (cause) {
      throw TurncoreError.of('E_NOT_CLONEABLE', `\`${field}\`: ${messageOf(cause)}`, { cause });
    }
  }

  /** Notices the worker's end by the lock that it holds. */
  #awaitLock(): void {
    const { name, waiting } = this.#lock!;
    const { signal } = waiting;
    const gone = (): void => this.#gone();
    locksOf()!
      .request(name, { signal }, gone)
      .catch(() => undefined);
  }

  /** The worker did not catch an error. One that serves already goes on, unless its platform ends it. */
  #failed(event: unknown): void {
    const { error, message } = (event ?? {}) as { readonly error?: unknown; message?: unknown };
    this.#uncaught = event instanceof Error ? event : (error ?? undefined);
    if (this.#isOpen) return;
    const text =
      typeof message === 'string' && message !== '' ? message : 'its script cannot be loaded';
    this.end(TurncoreError.of('E_WORKER_FAILED', text, this.#cause()));
  }

  #gone(): void {
    const cause = this.#cause();
    const why = cause.cause === undefined ? undefined : messageOf(cause.cause);
    this.end(TurncoreError.of(this.#isOpen ? 'E_WORKER_ENDED' : 'E_WORKER_FAILED', why, cause));
  }

  #cause(): { cause?: unknown } {
    return this.#uncaught === undefined ? {} : { cause: this.#uncaught };
  }
}

/** Waits for a promise, or until a signal aborts. */
function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    promise.then(() => resolve(), reject);
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
