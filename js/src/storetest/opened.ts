/**
 * What the tests of the suite share: stores that they open, and what they compare.
 */
import type { Awaitable } from '../awaitable.js';
import { isTurncoreError, messageOf } from '../errors.js';
import type { MediaReader, SpoolReader } from '../primitives/readers.js';
import type { Appender } from '../store/appender.js';
import type { Journal } from '../store/journal.js';
import type { Sessions, Store } from '../store/store.js';

/** A kind of store, as the suite uses it. */
export interface StoreMaker {
  /** Opens an empty store. */
  open(): Awaitable<Store>;
  /**
   * Opens the database of a store once more, as another process does: both go on. Absent for a store in memory; then
   * what needs it is no part of the suite.
   */
  again?(store: Store): Awaitable<Store>;
  /** Closes a store. Default: nothing. */
  close?(store: Store): Awaitable<void>;
  /** How many sessions the largest list has. Default: 10,000. */
  readonly sessions?: number | undefined;
}

/** Ids that an object or a path would take for something else. */
export const IDS = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '../x',
  'a b',
  'ä',
  '😀',
  'x'.repeat(500),
  'a\0b',
  '%',
  "'",
];

/** What a store of sessions of agents has beside the methods of a Store. */
const APPENDING = [
  ...(['append', 'forkAt', 'events', 'state', 'artifacts', 'openArtifact'] as const),
  ...(['list', 'find', 'fork', 'delete', 'setTitle'] as const),
];

/** A test, on a store that it opens. */
export type Run = (maker: Opened) => Promise<void>;

/** A store, and what else a test opens. */
export class Opened {
  readonly maker: StoreMaker;
  readonly #stores: Store[] = [];

  constructor(maker: StoreMaker) {
    this.maker = maker;
  }

  async open(): Promise<Store> {
    const store = await this.maker.open();
    this.#stores.push(store);
    return store;
  }

  /** A store that can list its sessions. */
  async sessions(): Promise<Sessions> {
    return (await this.open()) as Sessions;
  }

  /** A store that keeps events, state and artifacts. */
  async appender(): Promise<Appender & Sessions> {
    const store = (await this.open()) as Appender & Sessions;
    const lacks = APPENDING.filter((method) => typeof store[method] !== 'function');
    if (lacks.length > 0) throw new Error(`the store lacks ${lacks.join(', ')}`);
    return store;
  }

  /** A store that keeps journals. */
  async journal(): Promise<Journal & Appender & Sessions> {
    return (await this.open()) as Journal & Appender & Sessions;
  }

  /** The store, and then as another process has it, if it is a database. */
  async *twice<S extends Store>(store: S): AsyncGenerator<S> {
    yield store;
    if (this.maker.again !== undefined) yield (await this.again(store)) as S;
  }

  async again(store: Store): Promise<Store> {
    const other = await this.maker.again!(store);
    this.#stores.push(other);
    return other;
  }

  async close(): Promise<void> {
    for (const store of this.#stores.reverse()) await this.maker.close?.(store);
  }
}

/** The bytes that a reader reads. */
export async function bytesIn(reader: MediaReader | SpoolReader): Promise<number[]> {
  const stream = await (reader as MediaReader).stream();
  return [...new Uint8Array(await new Response(stream).arrayBuffer())];
}

export function same(a: readonly number[], b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The error of a call; undefined if it has none. */
export async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The code of a call's error; empty if it has none. */
export async function code(call: () => unknown): Promise<string> {
  const error = await failureOf(call);
  if (error === undefined) return '';
  return isTurncoreError(error) ? error.code : messageOf(error);
}

/** @throws Error unless two values are the same data */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [is, want] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== want) throw new Error(`${what}: ${short(is)} instead of ${short(want)}`);
}

export function short(text: string | undefined): string {
  const all = text ?? 'undefined';
  return all.length > 300 ? `${all.slice(0, 300)}…` : all;
}
