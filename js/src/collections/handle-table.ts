/**
 * The handles of a turn: numbers by which host and module name the host's objects.
 */
import type { AnyRecord, History, HistoryRun } from './history.js';
import type { Entry } from './kinds.js';

/** Objects with consecutive handles. */
interface Chunk {
  readonly first: number;
  readonly items: Entry[];
}

/** A part of a history with consecutive handles. */
interface Range {
  readonly first: number;
  readonly run: HistoryRun<AnyRecord>;
}

/**
 * Handles of the host's objects in one turn, from 1 up, and of the module's records, from -1 down. An object has one
 * handle in a turn, in all collections.
 */
export class HandleTable {
  #next = 1;
  readonly #handles = new Map<Entry, number>();
  readonly #chunks: Chunk[] = [];
  readonly #ranges: Range[] = [];
  readonly #made = new Map<number, Entry>();

  /** The handle of the next object. */
  get next(): number {
    return this.#next;
  }

  /** The handle of an object, or 0 if it has none. */
  handleOf(entry: Entry): number {
    const handle = this.#handles.get(entry);
    if (handle !== undefined) return handle;
    for (const range of this.#ranges) {
      const place = range.run.indexOf(entry as AnyRecord);
      if (place >= 0) return range.first + place;
    }
    return 0;
  }

  /** Gives the next handle to an object without one. */
  assign(entry: Entry): number {
    const handle = this.#next++;
    this.#handles.set(entry, handle);
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.first + chunk.items.length !== handle) {
      chunk = { first: handle, items: [] };
      this.#chunks.push(chunk);
    }
    chunk.items.push(entry);
    return handle;
  }

  /** Gives a history's records consecutive handles without touching them. Returns the first. */
  reserve(run: HistoryRun<AnyRecord>): number {
    const first = this.#next;
    this.#next += run.length;
    this.#ranges.push({ first, run });
    return first;
  }

  /**
   * The number of a history's first records that can get handles by {@link reserve}: those before the first record
   * with its own handle in this turn, or none if a part of the history already has handles.
   */
  unnamedIn(history: History): number {
    if (this.#ranges.some((range) => range.run.history === history)) return 0;
    let count = history.length;
    for (const chunk of this.#chunks) {
      for (const item of chunk.items) {
        const place = history.indexOf(item as AnyRecord);
        if (place >= 0 && place < count) count = place;
      }
    }
    for (const item of this.#made.values()) {
      const place = history.indexOf(item as AnyRecord);
      if (place >= 0 && place < count) count = place;
    }
    return count;
  }

  /** Keeps an object made from a body of the module under the module's handle. */
  bind(handle: number, entry: Entry): void {
    this.#made.set(handle, entry);
    this.#handles.set(entry, handle);
  }

  /** The object of a handle, or undefined if there is none. */
  entryOf(handle: number): Entry | undefined {
    if (handle < 0) return this.#made.get(handle);
    for (let i = this.#chunks.length - 1; i >= 0; i--) {
      const chunk = this.#chunks[i]!;
      if (handle >= chunk.first && handle < chunk.first + chunk.items.length) {
        return chunk.items[handle - chunk.first];
      }
    }
    for (const range of this.#ranges) {
      if (handle >= range.first && handle < range.first + range.run.length) {
        return range.run.at(handle - range.first);
      }
    }
    return undefined;
  }
}
