/**
 * One running module. A step is synchronous and never re-entered. Any failure in a step ends the instance: a Go runtime
 * that was stopped half-way still answers, with nonsense.
 */
import { type OutboundFrame, readFrame } from '../codec/tuples.gen.js';
import { CodecError, framesOf, MAX_STEP_OUTPUT } from '../codec/decoder.js';
import { messageOf, tooLarge, TurncoreError } from '../errors.js';
import type { StderrTail } from '../wasi/stderr.js';
import { decodeWelcome, encodeGCPercent, type Welcome } from './hello.js';
import type { Limits } from './limits.js';

/** The guest's half of an instance, for either build. */
export interface Guest {
  readonly memory: WebAssembly.Memory;
  /** Makes room for that many bytes of frames and one more; returns 0 if that is too many. */
  readonly inbox: (size: number) => number;
  /** Takes the frames and answers with the outbox: pointer << 32 | length. */
  readonly step: (size: number) => bigint;
  readonly stderr: StderrTail;
  /** Called before each step. */
  readonly begin: () => void;
}

/** An initialised guest, and the answer of its turncore_abi. */
export interface StartedGuest {
  readonly guest: Guest;
  readonly abi: number;
}

/** The parts of an {@link Instance}. */
export interface InstanceConfig {
  readonly guest: Guest;
  /** The Hello frame; undefined to leave the handshake to the caller. */
  readonly hello: Uint8Array | undefined;
  /** Percent that the guest's heap may grow by between collections; undefined for its own setting. */
  readonly gcPercent: number | undefined;
  readonly limits: Readonly<Limits>;
  /** The answer of turncore_abi. */
  readonly abi: number;
  readonly maxMemory: number;
  readonly onStderr: ((line: string) => void) | undefined;
}

/**
 * A marker behind the batch, which the guest sets to 0 when it has handled the whole batch. msgpack never uses this
 * byte. A blocked guest of GOOS=js returns as if it were done: only the marker tells.
 */
const MARKER = 0xc1;

const NOTHING = new Uint8Array(0);

/** For taking an i64 apart without BigInt arithmetic. */
const wide = new BigInt64Array(1);
const halves = new Uint32Array(wide.buffer);
const lowFirst = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const LOW = lowFirst ? 0 : 1;
const HIGH = lowFirst ? 1 : 0;

/** A step began within a step. This is a mistake in the host: no user code runs there. */
export class ReentryError extends Error {
  constructor() {
    super('A step was begun within a step.');
    this.name = 'ReentryError';
  }
}

/** A running module. Made by {@link Module.instantiate}. */
export class Instance {
  /** The bytes of its Hello frame; none without a handshake. */
  readonly hello: Uint8Array;
  /** The bytes of its Welcome; none without a handshake. */
  readonly welcome: Uint8Array;
  /** Feature bits in force. */
  readonly features: number;
  /** Bounds in force. */
  readonly limits: Readonly<Limits>;
  /** The module's ABI version, major in the high 16 bits. */
  readonly abi: number;
  /** Version of the module, for people. */
  readonly build: string;
  /** Bytes that its memory may grow to. */
  readonly maxMemory: number;

  /** Undefined after the instance's death, so that its memory can be collected. */
  #guest: Guest | undefined;
  readonly #stderr: StderrTail;
  readonly #onStderr: ((line: string) => void) | undefined;
  #memory: Uint8Array<ArrayBuffer>;
  #frameLimit: number;
  /** A frame that follows the Hello. */
  #gcPercent: Uint8Array | undefined;
  #stepping = false;
  #failure: TurncoreError | undefined;

  /** Takes an initialised guest and says hello. */
  constructor(config: InstanceConfig) {
    const { guest } = config;
    this.#guest = guest;
    this.#stderr = guest.stderr;
    this.maxMemory = config.maxMemory;
    this.#onStderr = config.onStderr;
    this.#memory = new Uint8Array(guest.memory.buffer);
    this.#frameLimit = config.limits.frame;
    if (config.gcPercent !== undefined) this.#gcPercent = encodeGCPercent(config.gcPercent);

    this.abi = config.abi;
    if (config.hello === undefined) {
      this.hello = NOTHING;
      this.welcome = this.hello;
      this.features = 0;
      this.limits = config.limits;
      this.build = '';
      return;
    }
    this.hello = config.hello;
    this.welcome = this.step(config.hello).slice();
    let welcome: Welcome;
    try {
      welcome = decodeWelcome(this.welcome, config.limits);
    } catch (error) {
      throw this.fail(`bad answer to Hello: ${messageOf(error)}`, error);
    }
    this.features = welcome.features;
    this.limits = welcome.limits;
    this.build = welcome.build;
    this.#frameLimit = welcome.limits.frame;
  }

  /** False after a failed step or {@link close}. */
  get alive(): boolean {
    return this.#failure === undefined;
  }

  /** Why the instance is not alive. */
  get failure(): TurncoreError | undefined {
    return this.#failure;
  }

  /** Bytes of the guest's linear memory; it never shrinks. */
  get memoryBytes(): number {
    return this.#guest === undefined ? 0 : this.#view(this.#guest).length;
  }

  /** The last lines of the guest's stderr, at most 4 KiB. */
  get stderr(): string {
    return this.#stderr.text();
  }

  /**
   * Passes frames, back to back, to the guest and lets it run until it waits for the host.
   *
   * @returns its answer: frames, back to back, in the guest's memory. They are valid until the next step
   * @throws TurncoreError E_ABI_LIMIT_EXCEEDED if the batch is too large (the instance lives on),
   *   E_INSTANCE_FAILED if the instance died of this step or before; ReentryError if called within a step
   */
  step(batch: Uint8Array): Uint8Array<ArrayBuffer> {
    const guest = this.#guest;
    if (guest === undefined) throw this.#failure!;
    if (this.#stepping) throw new ReentryError();
    const size = batch.length;
    if (size > this.#frameLimit) throw tooLarge('a step', size, this.#frameLimit);
    this.#stepping = true;
    let out: Uint8Array<ArrayBuffer>;
    try {
      guest.begin();
      out = this.#run(guest, batch, size);
      if (this.#gcPercent !== undefined) {
        out = out.slice();
        this.#sendGCPercent(guest, this.#gcPercent);
      }
    } catch (error) {
      throw this.fail(messageOf(error), error);
    } finally {
      this.#stepping = false;
      if (this.#onStderr !== undefined) this.#deliverStderr(this.#onStderr);
    }
    return out;
  }

  /**
   * Decodes what {@link step} returned. Malformed frames end the instance.
   *
   * @param offsets see {@link framesOf}
   * @throws TurncoreError E_INSTANCE_FAILED
   */
  decode(outbox: Uint8Array, offsets?: number[]): OutboundFrame[] {
    try {
      return framesOf(readFrame, outbox, this.limits, offsets);
    } catch (error) {
      if (error instanceof CodecError) throw this.fail(`malformed frame: ${error.message}`, error);
      throw error;
    }
  }

  /**
   * Ends the instance: no step runs after this.
   *
   * @returns the E_INSTANCE_FAILED that every later step throws, with the guest's last stderr lines
   */
  fail(reason: string, cause?: unknown): TurncoreError {
    if (this.#failure === undefined) this.#failure = instanceFailed(reason, this.stderr, cause);
    this.#guest = undefined;
    this.#memory = NOTHING;
    return this.#failure;
  }

  /** Ends an unused instance, so that its memory can be collected. */
  close(): void {
    this.fail('the instance was closed');
  }

  /** Passes the setting on, once. A guest that does not know the frame answers Fault, and goes on. */
  #sendGCPercent(guest: Guest, frame: Uint8Array): void {
    this.#gcPercent = undefined;
    this.#run(guest, frame, frame.length);
  }

  #run(guest: Guest, batch: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
    const inbox = guest.inbox(size) >>> 0;
    let memory = this.#view(guest);
    if (inbox === 0) throw new Error(`no inbox for ${size} bytes`);
    if (inbox + size >= memory.length) {
      throw new Error(`inbox of ${size} bytes at ${inbox} is outside of memory`);
    }
    memory.set(batch, inbox);
    memory[inbox + size] = MARKER;

    wide[0] = guest.step(size);
    const length = halves[LOW]!;
    const at = halves[HIGH]!;

    memory = this.#view(guest);
    if (memory[inbox + size] !== 0) {
      throw new Error('the module returned before it had handled its frames');
    }
    if (at + length > memory.length) {
      throw new Error(`outbox of ${length} bytes at ${at} is outside of memory`);
    }
    if (length > MAX_STEP_OUTPUT) {
      throw new Error(`the step gave ${length} bytes, more than ${MAX_STEP_OUTPUT}`);
    }
    if (memory.length > this.maxMemory) {
      throw new Error(
        `the module's memory of ${memory.length} bytes is over the limit of ${this.maxMemory}`,
      );
    }
    return length === 0 ? NOTHING : new Uint8Array(memory.buffer, at, length);
  }

  /** The guest's memory. Growing it detaches the buffer and leaves a view of no bytes. */
  #view(guest: Guest): Uint8Array<ArrayBuffer> {
    if (this.#memory.length === 0) this.#memory = new Uint8Array(guest.memory.buffer);
    return this.#memory;
  }

  #deliverStderr(listener: (line: string) => void): void {
    for (const line of this.#stderr.takeLines()) {
      try {
        listener(line);
      } catch (error) {
        console.error(error);
      }
    }
  }
}

/** The error of an instance that cannot go on. */
export function instanceFailed(reason: string, stderr: string, cause?: unknown): TurncoreError {
  const said = stderr === '' ? '' : `\n${stderr}`;
  return TurncoreError.of('E_INSTANCE_FAILED', `${reason}${said}`, {
    cause,
    details: { reason, stderr },
  });
}
