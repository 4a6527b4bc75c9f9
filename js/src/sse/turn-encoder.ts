/**
 * Writes a turn's events as server-sent events. `abi/WIRE.md` describes the format.
 */
import { errorJSON } from '../events/error-json.js';
import type { MessageEvent, ThoughtEvent, TurnEvent } from '../events/events.js';
import type { TurnEnd } from './turn-end.js';

/** Bytes of text that fill a text block. */
const BLOCK = 256;

/** The members of an event that most events share with the one before. */
const SHARED = ['at', 'turnId', 'dispatchId', 'iteration'] as const;

/**
 * Encodes the events of one response. What it gives for an event depends on the events before it, never on when they
 * came: a text block stays open while text comes, so that each delta can be sent at once and costs only its own bytes.
 */
export class TurnEncoder {
  /** The shared members as the reader has them. */
  #head: Record<string, unknown> = {};
  /** The stream of text whose delta was written last, unless something else followed. */
  #text: MessageEvent | ThoughtEvent | undefined;
  /** Length of the stream's text where the open block begins; negative while none is open. */
  #from = -1;
  #seq = 0;

  /** @param after the number of the last event that the reader has */
  constructor(after = 0) {
    this.#seq = after;
  }

  /** The text that follows what was given before. */
  event(event: TurnEvent): string {
    const isText = event.event === 'message' || event.event === 'thought';
    if (isText && this.#continues(event)) return this.#delta(event);
    const before = this.close();
    this.#seq = event.seq;
    this.#text = isText && !event.isComplete ? event : undefined;
    const members = isText ? textMembers(event) : event.toJSON();
    return `${before}data:${lineOf(this.#shorten(event, members))}\nid:${event.seq}\n\n`;
  }

  /** The end of an open block. A comment, and an end of the response, needs one. */
  close(): string {
    if (this.#from < 0) return '';
    this.#from = -1;
    return `"]\nid:${this.#seq}\n\n`;
  }

  /** The end of the turn. */
  end({ status, iterations, error, object }: TurnEnd): string {
    const json = JSON.stringify({
      status,
      iterations,
      ...(error === undefined ? {} : { error: errorJSON(error) }),
      ...(object === undefined ? {} : { object }),
    });
    return `${this.close()}event:end\ndata:${json}\nid:${this.#seq + 1}\n\n`;
  }

  /** Says why the response ends before the turn. */
  fault(error: unknown): string {
    return `${this.close()}event:fault\ndata:${JSON.stringify(errorJSON(error))}\n\n`;
  }

  /** Whether an event goes on with the text of the event before it. */
  #continues(event: MessageEvent | ThoughtEvent): boolean {
    const last = this.#text;
    return (
      last !== undefined &&
      !event.isComplete &&
      event.event === last.event &&
      event.id === last.id &&
      event.turnId === last.turnId &&
      event.dispatchId === last.dispatchId &&
      event.iteration === last.iteration
    );
  }

  #delta(event: MessageEvent | ThoughtEvent): string {
    const { length } = this.#text!;
    // Events that were read from such a stream may share a number: a block has all of them.
    const full = this.#from >= 0 && length - this.#from >= BLOCK && event.seq > this.#seq;
    let begin = full ? this.close() : '';
    if (this.#from < 0) {
      begin += `data:[${event.at - (this.#head['at'] as number)},"`;
      this.#head['at'] = event.at;
      this.#from = length;
    }
    this.#text = event;
    this.#seq = event.seq;
    return begin + JSON.stringify(event.aDelta).slice(1, -1);
  }

  /** Leaves out what the reader has: the number of the event, and what is as in the event before. */
  #shorten(event: TurnEvent, members: Record<string, unknown>): Record<string, unknown> {
    const short: Record<string, unknown> = { event: event.event };
    for (const name of SHARED) {
      const value = event[name];
      if (value !== this.#head[name]) short[name] = value ?? null;
      this.#head[name] = value;
    }
    for (const [name, value] of Object.entries(members)) {
      if (name !== 'event' && name !== 'seq' && !SHARED.includes(name as 'at')) short[name] = value;
    }
    return short;
  }
}

/** An object as JSON, without the members that host code gave and that have no JSON. */
function lineOf(members: Record<string, unknown>): string {
  try {
    return JSON.stringify(members);
  } catch {
    return JSON.stringify(Object.fromEntries(Object.entries(members).filter(hasJSON)));
  }
}

function hasJSON([, value]: readonly [string, unknown]): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** The members of a delta that the reader cannot know. */
function textMembers(event: MessageEvent | ThoughtEvent): Record<string, unknown> {
  const { id, aDelta, length, isComplete, isInterrupted, createdAt, at } = event;
  return {
    id,
    aDelta,
    length,
    ...(isComplete ? { isComplete } : {}),
    ...(isInterrupted ? { isInterrupted } : {}),
    ...(createdAt === at ? {} : { createdAt }),
  };
}
