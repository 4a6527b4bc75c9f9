/**
 * Readers of bytes with random access: Blobs, files, objects of a storage with ranges.
 */
import type { Awaitable } from '../awaitable.js';
import type { MediaReader, SpoolReader } from '../primitives/readers.js';

/** Bytes with random access that do not change. */
export interface ByteSource {
  /** The number of bytes. */
  size(): Awaitable<number>;
  /** The bytes from a start to an end offset, end excluded; both lie within the size. */
  read(from: number, to: number): Awaitable<Uint8Array>;
}

/** Bytes per read. */
const WINDOW = 1 << 16;
/** The start of one line in this many is kept. */
const STEP = 256;
const LINE_FEED = 10;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The start of a line in the text. */
interface Place {
  readonly line: number;
  readonly offset: number;
}

/**
 * Reads a {@link ByteSource} as a text by lines, or as bytes, a window of 64 KiB at a time. The first access to a
 * line scans the whole text once to find its lines, and keeps eight bytes per 256 lines.
 */
export class RangeReader implements SpoolReader, MediaReader {
  readonly #source: ByteSource;
  #indexing: Promise<LineIndex> | undefined;
  /** The start of the line after the last one read. */
  #next: Place = { line: 0, offset: 0 };
  #window: { readonly from: number; readonly bytes: Uint8Array } | undefined;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** The line with an index, from 0, without its line feed; undefined beyond the last. */
  async line(index: number): Promise<string | undefined> {
    const lines = await this.#index();
    if (!Number.isInteger(index) || index < 0 || index >= lines.count) return undefined;
    let { line, offset } = lines.before(index);
    if (this.#next.line <= index && this.#next.line >= line) ({ line, offset } = this.#next);
    while (line < index) {
      offset = (await this.#endOfLine(offset, lines.size)) + 1;
      line++;
    }
    const end = await this.#endOfLine(offset, lines.size);
    this.#next = { line: index + 1, offset: end + 1 };
    return decoder.decode(await this.#read(offset, end));
  }

  /** Number of lines: one more than the line feeds, 0 for an empty text. */
  async lineCount(): Promise<number> {
    return (await this.#index()).count;
  }

  /** Bytes. */
  async byteLength(): Promise<number> {
    return this.#source.size();
  }

  /** The whole text. */
  async readAll(): Promise<string> {
    return decoder.decode(await this.#source.read(0, await this.#source.size()));
  }

  /** The bytes from the start. */
  stream(): ReadableStream<Uint8Array> {
    const source = this.#source;
    let at = 0;
    return new ReadableStream({
      async pull(controller) {
        const size = await source.size();
        if (at >= size) {
          controller.close();
          return;
        }
        const end = Math.min(at + WINDOW, size);
        controller.enqueue(await source.read(at, end));
        at = end;
      },
    });
  }

  /** Scans the text once; again if that failed. */
  #index(): Promise<LineIndex> {
    this.#indexing ??= this.#learn().catch((error: unknown) => {
      this.#indexing = undefined;
      throw error;
    });
    return this.#indexing;
  }

  async #learn(): Promise<LineIndex> {
    const size = await this.#source.size();
    const index = new LineIndex(size);
    for (let from = 0; from < size; from += WINDOW) {
      const bytes = await this.#source.read(from, Math.min(from + WINDOW, size));
      for (let i = bytes.indexOf(LINE_FEED); i >= 0; i = bytes.indexOf(LINE_FEED, i + 1)) {
        index.begins(from + i + 1);
      }
    }
    return index;
  }

  /** The end of the line at an offset: its line feed, or the end of the text. */
  async #endOfLine(offset: number, size: number): Promise<number> {
    for (let from = offset; from < size;) {
      const window = await this.#windowAt(from, size);
      const found = window.bytes.indexOf(LINE_FEED, from - window.from);
      if (found >= 0) return window.from + found;
      from = window.from + window.bytes.length;
    }
    return size;
  }

  async #read(from: number, to: number): Promise<Uint8Array> {
    const window = this.#window;
    if (window !== undefined && window.from <= from && to <= window.from + window.bytes.length) {
      return window.bytes.subarray(from - window.from, to - window.from);
    }
    return from === to ? new Uint8Array(0) : this.#source.read(from, to);
  }

  async #windowAt(at: number, size: number): Promise<{ from: number; bytes: Uint8Array }> {
    const window = this.#window;
    if (window !== undefined && window.from <= at && at < window.from + window.bytes.length) {
      return window;
    }
    const bytes = await this.#source.read(at, Math.min(at + WINDOW, size));
    if (bytes.length === 0) throw new Error(`the source ends at byte ${at} of ${size}`);
    this.#window = { from: at, bytes };
    return this.#window;
  }
}

/** The starts of some lines, at regular intervals. */
class LineIndex {
  readonly size: number;
  count: number;
  readonly #offsets: number[] = [0];

  constructor(size: number) {
    this.size = size;
    this.count = size === 0 ? 0 : 1;
  }

  /** Another line begins. */
  begins(offset: number): void {
    if (this.count % STEP === 0) this.#offsets.push(offset);
    this.count++;
  }

  /** The nearest known start at or before a line. */
  before(line: number): Place {
    const step = Math.floor(line / STEP);
    return { line: step * STEP, offset: this.#offsets[step]! };
  }
}

/** A reader of a Blob or File, such as one chosen by a page's user. It reads nothing in advance. */
export function blobReader(blob: Blob): RangeReader {
  return new RangeReader({
    size: () => blob.size,
    read: async (from, to) => new Uint8Array(await blob.slice(from, to).arrayBuffer()),
  });
}

/** An open file, as returned by `open` of `node:fs/promises`. */
export interface ReadableFile {
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  stat(): Promise<{ readonly size: number }>;
}

/**
 * A reader of an open file, which must stay open and unchanged while the reader is in use: `fileReader(await
 * open('log.txt'))`.
 */
export function fileReader(file: ReadableFile): RangeReader {
  let size: number | undefined;
  return new RangeReader({
    size: async () => (size ??= (await file.stat()).size),
    read: async (from, to) => {
      const bytes = new Uint8Array(to - from);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
  });
}
