/**
 * Lines of a stream of server-sent events.
 */

/** Splits text that comes in pieces into lines that end with CR, LF or both. */
export class Lines {
  readonly #utf8 = new TextDecoder();
  /** The beginning of the current line. */
  #rest = '';
  /** The text so far ended with CR: an LF that follows belongs to it. */
  #cr = false;

  /** What has come of the line that has not ended yet. */
  get rest(): string {
    return this.#rest;
  }

  /** Replaces the beginning of the current line, whose reader has taken some of it. */
  set rest(text: string) {
    this.#rest = text;
  }

  /** Takes bytes and gives the lines that end in them, without their ends. */
  *split(bytes: Uint8Array): Generator<string> {
    let text = this.#utf8.decode(bytes, { stream: true });
    if (text === '') return;
    if (this.#cr && text.startsWith('\n')) text = text.slice(1);
    this.#cr = text.endsWith('\r');
    let from = 0;
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      const line = this.#rest + text.slice(from, index);
      this.#rest = '';
      from = index + end.length;
      yield line;
    }
    this.#rest += text.slice(from);
  }
}
