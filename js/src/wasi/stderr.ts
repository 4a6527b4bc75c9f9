/**
 * Keeps the end of what a guest writes to stderr, where Go says why it dies.
 */

/** Bytes that are kept. */
const TAIL = 4096;
/** Bytes of one line that is handed out; longer lines are cut. */
const LINE = 4096;

const utf8 = new TextDecoder();

/** The last 4 KiB of a guest's stderr, and the lines that were not handed out. */
export class StderrTail {
  readonly #ring = new Uint8Array(TAIL);
  #end = 0;
  #filled = 0;
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
    const kept = bytes.length > TAIL ? bytes.subarray(bytes.length - TAIL) : bytes;
    const first = Math.min(kept.length, TAIL - this.#end);
    this.#ring.set(kept.subarray(0, first), this.#end);
    this.#ring.set(kept.subarray(first), 0);
    this.#end = (this.#end + kept.length) % TAIL;
    this.#filled = Math.min(TAIL, this.#filled + kept.length);
    if (this.#keepLines) this.#split(bytes);
  }

  /** The last bytes as text, from the start of a line where a line starts in them; without the last newline. */
  text(): string {
    const out = new Uint8Array(this.#filled);
    const start = (this.#end - this.#filled + TAIL) % TAIL;
    const first = Math.min(this.#filled, TAIL - start);
    out.set(this.#ring.subarray(start, start + first), 0);
    out.set(this.#ring.subarray(0, this.#filled - first), first);
    const newline = this.#filled === TAIL ? out.indexOf(10) : -1;
    const from = newline >= 0 && newline < TAIL - 1 ? newline + 1 : 0;
    return utf8.decode(out.subarray(from)).trimEnd();
  }

  /** Complete lines since the last call. */
  takeLines(): string[] {
    const lines = this.#lines;
    if (lines.length > 0) this.#lines = [];
    return lines;
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
