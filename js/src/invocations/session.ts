/**
 * Sessions outside of invocations.
 */
import { decodeValue } from '../codec/decoder.js';
import type { AppendArgs } from '../codec/tuples.gen.js';
import { type Event, freeze, revive } from './event.js';
import { scopedName, type SessionKey } from './keys.js';
import type { Found } from './recent.js';
import type { EncodedState } from './session-store.js';
import type { State } from './state.js';
import { StateSize } from './state-size.js';

/**
 * A session as it was when it was read, and as `appendEvent` has changed it since: its state, and what was said and
 * done in it.
 */
export class Session {
  /** Unique among the sessions of the user. */
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  /** A copy of its values and of those that it shares, by name with scope. Changes of the copy are not stored. */
  readonly state: State;
  readonly #events: Event[];
  #revision: string;
  /** The state as it was read. */
  readonly #stored: EncodedState;
  #size: StateSize | undefined;

  /** @internal */
  constructor({ sessionId, appName, userId }: SessionKey, stored: EncodedState, found: Found) {
    this.id = sessionId;
    this.appName = appName;
    this.userId = userId;
    this.state = Object.fromEntries(stored.map(([name, value]) => [name, decodeValue(value)]));
    this.#stored = stored;
    this.#events = found.events;
    this.#revision = found.revision;
  }

  /** Its events, in order: all, or those that it was read with and what was appended since. */
  get events(): readonly Event[] {
    return this.#events;
  }

  /** Counts what was appended: an append fails if the store has another one. */
  get revision(): string {
    return this.#revision;
  }

  /** When its last event was made, in ms since the Unix epoch; 0 if there is none. */
  get lastUpdateTime(): number {
    return this.#events.at(-1)?.timestamp ?? 0;
  }

  /** @internal */
  get key(): SessionKey {
    return { appName: this.appName, userId: this.userId, sessionId: this.id };
  }

  /** @internal Of the state as it is stored. */
  get size(): StateSize {
    return (this.#size ??= new StateSize(this.#stored));
  }

  /** @internal Takes what was appended. @param size of the state after it. @returns the event */
  appended({ event, state }: AppendArgs, revision: string, size: StateSize): Event {
    for (const { scope, name, value } of state) {
      const key = scopedName(this.appName, scope, name);
      if (value === null) Reflect.deleteProperty(this.state, key);
      else this.state[key] = value;
    }
    const made = revive(event as object);
    this.#events.push(made);
    this.#revision = revision;
    this.#size = size;
    return freeze(made);
  }
}
