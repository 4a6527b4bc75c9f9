/**
 * Bytes in memory.
 */
import type { BytesReader } from './store.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A reader of bytes that it holds. */
export class MemoryBytes implements BytesReader {
  readonly #bytes: Uint8Array;
  #lines: readonly string[] | undefined;

  /** @param content text is kept as UTF-8; bytes are copied */
  constructor(content: string | Uint8Array) {
    this.#bytes = typeof content === 'string' ? encoder.encode(content) : content.slice();
  }

  line(index: number): string | undefined {
    return this.#split()[index];
  }

  lineCount(): number {
    return this.#split().length;
  }

  byteLength(): number {
    return this.#bytes.length;
  }

  readAll(): string {
    return decoder.decode(this.#bytes);
  }

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
