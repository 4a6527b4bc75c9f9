/**
 * The errors of a turn: which object an error on the wire stands for.
 */
import type { Encoder } from '../codec/encoder.js';
import { DEFAULT_LIMITS } from '../codec/decoder.js';
import { requireShape } from '../codec/shape.js';
import { codeInfo, TurncoreError } from '../errors.js';

/** How many errors of a chain of causes cross, and how deep the host follows one. */
const MAX_CAUSES = 8;

/** How many of the errors that followed one cross with it. */
const MAX_SUPPRESSED = 64;

/** How many bytes of text of an error and those that go with it cross at most. */
const MAX_TEXT = 256 << 10;

/**
 * Host errors under positive handles and the module's under negative ones, each with one object: listeners, results and
 * causes that speak of one error get the very same object.
 */
export class ErrorTable {
  readonly #host: unknown[] = [];
  // Most turns have no error.
  #guest: Map<number, unknown> | undefined;
  readonly #most: number;
  /** Bytes of texts and of details that may still be written of an error and those that go with it. */
  #textLeft = 0;
  #detailsLeft = 0;

  /** @param limits of a frame, which an error must not fill: the reason of an abort may be long */
  constructor(limits: Readonly<{ frame: number }> = DEFAULT_LIMITS) {
    this.#most = Math.trunc((limits.frame - 1024) / 4);
  }

  /**
   * Writes an error for the module and keeps it under a fresh handle.
   *
   * @param error anything that was thrown
   * @param reason what the context's abort signal says, undefined unless it was aborted
   * @param details what goes with it in place of its own details
   */
  encode(enc: Encoder, error: unknown, reason: unknown, details?: unknown): void {
    this.#textLeft = Math.min(MAX_TEXT, this.#most);
    this.#detailsLeft = this.#most;
    this.#write(enc, error, this.#host.push(error), reason, 0, details);
  }

  /**
   * The object that an error from the module stands for.
   *
   * @throws CodecError for a malformed one
   */
  decode(value: unknown): unknown {
    return this.#read(value, 0);
  }

  #write(
    enc: Encoder,
    error: unknown,
    handle: number,
    reason: unknown,
    depth: number,
    details?: unknown,
  ): void {
    const e = describe(error);
    enc.arrayHeader(10);
    enc.int(handle);
    enc.str(this.#cut(e.name === e.code ? '' : e.name));
    enc.str(this.#cut(e.code));
    enc.str(this.#cut(e.message));
    enc.int(e.status);
    enc.bool(e.fatal);
    enc.bool(isAbort(error, reason));
    const start = enc.length;
    if (writeDetails(enc, details ?? e.details)) {
      if (enc.length - start <= this.#detailsLeft) this.#detailsLeft -= enc.length - start;
      else enc.truncate(start);
    }
    if (enc.length === start) enc.nil();
    if (e.cause === undefined || depth >= MAX_CAUSES - 1) enc.nil();
    else this.#write(enc, e.cause, 0, reason, depth + 1);
    const suppressed = depth > 1 ? [] : e.suppressed.slice(0, MAX_SUPPRESSED);
    enc.arrayHeader(suppressed.length);
    for (const each of suppressed) this.#write(enc, each, 0, undefined, depth + 2);
  }

  /** As much of a text as may still be written. */
  #cut(text: string): string {
    const room = new Uint8Array(Math.min(text.length * 3, this.#textLeft));
    const { read: fit, written } = new TextEncoder().encodeInto(text, room);
    this.#textLeft -= written;
    return fit < text.length ? text.slice(0, fit) : text;
  }

  #read(value: unknown, depth: number): unknown {
    const v = requireShape(value, 'isssnbb*ea', 'ErrorValue');
    const handle = v[0] as number;
    if (handle > 0 && handle <= this.#host.length) return this.#host[handle - 1];
    const known = this.#guest?.get(handle);
    if (known !== undefined) return known;
    const error = this.#make(v, depth);
    if (handle < 0) (this.#guest ??= new Map<number, unknown>()).set(handle, error);
    return error;
  }

  #make(v: readonly unknown[], depth: number): Error {
    const name = v[1] as string;
    const code = v[2] as string;
    const message = v[3] as string;
    const inner =
      v[8] === null || depth >= MAX_CAUSES ? undefined : { cause: this.#read(v[8], depth + 1) };
    if (code === '') {
      const error = new Error(message, inner);
      if (name !== '' && name !== 'Error') {
        Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
      }
      return error;
    }
    const list = depth >= MAX_CAUSES ? [] : ((v[9] ?? []) as unknown[]);
    return new TurncoreError(code, message, {
      ...inner,
      status: v[4] === 0 ? undefined : (v[4] as number),
      fatal: v[5] as boolean,
      details: v[7] ?? undefined,
      suppressed: list.map((each) => this.#read(each, depth + 1)),
    });
  }
}

/** The parts of an error that cross. */
interface Described {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly fatal: boolean;
  readonly details: unknown;
  readonly cause: unknown;
  readonly suppressed: readonly unknown[];
}

function describe(error: unknown): Described {
  if (typeof error !== 'object' || error === null) {
    return { ...plain, message: textOf(error) };
  }
  const name = read(error, 'name');
  const code = read(error, 'code');
  const message = read(error, 'message');
  const status = read(error, 'status');
  return {
    name: typeof name === 'string' ? name : 'Error',
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : textOf(error),
    status:
      typeof status === 'number' && Number.isInteger(status) && status > 0 && status < 1000
        ? status
        : (codeInfo(typeof code === 'string' ? code : '')?.status ?? 500),
    fatal: read(error, 'fatal') === true,
    details: read(error, 'details') ?? undefined,
    cause: read(error, 'cause') ?? undefined,
    suppressed: listOf(read(error, 'suppressed')),
  };
}

/** A property of something that was thrown, which may be anything: undefined when reading it throws. */
function read(thrown: object, name: string): unknown {
  try {
    return (thrown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** The text of something that was thrown: of an error its message. Never throws. */
export function messageOf(thrown: unknown): string {
  return describe(thrown).message;
}

const plain: Described = {
  name: 'Error',
  code: '',
  message: '',
  status: 500,
  fatal: false,
  details: undefined,
  cause: undefined,
  suppressed: [],
};

/** Other libraries have errors with a field of this name too. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** Writes details; false for none. What cannot cross stays with the host's object. */
function writeDetails(enc: Encoder, details: unknown): boolean {
  if (details === undefined) return false;
  const start = enc.length;
  try {
    enc.value(details, 'details');
    return true;
  } catch {
    enc.truncate(start);
    return false;
  }
}

/** Text of a thrown value that is not an error: itself, else its JSON, else whatever String makes of it. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) return json;
  } catch {
    // It has no JSON.
  }
  try {
    return String(value);
  } catch {
    return 'a value without text';
  }
}

/** An error for what was thrown: itself, or an error with its text and it as the cause. */
export function asError(thrown: unknown): Error {
  if (isError(thrown)) return thrown;
  return new Error(textOf(thrown), { cause: thrown });
}

/** Tells an error, also one of another realm. */
export function isError(value: unknown): value is Error {
  try {
    if (value instanceof Error) return true;
    const tag = Object.prototype.toString.call(value);
    return tag === '[object Error]' || tag === '[object DOMException]';
  } catch {
    return false; // a proxy may throw whatever is asked of it
  }
}

/**
 * Tells whether an error counts as an abort: it is or wraps the abort's reason, is an AbortError, or says that a gate
 * was aborted.
 */
function isAbort(error: unknown, reason: unknown): boolean {
  let e = error;
  for (let depth = 0; depth <= MAX_CAUSES; depth++) {
    if (reason !== undefined && Object.is(e, reason)) return true;
    if (typeof e !== 'object' || e === null) return false;
    const code = read(e, 'code');
    if (code === 'ABORT_ERR' || code === 'E_TURN_GATE_ABORTED') return true;
    if (read(e, 'name') === 'AbortError') return true;
    e = read(e, 'cause');
  }
  return false;
}
