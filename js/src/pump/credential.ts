/**
 * Secrets of the host: what they are sent to, and how they are kept from the module.
 */

/**
 * A secret that requests may carry, by name. The module only ever knows the name: the host adds the secret to a request on
 * its way out, and takes it out of what comes back.
 */
export interface Credential {
  /** Header that it goes into, such as `authorization`. */
  readonly header: string;
  /** Its value, or a function that gets it when it is needed. */
  readonly value: string | (() => string | Promise<string>);
  /** Origins that it may be sent to, such as `https://api.openai.com`. No others ever get it. */
  readonly origins: readonly string[];
}

/** What a secret is replaced with. */
const REDACTED = '[redacted]';
const REDACTED_BYTES = new TextEncoder().encode(REDACTED);
/** Bytes that a secret must have: a shorter one would be found in ordinary text. */
const MIN_SECRET = 8;
/** How far a chain of causes is looked through. */
const MAX_CAUSES = 8;
const NOTHING = new Uint8Array(0);

/** Takes a secret out of what goes to the module. */
export class Redactor {
  readonly #text: string;
  readonly #bytes: Uint8Array;
  /** End of what was written that may be the beginning of the secret. */
  #held: Uint8Array = NOTHING;

  private constructor(text: string, bytes: Uint8Array) {
    this.#text = text;
    this.#bytes = bytes;
  }

  /** The redactor of a header's value: of what follows the scheme in `Bearer token`. Undefined for one that is too short. */
  static of(value: string): Redactor | undefined {
    const space = value.indexOf(' ');
    const text = (space > 0 ? value.slice(space + 1) : value).trim();
    const bytes = new TextEncoder().encode(text);
    return bytes.length < MIN_SECRET ? undefined : new Redactor(text, bytes);
  }

  /** A text without the secret. */
  text(text: string): string {
    return text.replaceAll(this.#text, REDACTED);
  }

  /** Tells whether an error, or one of its causes, quotes the secret. */
  finds(error: unknown): boolean {
    let e = error;
    for (let depth = 0; depth < MAX_CAUSES && e instanceof Error; depth++) {
      if (`${e.message}${e.stack ?? ''}`.includes(this.#text)) return true;
      e = e.cause;
    }
    return String(e).includes(this.#text);
  }

  /**
   * Takes the next part of a body and returns what can be passed on, which is valid until that part changes. What may be
   * the beginning of the secret waits for the next part.
   */
  write(part: Uint8Array): Uint8Array {
    let data = this.#held.length === 0 ? part : joined([this.#held, part]);
    const done: Uint8Array[] = [];
    for (let at = find(data, this.#bytes); at >= 0; at = find(data, this.#bytes)) {
      done.push(data.subarray(0, at), REDACTED_BYTES);
      data = data.subarray(at + this.#bytes.length);
    }
    const end = data.length - beginning(data, this.#bytes);
    this.#held = data.slice(end);
    const rest = data.subarray(0, end);
    return done.length === 0 ? rest : joined([...done, rest]);
  }

  /** What waits, at the end of a body. */
  rest(): Uint8Array {
    const rest = this.#held;
    this.#held = NOTHING;
    return rest;
  }
}

/** Where something stands first, -1 if it does not. */
function find(data: Uint8Array, wanted: Uint8Array): number {
  const last = data.length - wanted.length;
  for (let at = data.indexOf(wanted[0]!); at >= 0 && at <= last;) {
    let n = 1;
    while (n < wanted.length && data[at + n] === wanted[n]) n++;
    if (n === wanted.length) return at;
    at = data.indexOf(wanted[0]!, at + 1);
  }
  return -1;
}

/** How many bytes at the end of some data something may begin with. */
function beginning(data: Uint8Array, wanted: Uint8Array): number {
  for (let n = Math.min(data.length, wanted.length - 1); n > 0; n--) {
    let k = 0;
    while (k < n && data[data.length - n + k] === wanted[k]) k++;
    if (k === n) return n;
  }
  return 0;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
