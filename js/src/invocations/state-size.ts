/**
 * How large the state of a session is, outside of invocations.
 */
import type { AppendArgs } from '../codec/tuples.gen.js';
import { invocationError } from '../session-errors.js';
import type { StateChange } from '../store/appender.js';
import { MAX_STATE, sizeOf } from '../validation/state-name.js';
import { scopedName } from './keys.js';
import type { EncodedState } from './session-store.js';

/** Bytes of a state by name. */
export class StateSize {
  readonly #sizes: Map<string, number>;
  #all = 0;

  /** @param state encoded values by names with their scopes */
  constructor(state: EncodedState) {
    this.#sizes = new Map();
    for (const [name, value] of state) this.#set(name, sizeOf(name) + value.length);
  }

  copy(): StateSize {
    const copy = new StateSize([]);
    for (const [name, size] of this.#sizes) copy.#set(name, size);
    return copy;
  }

  /**
   * Changes it as an append does.
   *
   * @param field what the changes are members of
   * @throws TurncoreError E_INVALID_STATE if the state would be too large for an invocation; it is of no use then
   */
  change(
    { state }: AppendArgs,
    changes: readonly StateChange[],
    appName: string,
    field: string,
  ): void {
    state.forEach(({ scope, name }, i) => {
      const scoped = scopedName(appName, scope, name);
      const { value } = changes[i]!;
      this.#set(scoped, value === null ? 0 : sizeOf(scoped) + value.length);
      if (value !== null && this.#all > MAX_STATE) throw tooLarge(`${field}.${scoped}`);
    });
  }

  #set(name: string, size: number): void {
    this.#all += size - (this.#sizes.get(name) ?? 0);
    this.#sizes.set(name, size);
  }
}

function tooLarge(field: string): Error {
  const why = `${field}: the state has at most ${MAX_STATE} bytes`;
  return invocationError('E_INVALID_STATE', why, { details: { field } });
}
