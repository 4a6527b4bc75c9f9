/**
 * Incomplete JSON. A port of the Go hosts' reader (package host/internal/partial): both return the same text for the
 * same deltas.
 */

/** Nesting limit of a value, as in the Go reader. */
const MAX_DEPTH = 60;

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** The start of a number that may become one. */
const NUMBER_START = /^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*|(?:\.[0-9]+)?[eE](?:[+-]?[0-9]*))?)?$/;
const WORDS = ['true', 'false', 'null'];
const ESCAPES = '"\\/bfnrt';

type State =
  | 'value'
  | 'first'
  | 'member'
  | 'key'
  | 'inKey'
  | 'string'
  | 'colon'
  | 'word'
  | 'number'
  | 'behind';

/**
 * Reads one JSON text in parts, and can return its certain part at any time. The rest of the text cannot change that
 * part: a key appears with the start of its value, a number when the character after it has arrived, and a string
 * grows by whole characters and whole escapes.
 */
export class PartialJSON {
  /** The certain text, without white space between values. */
  #text = '';
  /** Its length in bytes of UTF-8. */
  #bytes = 0;
  /** The uncertain text: a comma, a key, a number, a word. */
  #pending = '';
  /** The incomplete escape at the end of a string or a key. */
  #tail = '';
  /** The closing characters of open containers, the outermost last. */
  #closing: string[] = [];
  #state: State = 'value';
  /** The start of the number or the word in the uncertain text. */
  #from = 0;
  #failed = false;

  /** Whether the text is not JSON. The certain text before the error remains. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Whether the value is complete. A number on its own is complete at the end of the text. */
  get complete(): boolean {
    return this.#state === 'behind' && this.#closing.length === 0;
  }

  /** Length of the certain text in bytes of UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The value so far, with all open containers closed; empty until some of it is certain. */
  get value(): string {
    return this.#text + this.#closing.join('');
  }

  /** Takes the next part of the text. */
  write(chunk: string): void {
    for (let i = 0; i < chunk.length && !this.#failed;) {
      if (this.#state === 'string' && this.#tail === '') {
        // The usual case: a run of literal characters.
        let end = i;
        while (end < chunk.length && isPlain(chunk.charCodeAt(end))) end++;
        if (end > i) this.#certain(chunk.slice(i, end));
        if ((i = end) === chunk.length) break;
      }
      if (this.#next(chunk[i]!)) i++;
    }
  }

  /** Ends the text: a number at its end is complete. */
  end(): void {
    if (this.#state === 'number' && NUMBER.test(this.#pending.slice(this.#from))) this.#done();
    if (!this.complete) this.#failed = true;
  }

  #fail(): boolean {
    this.#failed = true;
    return false;
  }

  /** Adds to the certain text. */
  #certain(text: string): void {
    this.#text += text;
    for (let i = 0; i < text.length; i++) this.#bytes += bytesOf(text.charCodeAt(i));
  }

  #flushPending(): void {
    this.#certain(this.#pending);
    this.#pending = '';
  }

  #done(): void {
    this.#flushPending();
    this.#state = 'behind';
  }

  /** Takes a character. @returns false if it was not consumed, or is an error */
  #next(c: string): boolean {
    switch (this.#state) {
      case 'inKey':
      case 'string':
        return this.#inText(c);
      case 'word':
        return this.#inWord(c);
      case 'number':
        return this.#inNumber(c);
      default:
    }
    if (c === ' ' || c === '\n' || c === '\r' || c === '\t') return true;
    switch (this.#state) {
      case 'value':
      case 'first':
        return c === ']' && this.#state === 'first' ? this.#leave(c) : this.#value(c);
      case 'member':
      case 'key':
        if (c === '}' && this.#state === 'member') return this.#leave(c);
        if (c !== '"') return this.#fail();
        this.#pending += c;
        this.#state = 'inKey';
        return true;
      case 'colon':
        if (c !== ':') return this.#fail();
        this.#pending += c;
        this.#state = 'value';
        return true;
      default:
        return this.#behind(c);
    }
  }

  #behind(c: string): boolean {
    const closing = this.#closing[0];
    if (closing === undefined) return this.#fail();
    if (c === closing) return this.#leave(c);
    if (c !== ',') return this.#fail();
    this.#pending += c;
    this.#state = closing === '}' ? 'key' : 'value';
    return true;
  }

  /** Takes the first character of a value. */
  #value(c: string): boolean {
    if (c === '{' || c === '[' || c === '"') {
      if (c !== '"' && this.#closing.length === MAX_DEPTH) return this.#fail();
      this.#pending += c;
      this.#flushPending();
      this.#closing.unshift(c === '{' ? '}' : c === '[' ? ']' : '"');
      this.#state = c === '{' ? 'member' : c === '[' ? 'first' : 'string';
      return true;
    }
    const number = c === '-' || (c >= '0' && c <= '9');
    if (!number && c !== 't' && c !== 'f' && c !== 'n') return this.#fail();
    this.#from = this.#pending.length;
    this.#pending += c;
    this.#state = number ? 'number' : 'word';
    return true;
  }

  /** Ends a container, or a string. */
  #leave(c: string): boolean {
    this.#certain(c);
    this.#closing.shift();
    this.#state = 'behind';
    return true;
  }

  #inWord(c: string): boolean {
    const word = this.#pending.slice(this.#from) + c;
    if (!WORDS.some((known) => known.startsWith(word))) return this.#fail();
    this.#pending += c;
    if (WORDS.includes(word)) this.#done();
    return true;
  }

  #inNumber(c: string): boolean {
    const number = this.#pending.slice(this.#from);
    if (NUMBER_START.test(number + c)) {
      this.#pending += c;
      return true;
    }
    if (!NUMBER.test(number) || (c >= '0' && c <= '9')) return this.#fail();
    this.#done();
    return false;
  }

  /** Takes a character of a string or a key. */
  #inText(c: string): boolean {
    if (this.#tail !== '') return this.#inEscape(c);
    if (c === '"') {
      if (this.#state === 'string') return this.#leave(c);
      this.#pending += c;
      this.#state = 'colon';
      return true;
    }
    if (c < ' ') return this.#fail();
    if (c === '\\') this.#tail = c;
    else this.#flush(c);
    return true;
  }

  /** Takes a character of an escape after its start. The first half of a pair waits for the second one. */
  #inEscape(c: string): boolean {
    const tail = this.#tail;
    const n = tail.length;
    if (n === 1 && ESCAPES.includes(c)) {
      this.#tail = '';
      this.#flush(tail + c);
      return true;
    }
    if ((n === UNIT && c !== '\\') || (n === UNIT + 1 && c !== 'u')) {
      this.#tail = tail.slice(UNIT);
      this.#flush(tail.slice(0, UNIT));
      return false;
    }
    const at = n % UNIT;
    if (at !== 0 && !(at === 1 ? c === 'u' : isHex(c))) return this.#fail();
    this.#tail += c;
    if ((n + 1) % UNIT !== 0) return true;
    const whole = this.#tail;
    const wait = /\\u[dD][89aAbB]..$/.test(whole);
    this.#tail = wait ? whole.slice(-UNIT) : '';
    this.#flush(wait ? whole.slice(0, -UNIT) : whole);
    return true;
  }

  #flush(text: string): void {
    if (this.#state === 'string') this.#certain(text);
    else this.#pending += text;
  }
}

/** Length of `\u0000`. */
const UNIT = 6;

function isPlain(code: number): boolean {
  return code >= 0x20 && code !== 0x22 && code !== 0x5c;
}

function isHex(c: string): boolean {
  return /^[0-9a-fA-F]$/.test(c);
}

/** Bytes of UTF-8 per code unit: each half of a pair counts as two. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
}
