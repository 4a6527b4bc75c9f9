/**
 * The errors of a turn: the object for each error on the wire.
 */
import type { ErrorValue } from '../codec/tuples.gen.js';
import type { Encoder, Write } from '../codec/encoder.js';
import { DEFAULT_LIMITS } from '../codec/limits.js';
import { codeInfo, TurncoreError } from '../errors.js';

/** How many causes of an error cross, and how many the host follows. */
const MAX_CAUSES = 8;

/** How many suppressed errors cross with an error. */
const MAX_SUPPRESSED = 64;

/** The most bytes of text that cross with an error, its causes and its suppressed errors. */
const MAX_TEXT = 256 << 10;

/**
 * Errors by handle: positive handles are the host's, negative ones the module's. Each error has one object, so
 * listeners, results and causes all get the same one.
 */
export class ErrorTable {
  readonly #host: unknown[] = [];
  // Most turns have no error.
  #guest: Map<number, unknown> | undefined;
  readonly #most: number;
  /** Bytes left for texts and details of the error that is being written. */
  #textLeft = 0;
  #detailsLeft = 0;

  /** @param limits of a frame. An error must not fill it, however long the reason of an abort is */
  constructor(limits: Readonly<{ frame: number }> = DEFAULT_LIMITS) {
    this.#most = Math.trunc((limits.frame - 1024) / 4);
  }

  /**
   * Keeps an error under a new handle and returns its form for the module. Write that before the next call.
   *
   * @param error anything that was thrown
   * @param reason what the context's abort signal says, undefined unless it was aborted
   * @param details what goes with it in place of its own details
   */
  wireOf(error: unknown, reason: unknown, details?: Write): ErrorValue<Write | null> {
    this.#textLeft = Math.min(MAX_TEXT, this.#most);
    this.#detailsLeft = this.#most;
    return this.#wire(error, this.#host.push(error), reason, 0, details);
  }

  /** The object that an error from the module stands for. */
  decode(value: ErrorValue): unknown {
    return this.#read(value, 0);
  }

  #wire(
    error: unknown,
    handle: number,
    reason: unknown,
    depth: number,
    details?: Write,
  ): ErrorValue<Write | null> {
    const e = describe(error);
    const suppressed = depth > 1 ? [] : e.suppressed.slice(0, MAX_SUPPRESSED);
    return {
      handle,
      name: this.#cut(e.name === e.code ? '' : e.name),
      code: this.#cut(e.code),
      message: this.#cut(e.message),
      status: e.status,
      fatal: e.fatal,
      abort: isAbort(error, reason),
      details: details ?? ((enc) => this.#writeDetails(enc, e.details)),
      cause:
        e.cause === undefined || depth >= MAX_CAUSES - 1
          ? null
          : this.#wire(e.cause, 0, reason, depth + 1),
      suppressed: suppressed.map((each) => this.#wire(each, 0, undefined, depth + 2)),
    };
  }

  /** Writes details while there is room. Those that cannot cross stay with the host's object. */
  #writeDetails(enc: Encoder, details: unknown): void {
    const start = enc.length;
    try {
      enc.value(details, 'details');
      if (enc.length - start <= this.#detailsLeft) {
        this.#detailsLeft -= enc.length - start;
        return;
      }
    } catch {
      // They have no encoding.
    }
    enc.truncate(start);
    enc.nil();
  }

  /** The part of a text for which there is room. */
  #cut(text: string): string {
    const room = new Uint8Array(Math.min(text.length * 3, this.#textLeft));
    const { read: fit, written } = new TextEncoder().encodeInto(text, room);
    this.#textLeft -= written;
    return fit < text.length ? text.slice(0, fit) : text;
  }

  #read(value: ErrorValue, depth: number): unknown {
    const { handle } = value;
    if (handle > 0 && handle <= this.#host.length) return this.#host[handle - 1];
    const known = this.#guest?.get(handle);
    if (known !== undefined) return known;
    const error = this.#make(value, depth);
    if (handle < 0) (this.#guest ??= new Map<number, unknown>()).set(handle, error);
    return error;
  }

  #make(value: ErrorValue, depth: number): Error {
    const { name, code, message, cause } = value;
    const inner =
      cause === null || depth >= MAX_CAUSES ? undefined : { cause: this.#read(cause, depth + 1) };
    if (code === '') {
      const error = new Error(message, inner);
      if (name !== '' && name !== 'Error') {
        Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
      }
      return error;
    }
    const suppressed = depth >= MAX_CAUSES ? [] : value.suppressed;
    return new TurncoreError(code, message, {
      ...inner,
      status: value.status === 0 ? undefined : value.status,
      fatal: value.fatal,
      details: value.details ?? undefined,
      suppressed: suppressed.map((each) => this.#read(each, depth + 1)),
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

/** A property of a thrown value, which may be anything. Undefined if reading it throws. */
function read(thrown: object, name: string): unknown {
  try {
    return (thrown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** The text that crosses for a thrown value. Never throws. */
export function crossingMessage(thrown: unknown): string {
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

/** Errors of other libraries have a field of this name too. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
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

/** A thrown value as an error: itself, or an error with its text that has it as the cause. */
export function asError(thrown: unknown): Error {
  if (isError(thrown)) return thrown;
  return new Error(textOf(thrown), { cause: thrown });
}

/** Recognizes an error, also one of another realm. */
export function isError(value: unknown): value is Error {
  try {
    if (value instanceof Error) return true;
    const tag = Object.prototype.toString.call(value);
    return tag === '[object Error]' || tag === '[object DOMException]';
  } catch {
    return false; // a proxy may throw at every access
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
