/**
 * Keeps the end of what a guest writes to stderr, where Go says why it dies: first in a line or two, then in a trace
 * of all its goroutines that may be longer than what is kept.
 */

/** Bytes that are kept. */
const TAIL = 4096;
/** Bytes that are kept from where Go begins to say why it dies. */
const HEAD = 1024;
/** How the line begins in which it does. */
const FATAL = ['panic: ', 'fatal error: ', 'runtime: out of memory'].map((s) =>
  new TextEncoder().encode(s),
);
const FATAL_LENGTH = Math.max(...FATAL.map((s) => s.length));
/** Between what is kept of the beginning and of the end. */
const GAP = '\n…\n';
/** Bytes of one line that is handed out; longer lines are cut. */
const LINE = 4096;

const utf8 = new TextDecoder();

/** The last 4 KiB of a guest's stderr, the first of its dying words, and the lines that were not handed out. */
export class StderrTail {
  readonly #ring = new Uint8Array(TAIL);
  #end = 0;
  #filled = 0;
  /** The dying words; before them, the beginning of the current line. */
  readonly #head = new Uint8Array(HEAD);
  #headLength = 0;
  #dying = false;
  /** Bytes since the dying words began. */
  #since = 0;
  #keepLines = false;
  #lines: string[] = [];
  #line = new Uint8Array(256);
  #lineLength = 0;

  /** Says that {@link takeLines} will be called; without it lines are not collected. */
  collectLines(): void {
    this.#keepLines = true;
  }

  /** Adds what the guest wrote. */
  write(bytes: Uint8Array): void {
    this.#listen(bytes);
    const kept = bytes.length > TAIL ? bytes.subarray(bytes.length - TAIL) : bytes;
    const first = Math.min(kept.length, TAIL - this.#end);
    this.#ring.set(kept.subarray(0, first), this.#end);
    this.#ring.set(kept.subarray(first), 0);
    this.#end = (this.#end + kept.length) % TAIL;
    this.#filled = Math.min(TAIL, this.#filled + kept.length);
    if (this.#keepLines) this.#split(bytes);
  }

  /** What is kept as text of at most 4 KiB, without the last newline. */
  text(): string {
    if (!this.#dying || this.#since <= TAIL) return this.#last(TAIL);
    const head = this.#head.subarray(0, this.#headLength);
    const newline = head.lastIndexOf(10);
    const begin = utf8.decode(newline > 0 ? head.subarray(0, newline) : head);
    return begin + GAP + this.#last(TAIL - HEAD - GAP.length * 3);
  }

  /** The last bytes, from the start of a line where one starts in them. */
  #last(limit: number): string {
    const size = Math.min(this.#filled, limit);
    const out = new Uint8Array(size);
    const start = (this.#end - size + TAIL) % TAIL;
    const first = Math.min(size, TAIL - start);
    out.set(this.#ring.subarray(start, start + first), 0);
    out.set(this.#ring.subarray(0, size - first), first);
    const newline = size === limit ? out.indexOf(10) : -1;
    const from = newline >= 0 && newline < size - 1 ? newline + 1 : 0;
    return utf8.decode(out.subarray(from)).trimEnd();
  }

  /** Complete lines since the last call. */
  takeLines(): string[] {
    const lines = this.#lines;
    if (lines.length > 0) this.#lines = [];
    return lines;
  }

  /** Looks for the line in which Go begins to say why it dies. */
  #listen(bytes: Uint8Array): void {
    let i = 0;
    for (; i < bytes.length && !this.#dying; i++) {
      const c = bytes[i]!;
      if (c === 10) {
        this.#headLength = 0;
      } else if (this.#headLength < FATAL_LENGTH) {
        this.#head[this.#headLength++] = c;
        this.#dying = FATAL.some(
          (f) => f.length === this.#headLength && f.every((b, k) => b === this.#head[k]),
        );
        if (this.#dying) this.#since = this.#headLength;
      }
    }
    if (!this.#dying) return;
    const rest = bytes.subarray(i);
    this.#since += rest.length;
    const part = rest.subarray(0, HEAD - this.#headLength);
    this.#head.set(part, this.#headLength);
    this.#headLength += part.length;
  }

  #split(bytes: Uint8Array): void {
    let from = 0;
    for (;;) {
      const newline = bytes.indexOf(10, from);
      this.#append(bytes.subarray(from, newline < 0 ? bytes.length : newline));
      if (newline < 0) return;
      this.#lines.push(utf8.decode(this.#line.subarray(0, this.#lineLength)));
      this.#lineLength = 0;
      from = newline + 1;
    }
  }

  #append(bytes: Uint8Array): void {
    const part = bytes.subarray(0, LINE - this.#lineLength);
    const size = this.#lineLength + part.length;
    if (size > this.#line.length) {
      const bigger = new Uint8Array(LINE);
      bigger.set(this.#line.subarray(0, this.#lineLength));
      this.#line = bigger;
    }
    this.#line.set(part, this.#lineLength);
    this.#lineLength = size;
  }
}
