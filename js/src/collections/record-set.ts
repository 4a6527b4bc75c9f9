/**
 * The collections of a context: ordered sets of records, mirrored in the module.
 */
import { Tokenizable } from '../primitives/tokenizable.js';
import { type AnyRecord, History, HistoryRun } from './history.js';
import type { HandleTable } from './handle-table.js';
import { requireList } from '../errors.js';
import { type Entry, requireEntry } from './kinds.js';
import { Sequence } from './sequence.js';

/** Receives the changes of host code to a collection, for the module. */
export interface EditSink {
  readonly handles: HandleTable;
  /** Whether a record of that many bytes can cross. */
  fits(bytes: number): boolean;
  /** @throws TurncoreError E_ABI_LIMIT_EXCEEDED for a record that is too large to cross */
  admit(entry: Entry): void;
  /** An object that has just got this handle was appended. */
  added(context: number, collection: number, handle: number, entry: Entry): void;
  /** An object that had a handle was appended. */
  addedKnown(context: number, collection: number, handle: number): void;
  /** A history's records, which have just got handles from this one on, were appended. */
  addedHistory(
    context: number,
    collection: number,
    handle: number,
    run: HistoryRun<AnyRecord>,
  ): void;
  removed(context: number, collection: number, handle: number): void;
  cleared(context: number, collection: number): void;
}

/**
 * The records of one kind in a context, such as `ctx.turnMessages`: like a Set, ordered by insertion and with identity
 * by object, so adding the same object twice does nothing and two records with one id may both be in.
 *
 * Changes are visible immediately to all readers of the context, and to the module before its next action. They write
 * nothing to storage: use `ctx.storeMessage` and similar methods for that.
 *
 * @typeParam T class of its records
 */
export class RecordSet<T extends Entry> implements Iterable<T> {
  readonly #sink: EditSink;
  readonly #context: number;
  readonly #collection: number;
  readonly #items: Sequence<T>;

  /** @internal Contexts make their collections. */
  constructor(sink: EditSink, context: number, collection: number, items = new Sequence<T>()) {
    this.#sink = sink;
    this.#context = context;
    this.#collection = collection;
    this.#items = items;
  }

  /** The number of records. */
  get size(): number {
    return this.#items.size;
  }

  /**
   * Appends a record that is not in the collection yet. Strings are accepted as standing instructions.
   *
   * @returns this collection
   * @throws TurncoreError E_INVALID_VALUE for a value of another class, E_ABI_LIMIT_EXCEEDED for a record that is too
   * large
   */
  add(record: T | AsText<T>): this {
    const entry = this.#entry(record, 'add');
    const handles = this.#sink.handles;
    const handle = handles.handleOf(entry);
    if (handle === 0) {
      this.#sink.admit(entry);
      // An object without a handle is in no collection of the turn.
      this.#items.push(entry);
      this.#sink.added(this.#context, this.#collection, handles.assign(entry), entry);
    } else if (!this.#items.has(entry)) {
      this.#items.push(entry);
      this.#sink.addedKnown(this.#context, this.#collection, handle);
    }
    return this;
  }

  /**
   * Appends records. A {@link History} is appended in one step however long it is.
   *
   * @returns this collection
   * @throws TurncoreError E_INVALID_VALUE for a value of another class, after adding the records before it; and for
   * anything that is not a list
   */
  addAll(records: Iterable<T | AsText<T>>): this {
    if (isHistory(records)) {
      this.addFirst(records, records.length);
      return this;
    }
    requireList('addAll', records);
    for (const record of records) this.add(record);
    return this;
  }

  /**
   * Removes a record. A standing instruction can be given as its text.
   *
   * @returns whether it was in the collection
   */
  delete(record: T | AsText<T>): boolean {
    const entry = this.#existing(record);
    if (entry === undefined || !this.#items.remove(entry)) return false;
    this.#sink.removed(this.#context, this.#collection, this.#sink.handles.handleOf(entry));
    return true;
  }

  /** Whether a record is in the collection. A standing instruction can be given as its text. */
  has(record: T | AsText<T>): boolean {
    const entry = this.#existing(record);
    return entry !== undefined && this.#items.has(entry);
  }

  /** Removes all records. */
  clear(): void {
    if (this.#items.size === 0) return;
    this.#items.clear();
    this.#sink.cleared(this.#context, this.#collection);
  }

  /** Calls a function with each record in order. */
  forEach(fn: (record: T, again: T, set: RecordSet<T>) => void): void {
    for (const record of this.#items) fn(record, record, this);
  }

  /** The records in order. Records added while it is iterated are seen. */
  values(): IterableIterator<T> {
    return this.#items[Symbol.iterator]();
  }

  /** The records in order. Records added while it is iterated are seen. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#items[Symbol.iterator]();
  }

  /** @internal A collection of another context that begins with the same records. */
  fork(sink: EditSink, context: number): RecordSet<T> {
    return new RecordSet<T>(sink, context, this.#collection, this.#items.fork());
  }

  /** @internal Its contents, for changes from the module. */
  get mirror(): Sequence<T> {
    return this.#items;
  }

  #entry(value: T | AsText<T>, field: string): T {
    if (this.#collection === 0 && typeof value === 'string') return new Tokenizable(value) as T;
    requireEntry(this.#collection, value, field);
    return value as T;
  }

  #existing(value: T | AsText<T>): T | undefined {
    if (typeof value !== 'string') return value;
    for (const item of this.#items) if (item.valueOf() === value) return item;
    return undefined;
  }

  /** @internal Appends the first records of a history. */
  addFirst(history: History, length: number): void {
    const handles = this.#sink.handles;
    if (history.length > 0) requireEntry(this.#collection, history.at(0), 'addAll');
    // Records that may be too large are checked one by one.
    const fits = this.#sink.fits(history.mostBytes);
    const count = fits ? Math.min(handles.unnamedIn(history), length) : 0;
    if (count > 0) {
      const run = new HistoryRun<AnyRecord>(history, count);
      const first = handles.reserve(run);
      this.#items.pushRun(run as unknown as HistoryRun<T & AnyRecord>);
      this.#sink.addedHistory(this.#context, this.#collection, first, run);
    }
    for (let i = count; i < length; i++) this.add(history.at(i) as T);
  }
}

function isHistory(records: unknown): records is History {
  return records instanceof History;
}

/** Accepted in addition to a record: text, for standing instructions. */
export type AsText<T> = T extends Tokenizable ? string : never;
