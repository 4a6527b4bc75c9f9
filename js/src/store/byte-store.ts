/**
 * Stores of bytes: they keep the texts of artifacts and the bytes of media.
 */
import type { Awaitable } from '../awaitable.js';
import { requireBytes } from '../context/arguments.js';
import type { ConduitBytes, MediaReader, SpoolReader } from '../primitives/readers.js';
import { MemoryReader } from '../readers/memory-reader.js';

/**
 * Keeps bytes under ids and returns readers of them. Returned readers stay valid when their id is overwritten or
 * deleted.
 *
 * @typeParam Reader the type of reader
 */
export interface ByteStore<Reader> {
  /** Keeps bytes under an id, replacing earlier ones, and returns a reader of them. Text is kept as UTF-8. */
  write(id: string, bytes: ConduitBytes): Awaitable<Reader>;
  /** A reader of the bytes of an id; undefined if there are none. */
  read(id: string): Awaitable<Reader | undefined>;
  /** Forgets the bytes of an id. Returns whether there were any. */
  delete(id: string): Awaitable<boolean>;
}

/** Keeps texts of artifacts. */
export type SpoolStore = ByteStore<SpoolReader>;

/** Keeps bytes of media. */
export type MediaStore = ByteStore<MediaReader>;

/** Keeps bytes in memory during its lifetime. */
class MemoryByteStore implements ByteStore<MemoryReader> {
  readonly #readers = new Map<string, MemoryReader>();

  /** Keeps bytes under an id, replacing earlier ones, and returns a reader of them. */
  async write(id: string, bytes: ConduitBytes): Promise<MemoryReader> {
    const reader = new MemoryReader(await collectBytes(bytes));
    this.#readers.set(id, reader);
    return reader;
  }

  /** A reader of the bytes of an id; undefined if there are none. */
  read(id: string): MemoryReader | undefined {
    return this.#readers.get(id);
  }

  /** Forgets the bytes of an id. Returns whether there were any. */
  delete(id: string): boolean {
    return this.#readers.delete(id);
  }
}

/** A {@link SpoolStore} in memory. */
export class MemorySpoolStore extends MemoryByteStore implements SpoolStore {}

/** A {@link MediaStore} in memory. */
export class MemoryMediaStore extends MemoryByteStore implements MediaStore {}

/**
 * The text or all bytes of a byte callback's argument.
 *
 * @throws TurncoreError (rejects) E_INVALID_VALUE for anything else, which a Response would convert to text
 */
export async function collectBytes(content: ConduitBytes): Promise<string | Uint8Array> {
  if (typeof content === 'string' || content instanceof Uint8Array) return content;
  const body: unknown = content;
  if (!(body instanceof Blob || body instanceof ArrayBuffer)) requireBytes(content, 'bytes');
  const stream = content as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
