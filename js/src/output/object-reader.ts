/**
 * Objects in messages that come.
 */
import { FENCE } from './output.js';
import { PartialJSON } from './partial-json.js';

/** What a message event says. */
export interface MessageDelta {
  readonly dispatchId?: string | undefined;
  readonly id: string;
  readonly aDelta: string;
  readonly isComplete: boolean;
}

/** The part of an object, one in so many, that has to come before it is shown again. */
const GROWTH = 32;

/** Finds objects in messages that come. The Go package turns has the same. */
export class ObjectReader {
  #message: string | undefined;
  /** The message, as long as it is open whether it begins with a fence. */
  #head: string | undefined = '';
  #text = new PartialJSON();
  /** Bytes that were shown. */
  #shown = 0;

  /** Takes a delta of a message. @returns the object so far when there is enough of it that was not shown */
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
    if (event.isComplete && !text.failed && text.bytes === 0) text.end(); // a number on its own
    if (text.failed && !text.complete) return undefined;
    const grown = text.bytes - this.#shown;
    if (grown === 0 || (grown < Math.floor(this.#shown / GROWTH) && !text.complete)) {
      return undefined;
    }
    this.#shown = text.bytes;
    return JSON.parse(text.value) as unknown;
  }
}

/** What follows the line of a fence that a text begins with, or all of the text; undefined as long as that is open. */
function behindFence(text: string): string | undefined {
  const start = text.replace(/^[ \t\r\n]+/, '');
  if (start.startsWith(FENCE)) {
    const line = start.indexOf('\n');
    return line < 0 ? undefined : start.slice(line + 1);
  }
  return FENCE.startsWith(start) ? undefined : text;
}
