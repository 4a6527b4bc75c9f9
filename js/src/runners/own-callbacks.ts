/**
 * The program's own callbacks in place of a store's: each is called for every write of its kind.
 */
import { Collection, Write } from '../abi/frames.gen.js';
import { phrase } from '../validation/rules.js';

/** Kinds of record as callbacks' names have them, by collection number. */
export const singular = [
  'StandingInstruction',
  'Memory',
  'Retrievable',
  'Message',
  'Thought',
  'ToolCall',
];
/** Kinds of write as callbacks' names have them, by number. */
export const ops = ['store', 'mutate', 'delete'];

/** Where a callback was made: for which store, and in which place. */
interface Made {
  readonly set: object;
  readonly name: string;
}

const made = new WeakMap<object, Made>();

/** Records the callbacks of a store, by their names with `Callback`. */
export function madeForStore<T extends object>(callbacks: T): T {
  for (const [name, callback] of Object.entries(callbacks) as [string, object][]) {
    made.set(callback, { set: callbacks, name });
  }
  return callbacks;
}

/** The writes that the program's own functions make, in addition to a store's. */
export interface OwnWrites {
  /** By collection number and by kind of write. */
  readonly single: readonly (readonly boolean[])[];
  readonly replaceGroup: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const groupName = 'replaceToolCallGroup';
const placeNames = [...singular.flatMap((kind) => ops.map((op) => op + kind)), groupName];

/**
 * Returns which writes of a store's commit belong to the program's own functions.
 *
 * @returns undefined if all belong to the store, or all to the program
 */
export function ownWrites(values: Fields): OwnWrites | undefined {
  const own = ownNames(values);
  if (own.size === 0) return undefined;
  const single = singular.map((kind) => ops.map((op) => own.has(op + kind)));
  const calls = single[Collection.ToolCalls]!;
  // A callback that stores or deletes calls gets those of a group one by one.
  const replaceGroup = own.has(groupName) || calls[Write.Store]! || calls[Write.Delete]!;
  return { single, replaceGroup };
}

/** Whether the function for groups is the program's own. */
export function ownGroup(values: Fields): boolean {
  return ownNames(values).has(groupName);
}

/** Lists functions for single writes that get no writes because of the program's own commit. */
export function mixedViolations(raw: Fields): string[] {
  const [commitName, commit] = given(raw, 'commit');
  if (typeof commit !== 'function' || made.has(commit)) return [];
  return [...ownNames(raw)].map((name) => {
    const [field] = given(raw, name);
    return phrase('sameWrites', { field, other: commitName });
  });
}

/** Places of a store's callbacks that the program has replaced. */
function ownNames(values: Fields): Set<string> {
  const own = new Set<string>();
  const set = setOf(values);
  if (set === undefined) return own;
  for (const name of placeNames) {
    const [, callback] = given(values, name);
    if (typeof callback !== 'function') continue;
    const origin = made.get(callback);
    if (origin?.set !== set || origin.name !== `${name}Callback`) own.add(name);
  }
  return own;
}

/** The store's callbacks among values: those of the commit's store, otherwise of the first store. */
function setOf(values: Fields): object | undefined {
  const [, commit] = given(values, 'commit');
  for (const callback of [commit, ...Object.values(values)]) {
    const origin = typeof callback === 'function' ? made.get(callback) : undefined;
    if (origin !== undefined) return origin.set;
  }
  return undefined;
}

/** A callback and its given name: a raw context accepts names with and without `Callback`. */
function given(values: Fields, name: string): readonly [string, unknown] {
  const long = `${name}Callback`;
  const absent = values[long] === undefined || values[long] === null;
  return absent && name in values ? [name, values[name]] : [long, values[long]];
}
