/**
 * Bytes in memory.
 */
import { invalidValue } from '../errors.js';
import type { MediaReader, SpoolReader } from '../primitives/readers.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Reads bytes in memory: as a text by lines, or as bytes. Its content does not change. */
export class MemoryReader implements SpoolReader, MediaReader {
  readonly #bytes: Uint8Array;
  #lines: readonly string[] | undefined;

  /**
   * @param content text is kept as UTF-8; bytes are copied
   * @throws TurncoreError E_INVALID_VALUE for anything else
   */
  constructor(content: string | Uint8Array) {
    if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
      throw invalidValue('content', 'must be a string or a Uint8Array');
    }
    this.#bytes = typeof content === 'string' ? encoder.encode(content) : content.slice();
  }

  /** The line with an index, from 0, without its line feed; undefined beyond the last. */
  line(index: number): string | undefined {
    return this.#split()[index];
  }

  /** Number of lines: one more than the line feeds, 0 for an empty text. */
  lineCount(): number {
    return this.#split().length;
  }

  /** Bytes. */
  byteLength(): number {
    return this.#bytes.length;
  }

  /** The whole text. */
  readAll(): string {
    return decoder.decode(this.#bytes);
  }

  /** The bytes from the start. */
  stream(): ReadableStream<Uint8Array> {
    const bytes = this.#bytes;
    return new ReadableStream({
      start(controller) {
        if (bytes.length > 0) controller.enqueue(bytes.slice());
        controller.close();
      },
    });
  }

  #split(): readonly string[] {
    this.#lines ??= this.#bytes.length === 0 ? [] : this.readAll().split('\n');
    return this.#lines;
  }
}
