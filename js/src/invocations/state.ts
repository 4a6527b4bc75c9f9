/**
 * State as code of an invocation sees it.
 */
import { SessionMethod } from '../abi/frames.gen.js';
import { writeSetStateArgs, writeStateKeyArgs } from '../codec/tuples.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { copyValue } from '../stash/copy-value.js';
import { checkValue, writeAs } from './invalid.js';
import type { OwnActions } from './own-actions.js';

/** Values of a session's state, by name. A name may begin with a scope: `app:`, `user:` or `temp:`. */
export type State = Record<string, unknown>;

/** What holds the state: an invocation that runs. */
export interface StateHolder {
  /** Makes a call that is answered in its step. */
  ask(method: number, write: ((enc: Encoder) => void) | null, context?: number): unknown;
}

/**
 * The state of an invocation. Reads see all changes that its code has made so far. A read gives a copy: changes of what
 * it holds stay with the reader. Every name is a key, whatever it looks like.
 *
 * @param actions take the changes; undefined for state that no event carries
 * @param execution id of the execution of the tool whose handler has the state, for the module to record its changes
 * @param context of that tool's model call
 */
export function liveState(
  holder: StateHolder,
  actions: OwnActions | undefined,
  execution = '',
  context = 0,
): State {
  const get = (name: string): unknown =>
    holder.ask(SessionMethod.GetState, (enc) => writeStateKeyArgs(enc, { name })) ?? undefined;
  const set = (name: string, value: unknown): boolean => {
    const copy = value === undefined ? null : copied(value, name);
    const write = copy === null ? null : writeAs(copy, name, 'E_INVALID_STATE');
    const args = { name, value: write, executionId: execution };
    holder.ask(SessionMethod.SetState, (enc) => writeSetStateArgs(enc, args), context);
    actions?.note('stateDelta', name, copy);
    return true;
  };
  return new Proxy<State>(
    {},
    {
      get: (_, name) => (typeof name === 'symbol' ? undefined : get(name)),
      set: (_, name, value) => typeof name === 'string' && set(name, value),
      deleteProperty: (_, name) => typeof name === 'string' && set(name, null),
      defineProperty: (_, name, { value }) => typeof name === 'string' && set(name, value),
      has: (_, name) => typeof name === 'string' && get(name) !== undefined,
      ownKeys: () => holder.ask(SessionMethod.StateKeys, null) as string[],
      getOwnPropertyDescriptor: (_, name) => {
        const value = typeof name === 'string' ? get(name) : undefined;
        if (value === undefined) return undefined;
        return { value, writable: true, enumerable: true, configurable: true };
      },
    },
  );
}

/** A copy of a value. @throws TurncoreError E_INVALID_STATE, which names the part that has no encoding */
function copied(value: unknown, name: string): unknown {
  try {
    return copyValue(value, name);
  } catch (error) {
    checkValue(value, name);
    throw error;
  }
}
