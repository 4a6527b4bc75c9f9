/**
 * Callbacks of the program's own in the places of a store's: each is called for every write of its kind.
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

/** Takes note of callbacks, by their names with `Callback`, that were made together for a store. */
export function madeForStore<T extends object>(callbacks: T): T {
  for (const [name, callback] of Object.entries(callbacks) as [string, object][]) {
    made.set(callback, { set: callbacks, name });
  }
  return callbacks;
}

/** Which writes functions of the program's own do, beside those of a store. */
export interface OwnWrites {
  /** By collection number and by kind of write. */
  readonly single: readonly (readonly boolean[])[];
  readonly replaceGroup: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const groupName = 'replaceToolCallGroup';
const placeNames = [...singular.flatMap((kind) => ops.map((op) => op + kind)), groupName];

/**
 * Tells which of the writes that a store's commit would take are the program's own.
 *
 * @returns undefined when all are of one kind: the store's, or the program's
 */
export function ownWrites(values: Fields): OwnWrites | undefined {
  const own = ownNames(values);
  if (own.size === 0) return undefined;
  const single = singular.map((kind) => ops.map((op) => own.has(op + kind)));
  const calls = single[Collection.ToolCalls]!;
  // Who stores or deletes calls gets those of a group one by one.
  const replaceGroup = own.has(groupName) || calls[Write.Store]! || calls[Write.Delete]!;
  return { single, replaceGroup };
}

/** Whether the function for groups is the program's own. */
export function ownGroup(values: Fields): boolean {
  return ownNames(values).has(groupName);
}

/** Lists functions for single writes that a commit of the program's own beside a store would leave without writes. */
export function mixedViolations(raw: Fields): string[] {
  const [commitName, commit] = given(raw, 'commit');
  if (typeof commit !== 'function' || made.has(commit)) return [];
  return [...ownNames(raw)].map((name) => {
    const [field] = given(raw, name);
    return phrase('sameWrites', { field, other: commitName });
  });
}

/** Places of a store's callbacks that have functions of the program's own. */
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

/** The store's callbacks that values have: those that its commit is one of, else those that come first. */
function setOf(values: Fields): object | undefined {
  const [, commit] = given(values, 'commit');
  for (const callback of [commit, ...Object.values(values)]) {
    const origin = typeof callback === 'function' ? made.get(callback) : undefined;
    if (origin !== undefined) return origin.set;
  }
  return undefined;
}

/** A callback and the name it was given under: a raw context takes it with `Callback` behind its name and without. */
function given(values: Fields, name: string): readonly [string, unknown] {
  const long = `${name}Callback`;
  const absent = values[long] === undefined || values[long] === null;
  return absent && name in values ? [name, values[name]] : [long, values[long]];
}
