/**
 * Reads a turn's events from server-sent events. `abi/WIRE.md` describes the format.
 */
import { utf8Length } from '../codec/layout.js';
import { TurncoreError } from '../errors.js';
import { MessageEvent, setHead, ThoughtEvent, type TurnEvent } from '../events/events.js';
import {
  errorFromJSON,
  eventFromJSON,
  isErrorJSON,
  isMembers,
  type MakeGate,
  malformed,
  type Members,
} from './event-from-json.js';
import { Lines } from './lines.js';
import type { TurnEnd } from './turn-end.js';

/** The most characters that an event may have, apart from text. */
export const MAX_EVENT = 64 * 2 ** 20;

/** Where the events of a stream go. */
export interface TurnListener {
  event(event: TurnEvent): void;
  readonly gate: MakeGate;
}

/** The members that events share. */
interface Head {
  at: number;
  turnId: string | undefined;
  dispatchId: string | undefined;
  iteration: number | undefined;
}

/** A message or thought that is being read. */
interface Text {
  readonly made: typeof MessageEvent | typeof ThoughtEvent;
  readonly id: string;
  readonly head: Head;
  readonly createdAt: number;
  full: string;
  /** Bytes of `full`. */
  length: number;
}

const statuses: readonly unknown[] = ['ack', 'nack', 'aborted', 'failed'];

/** The beginning of a text block: milliseconds since the event before, and a text. */
const BLOCK = /^\[(-?\d{1,16}),"/;
/** Characters that decide whether data are a text block. */
const BEGINNING = 32;

/**
 * Decodes the events of one turn, from one response or from several that follow each other. Text is told as it comes,
 * before its block is complete.
 */
export class TurnDecoder {
  readonly #listener: TurnListener;
  readonly #maxEvent: number;
  #lines = new Lines();
  #head: Head | undefined;
  readonly #texts = new Map<string, Text>();
  /** The text that text blocks add to. */
  #text: Text | undefined;
  /** Characters of the current text that came after the last number. */
  #ahead = 0;
  /** Characters that come again after a cut. */
  #again = 0;
  #seq: number;
  #end: TurnEnd | undefined;

  // The block so far.
  #type = '';
  #id: number | undefined;
  #data: string[] = [];
  #size = 0;
  /** The current line is that of a text block, whose beginning was read. */
  #open = false;
  /** The current line is no text block's: its beginning was read. */
  #plain = false;
  /** The block is a text block that was read. */
  #read = false;
  /** The text block has been told. */
  #told = false;

  /** @param after the number of the last known event @param maxEvent see {@link MAX_EVENT} */
  constructor(listener: TurnListener, after = 0, maxEvent = MAX_EVENT) {
    this.#listener = listener;
    this.#seq = after;
    this.#maxEvent = maxEvent;
  }

  /** The number of the last event that was read whole: where a next response begins. */
  get lastEventId(): number {
    return this.#seq;
  }

  /** How the turn ended; undefined before. */
  get end(): TurnEnd | undefined {
    return this.#end;
  }

  /** Forgets what was read of an incomplete block. The next bytes are those of a response after {@link lastEventId}. */
  resume(): void {
    this.#lines = new Lines();
    this.#again = this.#ahead;
    this.#head = undefined;
    this.#text = undefined;
    this.#open = false;
    this.#plain = false;
    this.#reset();
  }

  /**
   * Takes bytes of the response. What follows the end is not read.
   *
   * @throws TurncoreError E_TURN_STREAM_MALFORMED for what no server of turns writes; the error with which the server
   * ended the response
   */
  write(bytes: Uint8Array): void {
    for (const line of this.#lines.split(bytes)) {
      if (this.#end !== undefined) return;
      this.#line(line);
    }
    const { rest } = this.#lines;
    if (rest !== '' && this.#end === undefined) this.#lines.rest = this.#begun(rest);
  }

  #line(line: string): void {
    this.#plain = false;
    if (this.#open) {
      this.#close(line);
      return;
    }
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    switch (name) {
      case 'data': {
        const begin = this.#beginning(value);
        if (begin === 0) this.#push(value);
        else this.#close(value.slice(begin));
        break;
      }
      case 'event':
        this.#type = value;
        break;
      case 'id':
        this.#id = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
        break;
      default:
    }
  }

  /** Reads what it can of a line that has not ended. @returns the rest */
  #begun(rest: string): string {
    let text = rest;
    if (!this.#open) {
      this.#requireSize(text.length);
      if (this.#plain) return text;
      const value = /^data: ?/.exec(text)?.[0].length ?? 0;
      const begin = value === 0 ? 0 : this.#beginning(text.slice(value, value + BEGINNING));
      if (begin === 0) {
        this.#plain = text.length > value + BEGINNING;
        return text;
      }
      this.#open = true;
      text = text.slice(value + begin);
    }
    const end = wholeCharacters(text);
    if (end > 0) this.#add(text.slice(0, end));
    if (text.length - end > 32) throw malformed('a text block does not end');
    return text.slice(end);
  }

  /** Where the text of a text block begins in the first data of a block; 0 for other data. */
  #beginning(value: string): number {
    if (this.#data.length > 0 || this.#read || !isMessage(this.#type)) return 0;
    const found = BLOCK.exec(value);
    if (found === null) return 0;
    if (this.#text === undefined) throw malformed('text of no message');
    this.#head!.at += Number(found[1]);
    return found[0].length;
  }

  /** Reads the rest of a text block's line. */
  #close(line: string): void {
    const end = wholeCharacters(line);
    if (!/^"\s*\]\s*$/.test(line.slice(end))) throw malformed('a text block ends within its text');
    if (end > 0 || !this.#told) this.#add(line.slice(0, end));
    this.#open = false;
    this.#read = true;
  }

  /** Tells a piece of a text block. */
  #add(raw: string): void {
    this.#told = true;
    this.#append(this.#text!, textOf(raw), this.#seq + 1, false, false);
  }

  #push(value: string): void {
    this.#size += value.length;
    this.#requireSize(0);
    this.#data.push(value);
  }

  #requireSize(more: number): void {
    if (this.#size + more <= this.#maxEvent) return;
    throw malformed(`an event is over the limit of ${this.#maxEvent} characters`);
  }

  #reset(): void {
    this.#type = '';
    this.#id = undefined;
    this.#data = [];
    this.#size = 0;
    this.#read = false;
    this.#told = false;
  }

  /** Reads a block at its end. */
  #dispatch(): void {
    if (this.#read) {
      this.#advance();
    } else if (this.#data.length > 0) {
      const data = this.#data.join('\n');
      if (isMessage(this.#type)) this.#event(jsonOf(data));
      else if (this.#type === 'end') this.#ended(jsonOf(data));
      else if (this.#type === 'fault') throw faultOf(jsonOf(data));
    }
    this.#reset();
  }

  /** Takes the number of a block. */
  #advance(): number {
    const id = this.#id;
    if (id === undefined) throw malformed('an event without a number');
    if (id <= this.#seq) throw malformed(`event ${id} follows event ${this.#seq}`);
    this.#seq = id;
    this.#ahead = this.#again;
    return id;
  }

  #event(json: unknown): void {
    if (Array.isArray(json)) {
      this.#spaced(json);
      return;
    }
    if (!isMembers(json) || typeof json['event'] !== 'string') {
      throw malformed('an event is an object with its name');
    }
    const name = json['event'];
    const head = this.#headOf(json);
    const seq = this.#advance();
    this.#text = undefined;
    if (name === 'message' || name === 'thought') {
      this.#textEvent(name === 'message' ? MessageEvent : ThoughtEvent, json, seq, head);
      return;
    }
    if (this.#again > 0) throw malformed(`event ${seq} is not the one that was cut off`);
    const event = eventFromJSON(name, json, head, this.#listener.gate);
    if (event !== undefined) this.#tell(event, seq, head);
  }

  /** Reads a text block in another spelling than the format's, after a proxy has parsed and written it. */
  #spaced(block: readonly unknown[]): void {
    const [ms, delta] = block;
    if (block.length !== 2 || !Number.isSafeInteger(ms) || typeof delta !== 'string') {
      throw malformed('a text block has a time and a text');
    }
    if (this.#text === undefined) throw malformed('text of no message');
    this.#head!.at += ms as number;
    this.#append(this.#text, delta, this.#seq + 1, false, false);
    this.#advance();
  }

  /** The common members of an event: what it leaves out is as in the event before. */
  #headOf(json: Members): Head {
    const last = this.#head;
    const member = (name: keyof Head, type: 'number' | 'string'): unknown => {
      const value = name in json ? json[name] : last?.[name];
      if (value === undefined || (value === null && name !== 'at')) return undefined;
      if (typeof value !== type) throw malformed(`\`${name}\` of an event must be a ${type}`);
      return value;
    };
    const at = member('at', 'number');
    if (at === undefined) throw malformed('the first event must have a time');
    const head = {
      at,
      turnId: member('turnId', 'string'),
      dispatchId: member('dispatchId', 'string'),
      iteration: member('iteration', 'number'),
    } as Head;
    this.#head = head;
    return head;
  }

  #textEvent(made: Text['made'], json: Members, seq: number, head: Head): void {
    const { id, aDelta, length, isComplete, isInterrupted, createdAt = head.at } = json;
    if (
      typeof id !== 'string' ||
      typeof aDelta !== 'string' ||
      typeof length !== 'number' ||
      typeof createdAt !== 'number'
    ) {
      throw malformed('a message has an `id`, `aDelta` and `length`');
    }
    const key = `${made.name} ${head.dispatchId ?? ''} ${id}`;
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = { made, id, head, createdAt, full: '', length: 0 };
      this.#texts.set(key, text);
    }
    this.#append(text, aDelta, seq, isComplete === true, isInterrupted === true);
    // What comes again is in `full` already, its end not yet in `length` of the event.
    if (this.#again === 0 && text.length !== length) {
      throw malformed(`the text of ${id} has ${text.length} bytes, not ${length}`);
    }
    this.#ahead = this.#again;
    if (isComplete === true) this.#texts.delete(key);
    else this.#text = text;
  }

  /** Adds to a text and tells of it. */
  #append(
    text: Text,
    given: string,
    seq: number,
    isComplete: boolean,
    isInterrupted: boolean,
  ): void {
    let delta = given;
    if (this.#again > 0) {
      const known = text.full.slice(text.full.length - this.#again).slice(0, delta.length);
      if (!delta.startsWith(known)) throw malformed(`the text of ${text.id} has changed`);
      delta = delta.slice(known.length);
      this.#again -= known.length;
      if (delta === '' && !isComplete) return;
    }
    this.#ahead += delta.length;
    text.full += delta;
    text.length += utf8Length(delta);
    const head = this.#head!;
    const event = new text.made(
      text.id,
      delta,
      text.full,
      text.length,
      isComplete,
      isInterrupted,
      text.createdAt,
      head.at,
    );
    this.#tell(event, seq, head);
  }

  #tell(event: TurnEvent, seq: number, head: Head): void {
    setHead(event, seq, head.at, head.turnId, head.dispatchId, head.iteration ?? -1);
    this.#listener.event(event);
  }

  #ended(json: unknown): void {
    if (!isMembers(json) || !statuses.includes(json['status'])) {
      throw malformed('the end of a turn has its `status`');
    }
    const { status, iterations, error, object } = json;
    if (typeof iterations !== 'number') throw malformed('the end of a turn has its `iterations`');
    const told = errorFromJSON(error);
    const wants = error !== undefined || status === 'failed' || status === 'nack';
    if (told === undefined && wants) throw malformed('the end of this turn has no valid `error`');
    this.#advance();
    this.#end = {
      status: status as TurnEnd['status'],
      iterations,
      error: told,
      object,
    };
  }
}

/** Whether a type of server-sent events is the one that the format has for events without one. */
function isMessage(type: string): boolean {
  return type === '' || type === 'message';
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (cause) {
    throw TurncoreError.of('E_TURN_STREAM_MALFORMED', 'the data of an event are not JSON', {
      cause,
    });
  }
}

function faultOf(json: unknown): unknown {
  return isErrorJSON(json) ? errorFromJSON(json) : malformed('a fault without an error');
}

/** The text of the inside of a JSON string. */
function textOf(raw: string): string {
  return jsonOf(`"${raw}"`) as string;
}

/**
 * Where the whole characters of the inside of a JSON string end: at its closing quote, or before an escape or a pair
 * of surrogates whose second half has not come yet.
 */
function wholeCharacters(text: string): number {
  let i = 0;
  let whole = 0;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (c === 0x22) break;
    let unit = c;
    let size = 1;
    if (c === 0x5c) {
      size = text[i + 1] === 'u' ? 6 : 2;
      if (i + size > text.length) break;
      unit = size === 6 ? parseInt(text.slice(i + 2, i + 6), 16) : 0;
    }
    i += size;
    if (unit < 0xd800 || unit > 0xdbff || text[i] === '"') whole = i;
  }
  return whole;
}
