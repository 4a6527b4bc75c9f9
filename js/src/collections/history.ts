/**
 * Histories: lists of records that many turns start from.
 */
import type { Message } from '../primitives/message.js';
import type { Memory } from '../primitives/memory.js';
import type { Retrievable } from '../primitives/retrievable.js';
import type { Thought } from '../primitives/thought.js';
import type { ToolCall } from '../primitives/tool-call.js';
import type { Run } from './sequence.js';
import { sameRecord } from './same-record.js';
import { measure, weigh } from './record-size.js';
import { collectionNumber, requireRecord } from './kinds.js';

/** The record types of each kind of history. */
export interface RecordOfKind {
  messages: Message;
  memories: Memory;
  retrievables: Retrievable;
  thoughts: Thought;
  toolCalls: ToolCall;
}

/** Kinds of history. */
export type HistoryKind = keyof RecordOfKind;

/** A record of any kind. */
export type AnyRecord = RecordOfKind[HistoryKind];

/**
 * A list of records that only grows and that any number of turns share.
 *
 * `ctx.turnMessages.addAll(history)` takes the same small time however long the history is: its records enter the
 * module once, and every turn refers to them. A turn gets the records present when it called `addAll`; later ones are
 * for later turns. Several runners and module instances may use one history.
 *
 * @typeParam T class of its records, such as Message
 */
export class History<T extends AnyRecord = AnyRecord> implements Run<T>, Iterable<T> {
  /** Its kind of record. */
  readonly kind: HistoryKind;
  /** @internal The number of its collection. */
  readonly collection: number;
  readonly #items: T[] = [];
  /** Indices of the records, as far as they were needed. */
  readonly #index = new Map<T, number>();
  #indexed = 0;
  /** Indices of the first record of each id, as far as they were needed. */
  readonly #ids = new Map<string, number>();
  #found = 0;
  #mostBytes = 0;
  #bytes = 0;

  /**
   * @param kind its collection: "messages", "memories", "retrievables", "thoughts" or "toolCalls"
   * @param records initial records
   * @throws TurncoreError E_INVALID_VALUE for a record of another class
   */
  constructor(kind: HistoryKind, records?: Iterable<T>) {
    this.collection = collectionNumber(kind);
    this.kind = kind;
    if (records !== undefined) this.append(...records);
  }

  /** The number of records. */
  get length(): number {
    return this.#items.length;
  }

  /**
   * Appends records. Records that it already has do not move.
   *
   * @returns this history
   * @throws TurncoreError E_INVALID_VALUE for a record of another class; then nothing is appended
   */
  append(...records: T[]): this {
    for (let i = 0; i < records.length; i++) requireRecord(this.kind, records[i], `append[${i}]`);
    for (const record of records) {
      if (this.indexOf(record) >= 0) continue;
      this.#items.push(record);
      this.#mostBytes = Math.max(this.#mostBytes, measure(record));
      this.#bytes += weigh(record);
    }
    return this;
  }

  /**
   * @internal Makes records follow the first `from` ones: present ones stay, the others are appended. Returns false,
   * without a change, if different records follow.
   */
  extend(from: number, records: readonly T[]): boolean {
    const following = Math.min(this.#items.length - from, records.length);
    for (let i = 0; i < records.length; i++) {
      if (
        i < following
          ? !sameRecord(this.#items[from + i]!, records[i]!)
          : this.indexOf(records[i]!) >= 0
      ) {
        return false;
      }
    }
    for (let i = following; i < records.length; i++) this.append(records[i]!);
    return true;
  }

  /** @internal The index of the first record with an id, or -1. */
  find(id: string): number {
    for (; this.#found < this.#items.length; this.#found++) {
      const key = this.#items[this.#found]!.id;
      if (!this.#ids.has(key)) this.#ids.set(key, this.#found);
    }
    return this.#ids.get(id) ?? -1;
  }

  /** @internal Approximate bytes of memory of its records. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @internal An upper bound on the bytes of its records' bodies. */
  get mostBytes(): number {
    return this.#mostBytes;
  }

  /** The record with an index, from 0. */
  at(index: number): T | undefined {
    return this.#items[index];
  }

  /** The index of a record, or -1. */
  indexOf(record: T): number {
    while (this.#indexed < this.#items.length) {
      this.#index.set(this.#items[this.#indexed]!, this.#indexed);
      this.#indexed++;
    }
    return this.#index.get(record) ?? -1;
  }

  /** The records in order. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#items[Symbol.iterator]();
  }
}

/** The first records of a history, which never change: a turn that added the history has these. */
export class HistoryRun<T extends AnyRecord> implements Run<T> {
  readonly history: History<T>;
  readonly length: number;

  constructor(history: History<T>, length: number = history.length) {
    this.history = history;
    this.length = length;
  }

  at(index: number): T | undefined {
    return index < this.length ? this.history.at(index) : undefined;
  }

  indexOf(record: T): number {
    const place = this.history.indexOf(record);
    return place < this.length ? place : -1;
  }
}
