/**
 * The calls of WASI preview 1 that a Go reactor links, and no more: no files, no arguments, no environment, no sleep.
 * Time and randomness only serve Go's own runtime; what the guest knows of time comes in with the frames.
 */
import { StderrTail } from './stderr.js';

const SUCCESS = 0;
const BADF = 8;
const FAULT = 21;
const INVAL = 28;
const NOTSUP = 58;
const SPIPE = 70;

/** Bytes one fd_write takes at most; the guest sends the rest again. */
const WRITE_LIMIT = 64 << 10;
/** Bytes getRandomValues gives at most. */
const RANDOM_LIMIT = 65536;
/**
 * Sleeps of at most a millisecond that are answered at once, in one step: with some of them Go's runtime waits for
 * its own threads before it says why it dies.
 */
const NAPS = 16;
const NAP = 1_000_000n;
/** Bytes of one subscription and of one event of poll_oneoff. */
const SUBSCRIPTION = 48;
const EVENT = 32;

const CLOCK_REALTIME = 0;
const CLOCK_MONOTONIC = 1;
const EVENTTYPE_CLOCK = 0;
const SUBSCRIPTION_ABSTIME = 1;

/** Name of the import module. */
export const WASI_MODULE = 'wasi_snapshot_preview1';

/** Thrown through the guest, to stop it, when it calls proc_exit. */
export class GuestExit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`the module called proc_exit(${exitCode})`);
    this.name = 'GuestExit';
    this.exitCode = exitCode;
  }
}

/** Settings of {@link Wasi}. */
export interface WasiOptions {
  /** Milliseconds of a clock that never goes back; may stand still. Default: performance.now. */
  monotonic?: (() => number) | undefined;
  /** Bytes that the guest may write to stdout and stderr between two calls of {@link Wasi.begin}. Default 1 MiB. */
  writeBudget?: number | undefined;
}

/** One guest's WASI: its imports, and what it wrote to stderr. */
export class Wasi {
  /** Functions for the import module {@link WASI_MODULE}. */
  readonly imports: WebAssembly.ModuleImports;
  /** What the guest wrote to stdout and stderr. */
  readonly stderr = new StderrTail();

  readonly #clock: () => number;
  readonly #writeBudget: number;
  readonly #start: number;
  #last = 0;
  #written = 0;
  #naps = 0;
  #memory: WebAssembly.Memory | undefined;

  constructor(options: WasiOptions = {}) {
    this.#clock = options.monotonic ?? platformClock();
    this.#writeBudget = options.writeBudget ?? 1 << 20;
    this.#start = this.#clock();
    this.imports = this.#functions();
  }

  /** Gives the guest's memory, before its first call. */
  bind(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  /** Begins a step: renews its budgets. */
  begin(): void {
    this.#written = 0;
    this.#naps = 0;
  }

  #functions(): WebAssembly.ModuleImports {
    return {
      args_sizes_get: (count: number, size: number) => this.#none(count, size),
      args_get: () => SUCCESS,
      environ_sizes_get: (count: number, size: number) => this.#none(count, size),
      environ_get: () => SUCCESS,
      clock_time_get: (id: number, _precision: bigint, out: number) => this.#time(id, out >>> 0),
      random_get: (at: number, size: number) => this.#random(at >>> 0, size >>> 0),
      poll_oneoff: (subs: number, events: number, n: number, out: number) =>
        this.#poll(subs >>> 0, events >>> 0, n >>> 0, out >>> 0),
      sched_yield: () => SUCCESS,
      proc_exit: (code: number) => {
        throw new GuestExit(code);
      },
      fd_write: (fd: number, list: number, n: number, out: number) =>
        fd === 1 || fd === 2 ? this.#write(list >>> 0, n >>> 0, out >>> 0) : BADF,
      fd_read: () => BADF,
      fd_close: () => BADF,
      fd_seek: (fd: number) => (isStdio(fd) ? SPIPE : BADF),
      fd_fdstat_get: (fd: number, out: number) => (isStdio(fd) ? this.#fdstat(out >>> 0) : BADF),
      fd_fdstat_set_flags: (fd: number) => (isStdio(fd) ? SUCCESS : BADF),
      fd_filestat_get: () => BADF,
      // No directory is open, which ends the search for them.
      fd_prestat_get: () => BADF,
      fd_prestat_dir_name: () => BADF,
    };
  }

  /** The guest's memory from at on, or undefined if size bytes are not there. */
  #view(at: number, size: number): DataView | undefined {
    const buffer = this.#memory?.buffer;
    if (buffer === undefined || at + size > buffer.byteLength) return undefined;
    return new DataView(buffer, at, size);
  }

  #bytes(at: number, size: number): Uint8Array<ArrayBuffer> | undefined {
    const buffer = this.#memory?.buffer;
    if (buffer === undefined || at + size > buffer.byteLength) return undefined;
    return new Uint8Array(buffer, at, size);
  }

  /** A list of no texts: their number, and the bytes that they take. */
  #none(count: number, size: number): number {
    const a = this.#view(count >>> 0, 4);
    const b = this.#view(size >>> 0, 4);
    if (a === undefined || b === undefined) return FAULT;
    a.setUint32(0, 0, true);
    b.setUint32(0, 0, true);
    return SUCCESS;
  }

  /** Nanoseconds. Go dies of a monotonic clock that says zero, and of one that goes back. */
  #nanoseconds(id: number): bigint {
    if (id === CLOCK_REALTIME) return BigInt(Math.trunc(Date.now())) * 1_000_000n;
    const passed = Math.round((this.#clock() - this.#start) * 1e6);
    if (passed > this.#last) this.#last = passed;
    return BigInt(this.#last) + 1_000_000_000n;
  }

  #time(id: number, out: number): number {
    if (id !== CLOCK_REALTIME && id !== CLOCK_MONOTONIC) return INVAL;
    const view = this.#view(out, 8);
    if (view === undefined) return FAULT;
    view.setBigUint64(0, this.#nanoseconds(id), true);
    return SUCCESS;
  }

  #random(at: number, size: number): number {
    const bytes = this.#bytes(at, size);
    if (bytes === undefined) return FAULT;
    for (let i = 0; i < size; i += RANDOM_LIMIT) {
      crypto.getRandomValues(bytes.subarray(i, Math.min(i + RANDOM_LIMIT, size)));
    }
    return SUCCESS;
  }

  /** Answers what is due already. A sleep would stop the thread, and never end where the clock stands still. */
  #poll(subs: number, events: number, n: number, out: number): number {
    if (n === 0) return INVAL;
    const from = this.#view(subs, n * SUBSCRIPTION);
    const to = this.#view(events, n * EVENT);
    const count = this.#view(out, 4);
    if (from === undefined || to === undefined || count === undefined) return FAULT;
    let due = 0;
    for (let i = 0; i < n; i++) {
      const s = i * SUBSCRIPTION;
      if (from.getUint8(s + 8) !== EVENTTYPE_CLOCK) return NOTSUP;
      const id = from.getUint32(s + 16, true);
      const timeout = from.getBigUint64(s + 24, true);
      const absolute = (from.getUint16(s + 40, true) & SUBSCRIPTION_ABSTIME) !== 0;
      const wait = absolute ? timeout - this.#nanoseconds(id) : timeout;
      if (wait > 0n && (wait > NAP || ++this.#naps > NAPS)) continue;
      const e = due++ * EVENT;
      to.setBigUint64(e, from.getBigUint64(s, true), true);
      to.setUint16(e + 8, SUCCESS, true);
      to.setUint8(e + 10, EVENTTYPE_CLOCK);
    }
    if (due === 0) return NOTSUP;
    count.setUint32(0, due, true);
    return SUCCESS;
  }

  #write(list: number, n: number, out: number): number {
    const vectors = this.#view(list, n * 8);
    const written = this.#view(out, 4);
    if (vectors === undefined || written === undefined) return FAULT;
    let total = 0;
    for (let i = 0; i < n && total < WRITE_LIMIT; i++) {
      const size = vectors.getUint32(i * 8 + 4, true);
      const bytes = this.#bytes(vectors.getUint32(i * 8, true), size);
      if (bytes === undefined) return FAULT;
      const part = bytes.subarray(0, WRITE_LIMIT - total);
      this.stderr.write(part);
      total += part.length;
    }
    this.#written += total;
    if (this.#written > this.#writeBudget) {
      // The only way to stop a guest that never stops writing.
      throw new Error(
        `the module wrote more than ${this.#writeBudget} bytes to stderr in one step`,
      );
    }
    written.setUint32(0, total, true);
    return SUCCESS;
  }

  #fdstat(out: number): number {
    const bytes = this.#bytes(out, 24);
    if (bytes === undefined) return FAULT;
    bytes.fill(0);
    bytes[0] = 2; // a character device
    return SUCCESS;
  }
}

const ERRNO = '[i32]';

/** The functions that {@link Wasi.imports} has, with their types. */
export const WASI_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['args_get', `[i32 i32] -> ${ERRNO}`],
  ['args_sizes_get', `[i32 i32] -> ${ERRNO}`],
  ['clock_time_get', `[i32 i64 i32] -> ${ERRNO}`],
  ['environ_get', `[i32 i32] -> ${ERRNO}`],
  ['environ_sizes_get', `[i32 i32] -> ${ERRNO}`],
  ['fd_close', `[i32] -> ${ERRNO}`],
  ['fd_fdstat_get', `[i32 i32] -> ${ERRNO}`],
  ['fd_fdstat_set_flags', `[i32 i32] -> ${ERRNO}`],
  ['fd_filestat_get', `[i32 i32] -> ${ERRNO}`],
  ['fd_prestat_dir_name', `[i32 i32 i32] -> ${ERRNO}`],
  ['fd_prestat_get', `[i32 i32] -> ${ERRNO}`],
  ['fd_read', `[i32 i32 i32 i32] -> ${ERRNO}`],
  ['fd_seek', `[i32 i64 i32 i32] -> ${ERRNO}`],
  ['fd_write', `[i32 i32 i32 i32] -> ${ERRNO}`],
  ['poll_oneoff', `[i32 i32 i32 i32] -> ${ERRNO}`],
  ['proc_exit', '[i32] -> []'],
  ['random_get', `[i32 i32] -> ${ERRNO}`],
  ['sched_yield', `[] -> ${ERRNO}`],
]);

function isStdio(fd: number): boolean {
  return fd >= 0 && fd <= 2;
}

function platformClock(): () => number {
  return typeof performance === 'undefined' ? () => Date.now() : () => performance.now();
}
