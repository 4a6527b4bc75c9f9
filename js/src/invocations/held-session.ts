/**
 * Sessions that a process has read: each of their events is read once, and told once to an instance.
 */
import { Collection } from '../abi/frames.gen.js';
import type { Awaitable } from '../awaitable.js';
import { decodeValue } from '../codec/decoder.js';
import type { Encoder } from '../codec/encoder.js';
import { encodeBody, type Encodable } from '../primitives/body.js';
import type { HistoryUploads } from '../turn/history-uploads.js';
import type { Appender, SessionEvent } from '../store/appender.js';
import { type Event, type EventData, reviveBody } from './event.js';
import { bytesOf } from './event-bytes.js';
import { ShownContents } from './shown.js';
import { after } from './waiting.js';

/** Bytes of an event from which on it is looked at whether its actions have them. */
const LARGE = 65536;
const NOTHING_KEPT = { have: 0, mark: 0 };

/** An event that is stored. */
class HeldEvent implements Encodable {
  readonly id: string;
  readonly body: Uint8Array;
  readonly revision: string;
  #event: Event | undefined;

  constructor({ id, body, revision }: SessionEvent) {
    this.id = id;
    this.body = body;
    this.revision = revision;
  }

  /** What it says. */
  get event(): Event {
    return (this.#event ??= reviveBody(this.body));
  }

  [encodeBody](enc: Encoder): void {
    enc.raw(this.body);
  }

  /** Bytes that requests to models may have: they never have actions. */
  get shownBytes(): number {
    const { body } = this;
    if (body.length < LARGE) return body.length;
    const { actions = null } = decodeValue(body) as EventData;
    return body.length - bytesOf(actions, 'actions').length;
  }

  is({ id, body }: SessionEvent): boolean {
    if (id !== this.id || body.length !== this.body.length) return false;
    return body.every((byte, i) => byte === this.body[i]);
  }
}

/** The events of a session as they were read. They only grow. */
export class HeldSession {
  /** The number of its collection in an instance. */
  readonly collection = Collection.Events;
  readonly #events: HeldEvent[] = [];
  readonly #contents = new Map<string, ShownContents>();
  /** Those that have told instances of it. */
  readonly #tellers = new Set<HistoryUploads>();

  /** Bytes of all of them. */
  bytes = 0;
  /** Those that requests to models may have. */
  shownBytes = 0;

  /** How many there are. */
  get length(): number {
    return this.#events.length;
  }

  /** An event by its place. */
  at(index: number): HeldEvent | undefined {
    return this.#events[index];
  }

  /** The events that users see, of the first ones. The first event of all creates the session. */
  shown(count: number): Event[] {
    return this.#events.slice(1, count).map(({ event }) => event);
  }

  /** Notes who tells an instance of it. */
  toldBy(teller: HistoryUploads): void {
    this.#tellers.add(teller);
  }

  /** Has instances forget it. An invocation that runs keeps what it has. */
  forget(): void {
    for (const teller of this.#tellers) teller.drop(this);
    this.#tellers.clear();
  }

  /** How much of what the models of an agent were shown is kept, as the module is told of it. @param agent its name */
  kept(agent: string): { readonly have: number; readonly mark: number } {
    return this.#contents.get(agent)?.kept ?? NOTHING_KEPT;
  }

  /** What the models of an agent were shown. @param agent its name */
  contents(agent: string): ShownContents {
    let contents = this.#contents.get(agent);
    if (contents === undefined) this.#contents.set(agent, (contents = new ShownContents()));
    return contents;
  }

  /** Takes the event of a place. Who reads and who appends may both bring it. */
  put(index: number, event: SessionEvent): void {
    if (index !== this.#events.length) return;
    const held = new HeldEvent(event);
    this.#events.push(held);
    this.bytes += event.body.length;
    this.shownBytes += held.shownBytes;
  }

  /**
   * Reads the events that others have appended.
   *
   * @returns whether the session is the one that was read before; otherwise it was deleted meanwhile
   */
  refresh(store: Appender, session: string): Awaitable<boolean> {
    const last = this.#events.length - 1;
    // The last one comes again: it tells that the session is the same.
    const query = last > 0 ? { after: this.#events[last - 1]!.revision } : {};
    return after(store.events(session, query), (found) => {
      if (last >= 0 && (found[0] === undefined || !this.#events[last]!.is(found[0]))) return false;
      found.forEach((event, i) => this.put(Math.max(last, 0) + i, event));
      return true;
    });
  }
}
