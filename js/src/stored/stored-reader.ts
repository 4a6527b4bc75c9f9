/**
 * Readers of bytes that a store has under an id.
 */
import type { Awaitable } from '../awaitable.js';
import type { MediaReader, SpoolReader } from '../primitives/readers.js';
import { storeError } from '../store-errors.js';
import { storedError } from '../stored-errors.js';

/** What a record that is written down has in place of a reader. */
export interface BytesReference {
  /** The id of the bytes in their store, not empty. */
  readonly bytesId: string;
  /** How many bytes there are; undefined if that is unknown. */
  readonly bytesLength?: number | undefined;
}

/** A reader of stored bytes, as a text by lines or as bytes. */
export type StoredBytes = SpoolReader & MediaReader & BytesReference;

/** Gives the reader of the bytes that a store has under an id. It reads nothing yet. */
export type OpenBytes = (id: string, byteLength: number | undefined) => StoredBytes;

/** The part of a store that opens bytes. */
export interface BytesOf {
  openBytes(session: string, id: string): Awaitable<SpoolReader & MediaReader>;
}

/** Reads the bytes that a store has under an id. It opens them when they are first read, and again after an error. */
export class StoredReader implements StoredBytes {
  readonly bytesId: string;
  readonly bytesLength: number | undefined;
  readonly #open: () => Awaitable<SpoolReader & MediaReader>;
  readonly #store: BytesOf | undefined;
  readonly #session: string | undefined;
  #opened: Promise<SpoolReader & MediaReader> | undefined;

  /**
   * @param open opens the bytes with a reader
   * @param store the store that has them, and their session: another one that gets the record copies them
   */
  constructor(
    id: string,
    byteLength: number | undefined,
    open: () => Awaitable<SpoolReader & MediaReader>,
    store?: BytesOf,
    session?: string,
  ) {
    this.bytesId = id;
    this.bytesLength = byteLength;
    this.#open = open;
    this.#store = store;
    this.#session = session;
  }

  /** Whether a store has the bytes in a session. */
  isIn(store: BytesOf, session: string): boolean {
    return this.#store === store && this.#session === session;
  }

  /** The line with an index, from 0, without its line feed; undefined beyond the last. */
  async line(index: number): Promise<string | undefined> {
    return (await this.#reader()).line(index);
  }

  /** Bytes: as its record states them, or those of the store. */
  byteLength(): Awaitable<number> {
    return this.bytesLength ?? this.#count();
  }

  /** Number of lines. */
  async lineCount(): Promise<number> {
    return (await this.#reader()).lineCount();
  }

  /** The whole text. */
  async readAll(): Promise<string> {
    return (await this.#reader()).readAll();
  }

  /** The bytes from the start. */
  async stream(): Promise<ReadableStream<Uint8Array>> {
    return (await this.#reader()).stream();
  }

  async #count(): Promise<number> {
    return await (await this.#reader()).byteLength();
  }

  #reader(): Promise<SpoolReader & MediaReader> {
    this.#opened ??= this.#check().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #check(): Promise<SpoolReader & MediaReader> {
    const reader = await this.#open();
    const size = await reader.byteLength();
    if (this.bytesLength !== undefined && size !== this.bytesLength) {
      const text = `${JSON.stringify(this.bytesId)} has ${size} bytes, its record says ${this.bytesLength}`;
      throw storedError('E_STORED_RECORD_INVALID', text);
    }
    return reader;
  }
}

/** Gives readers of the bytes of a session of a store. */
export function openedBy(store: BytesOf, session: string): OpenBytes {
  return (id, byteLength) =>
    new StoredReader(id, byteLength, () => store.openBytes(session, id), store, session);
}

/** Gives readers whose every read fails with E_BYTES_NOT_FOUND. */
export const unopened: OpenBytes = (id, byteLength) =>
  new StoredReader(id, byteLength, () => {
    const text = `${JSON.stringify(id)}: the record was read without a store`;
    throw storeError('E_BYTES_NOT_FOUND', text, { details: { id } });
  });
