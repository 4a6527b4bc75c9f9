/**
 * Events on their way between threads.
 */
import { MessageEvent, setHead, ThoughtEvent, type TurnEvent } from '../events/events.js';
import type { Question } from '../events/turn-gate.js';
import { emptyEvent } from '../sse/event-from-json.js';
import type { Packed, Packer, Refusals, Unpacker } from './cloning.js';

/** An event without its class. A message or thought goes without the text so far, which would grow with every one. */
export function formOf(event: TurnEvent, packer: Packer, refusals: Refusals): Packed {
  if (event.event !== 'message' && event.event !== 'thought') {
    return packer.pack(Object.fromEntries(Object.entries(event)), event.event, refusals);
  }
  const { full: _, ...members } = event;
  return { value: members };
}

/** Makes the events of one turn of their forms. */
export class EventReader {
  readonly #unpacker: Unpacker;
  readonly #gate: (question: Question) => TurnEvent;
  /** The texts of open streams. */
  readonly #texts = new Map<string, string>();

  constructor(unpacker: Unpacker, gate: (question: Question) => TurnEvent) {
    this.#unpacker = unpacker;
    this.#gate = gate;
  }

  /** @returns undefined for an event of an unknown name */
  read(form: Packed): TurnEvent | undefined {
    const given = this.#unpacker.unpack(form) as TurnEvent;
    const event = this.#event(given);
    if (event === undefined) return undefined;
    const { seq, at, turnId, dispatchId, iteration = -1 } = given;
    setHead(event, seq, at, turnId, dispatchId, iteration);
    return event;
  }

  #event(given: TurnEvent): TurnEvent | undefined {
    switch (given.event) {
      case 'message':
        return this.#text(MessageEvent, given);
      case 'thought':
        return this.#text(ThoughtEvent, given);
      case 'turnGateOpen':
        return this.#gate(given);
      default: {
        const empty = emptyEvent(given.event);
        return empty === undefined ? undefined : Object.assign(empty, given);
      }
    }
  }

  #text<E extends TurnEvent>(
    make: new (...args: ConstructorParameters<typeof MessageEvent>) => E,
    given: Omit<MessageEvent | ThoughtEvent, 'full'>,
  ): E {
    const { event, dispatchId, id, aDelta, length, isComplete, isInterrupted } = given;
    const key = `${event} ${dispatchId ?? ''} ${id}`;
    const full = (this.#texts.get(key) ?? '') + aDelta;
    if (isComplete) this.#texts.delete(key);
    else this.#texts.set(key, full);
    const interrupted = isInterrupted === true;
    return new make(id, aDelta, full, length, isComplete, interrupted, given.createdAt, given.at);
  }
}
