/**
 * Stores of bytes: where the texts of artifacts and the bytes of media are kept.
 */
import type { Awaitable } from '../awaitable.js';
import { requireBytes } from '../context/arguments.js';
import type { ConduitBytes, MediaReader, SpoolReader } from '../primitives/readers.js';
import { MemoryReader } from '../readers/memory-reader.js';

/**
 * Keeps bytes under ids and gives readers of them. Readers that were given stay good when their id is written again or
 * deleted.
 *
 * @typeParam Reader what reads the bytes
 */
export interface ByteStore<Reader> {
  /** Keeps bytes under an id, in place of those that are there, and gives a reader of them. Text is kept as UTF-8. */
  write(id: string, bytes: ConduitBytes): Awaitable<Reader>;
  /** A reader of the bytes of an id; undefined if there are none. */
  read(id: string): Awaitable<Reader | undefined>;
  /** Forgets the bytes of an id. Tells whether there were any. */
  delete(id: string): Awaitable<boolean>;
}

/** Keeps texts of artifacts. */
export type SpoolStore = ByteStore<SpoolReader>;

/** Keeps bytes of media. */
export type MediaStore = ByteStore<MediaReader>;

/** Keeps bytes in memory for as long as it lives. */
class MemoryByteStore implements ByteStore<MemoryReader> {
  readonly #readers = new Map<string, MemoryReader>();

  /** Keeps bytes under an id, in place of those that are there, and gives a reader of them. */
  async write(id: string, bytes: ConduitBytes): Promise<MemoryReader> {
    const reader = new MemoryReader(await collectBytes(bytes));
    this.#readers.set(id, reader);
    return reader;
  }

  /** A reader of the bytes of an id; undefined if there are none. */
  read(id: string): MemoryReader | undefined {
    return this.#readers.get(id);
  }

  /** Forgets the bytes of an id. Tells whether there were any. */
  delete(id: string): boolean {
    return this.#readers.delete(id);
  }
}

/** A {@link SpoolStore} in memory. */
export class MemorySpoolStore extends MemoryByteStore implements SpoolStore {}

/** A {@link MediaStore} in memory. */
export class MemoryMediaStore extends MemoryByteStore implements MediaStore {}

/**
 * Text, or all bytes, of what a conduit is given.
 *
 * @throws TurncoreError (rejects) E_INVALID_VALUE for anything else, which a Response would take for its text
 */
export async function collectBytes(content: ConduitBytes): Promise<string | Uint8Array> {
  if (typeof content === 'string' || content instanceof Uint8Array) return content;
  const body: unknown = content;
  if (!(body instanceof Blob || body instanceof ArrayBuffer)) requireBytes(content, 'bytes');
  const stream = content as ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
