/**
 * What the event of a callback or of a tool does.
 */
import { defineData } from '../stash/copy-value.js';
import { actionsValue, EventActions, refuseMisspelled } from './event.js';
import { hasNames } from './names.js';

/** Actions that code may put others in place of. What it has written and saved stays, as all code has seen it. */
export class OwnActions {
  readonly #recorded: boolean;
  /** What the state was written by, and what was saved. */
  readonly #made = new EventActions();
  /** As code has them, once it has asked: whatever it has put there. */
  #given: EventActions | undefined;

  /** @param recorded the module has the writes of the state */
  constructor(recorded: boolean) {
    this.#recorded = recorded;
  }

  get given(): EventActions {
    return (this.#given ??= new EventActions(this.#made));
  }

  set given(given: EventActions) {
    this.#given = given;
  }

  /** Notes a write of the state, or an artifact that was saved. */
  note(delta: 'stateDelta' | 'artifactDelta', name: string, value: unknown): void {
    defineData(this.#made[delta], name, value);
    const shown: unknown = this.#given?.[delta];
    if (!hasNames(shown)) return;
    if (Object.isExtensible(shown)) defineData(shown, name, value);
    else
      this.#given = Object.assign(new EventActions(), this.#given, {
        [delta]: { ...shown, [name]: value },
      });
  }

  /** As they cross; undefined if there are none. @throws TurncoreError E_INVALID_EVENT for a misspelled name */
  value(): object | undefined {
    const { stateDelta, artifactDelta } = this.#made;
    const given = this.#given;
    if (given === undefined) {
      const known = this.#recorded && Object.keys(artifactDelta).length === 0;
      return known ? undefined : actionsValue(this.#made);
    }
    refuseMisspelled(given);
    if (!hasNames(given ?? {})) return actionsValue(given);
    const whole: object = Object.assign({}, given, {
      stateDelta: united(this.#recorded ? {} : stateDelta, given?.stateDelta),
      artifactDelta: united(artifactDelta, given?.artifactDelta),
    });
    return actionsValue(whole);
  }
}

/** A delta with what it lacks of another one. What is none stays, and is refused. */
function united(made: object, given: object | null | undefined): object | null | undefined {
  return hasNames(given ?? {}) ? { ...given, ...made, ...given } : given;
}
