/**
 * Secrets of the host: what they are sent to, and how they are kept from the module.
 */
import { joined } from '../bytes.js';

/**
 * A secret that requests may carry, by name. The module knows only the name: the host adds the secret to outgoing
 * requests and removes it from everything that comes back.
 */
export interface Credential {
  /** Header that it goes into, such as `authorization`. */
  readonly header: string;
  /** Its value, or a function that returns it when needed. */
  readonly value: string | (() => string | Promise<string>);
  /** Origins to which it may be sent, such as `https://api.openai.com`. No other origin ever gets it. */
  readonly origins: readonly string[];
}

/** The replacement of a secret. */
const REDACTED = '[redacted]';
const REDACTED_BYTES = new TextEncoder().encode(REDACTED);
/** Shortest secret to look for, in bytes: a shorter one would be found in ordinary text. */
const MIN_SECRET = 8;
/** Words before a secret that are no part of one. Go has the same. */
const SCHEME = /^(basic|bearer) /i;
/** Bound on the searched chain of causes. */
const MAX_CAUSES = 8;
const NOTHING = new Uint8Array(0);

/** Bound on consecutive backslashes before a character: each level of JSON within JSON doubles them. */
const MAX_ESCAPES = 15;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const ASCII = 0x80;
/** The result of {@link matchOf} if the data ends too early. */
const CUT = -1;

/** Removes a secret from data for the module: literally, and with JSON escapes of any depth. */
export class Redactor {
  readonly #bytes: Uint8Array;
  /** Of a part of the secret, in what is left. */
  readonly #next: Redactor | undefined;
  /** End of what was written that may be the beginning of the secret. */
  #held: Uint8Array = NOTHING;

  private constructor(bytes: Uint8Array, next?: Redactor) {
    this.#bytes = bytes;
    this.#next = next;
  }

  /**
   * The redactor of a header's value, for the part after the scheme in `Bearer token`. The first word of another value
   * may be a scheme or a part of the secret: it is looked for with it and without it. Undefined for a value that is too
   * short.
   */
  static of(value: string): Redactor | undefined {
    const encode = (text: string): Uint8Array => new TextEncoder().encode(text.trim());
    const space = value.trim().indexOf(' ');
    const rest = encode(space < 0 ? '' : value.trim().slice(space));
    const part = rest.length < MIN_SECRET ? undefined : new Redactor(rest);
    if (SCHEME.test(value.trim())) return part;
    const bytes = encode(value);
    return bytes.length < MIN_SECRET ? undefined : new Redactor(bytes, part);
  }

  /** A text without the secret. */
  text(text: string): string {
    const whole = new Redactor(this.#bytes, this.#next && new Redactor(this.#next.#bytes));
    const done = [whole.write(new TextEncoder().encode(text)), whole.rest()];
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(joined(done));
  }

  /** Whether an error, or one of its causes, quotes the secret. */
  finds(error: unknown): boolean {
    let e = error;
    for (let depth = 0; depth < MAX_CAUSES && e instanceof Error; depth++) {
      if (this.#isIn(`${e.message}${e.stack ?? ''}`)) return true;
      e = e.cause;
    }
    return this.#isIn(String(e));
  }

  #isIn(text: string): boolean {
    const data = new TextEncoder().encode(text);
    if (data.some((_, at) => matchOf(data, at, this.#bytes) > 0)) return true;
    return this.#next !== undefined && this.#next.#isIn(text);
  }

  /**
   * Takes the next part of a body and returns the bytes to pass on, which are valid until that part changes. A
   * possible beginning of the secret waits for the next part.
   */
  write(part: Uint8Array): Uint8Array {
    const done = this.#replace(part);
    return this.#next?.write(done) ?? done;
  }

  #replace(part: Uint8Array): Uint8Array {
    let data = this.#held.length === 0 ? part : joined([this.#held, part]);
    this.#held = NOTHING;
    const first = this.#bytes[0]!;
    const done: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at < data.length; at++) {
      const byte = data[at];
      if (byte !== first && byte !== BACKSLASH) continue;
      const size = matchOf(data, at, this.#bytes);
      if (size === CUT) {
        this.#held = data.slice(at);
        data = data.subarray(0, at);
      } else if (size > 0) {
        done.push(data.subarray(from, at), REDACTED_BYTES);
        from = at + size;
        at = from - 1;
      }
    }
    return done.length === 0 ? data : joined([...done, data.subarray(from)]);
  }

  /** The waiting bytes, at the end of a body. */
  rest(): Uint8Array {
    const rest = this.#held;
    this.#held = NOTHING;
    const next = this.#next;
    return next === undefined ? rest : joined([next.write(rest), next.rest()]);
  }
}

/** The number of bytes of the secret at an index; 0 if it is not there, CUT if the data ends too early to tell. */
function matchOf(data: Uint8Array, start: number, secret: Uint8Array): number {
  let at = start;
  for (let i = 0; i < secret.length; i++) {
    const c = secret[i]!;
    const escapes = backslashes(data, at, MAX_ESCAPES);
    at += escapes;
    if (at === data.length) return CUT;
    const size = escapes > 0 && c < ASCII ? sizeOfCode(data, at, c) : 0;
    if (size === CUT) return CUT;
    if (size > 0) at += size;
    else if (data[at] === c) at++;
    else if (c === BACKSLASH && escapes > 0) i += backslashes(secret, i + 1, secret.length);
    else return 0;
  }
  return at - start;
}

/** The number of backslashes at an index, up to a bound. */
function backslashes(data: Uint8Array, start: number, most: number): number {
  let at = start;
  while (at < data.length && at - start < most && data[at] === BACKSLASH) at++;
  return at - start;
}

/** The size of the escape of a character at an index, without its backslash; 0 if there is none, or CUT. */
function sizeOfCode(data: Uint8Array, start: number, c: number): number {
  if (data[start] !== LETTER_U) return 0;
  const code = c.toString(16).padStart(4, '0');
  for (let i = 0; i < code.length; i++) {
    const byte = data[start + 1 + i];
    if (byte === undefined) return CUT;
    if (String.fromCharCode(byte).toLowerCase() !== code[i]) return 0;
  }
  return 1 + code.length;
}
