/**
 * Reads objects from streaming messages.
 */
import { FENCE } from './output.js';
import { PartialJSON } from './partial-json.js';

/** The data of a message event. */
export interface MessageDelta {
  readonly dispatchId?: string | undefined;
  readonly id: string;
  readonly aDelta: string;
  readonly isComplete: boolean;
}

/** The fraction of an object that must arrive before the next partial object is returned. */
const GROWTH = 32;

/** Finds objects in streaming messages. The Go package turns has the same. */
export class ObjectReader {
  #message: string | undefined;
  /** The message so far, until it is clear whether it begins with a fence. */
  #head: string | undefined = '';
  #text = new PartialJSON();
  /** Number of bytes shown. */
  #shown = 0;

  /** Takes a delta of a message. @returns the object so far, if enough of it is new */
  next(event: MessageDelta): unknown {
    const message = `${event.dispatchId ?? ''} ${event.id}`;
    if (message !== this.#message) {
      this.#message = message;
      this.#head = '';
      this.#text = new PartialJSON();
      this.#shown = 0;
    }
    const text = this.#text;
    if (text.failed) return undefined;
    let delta = event.aDelta;
    if (this.#head !== undefined) {
      const rest = behindFence((this.#head += delta));
      if (rest === undefined) return undefined;
      delta = rest;
      this.#head = undefined;
    }
    text.write(delta);
    if (event.isComplete && !text.failed && text.bytes === 0) text.end(); // a bare number
    if (text.failed && !text.complete) return undefined;
    const grown = text.bytes - this.#shown;
    if (grown === 0 || (grown < Math.floor(this.#shown / GROWTH) && !text.complete)) {
      return undefined;
    }
    this.#shown = text.bytes;
    return JSON.parse(text.value) as unknown;
  }
}

/** The text after a leading fence line, or the whole text; undefined until that is clear. */
function behindFence(text: string): string | undefined {
  const start = text.replace(/^[ \t\r\n]+/, '');
  if (start.startsWith(FENCE)) {
    const line = start.indexOf('\n');
    return line < 0 ? undefined : start.slice(line + 1);
  }
  return FENCE.startsWith(start) ? undefined : text;
}
