/**
 * Writes the journal of a turn.
 */
import type { Awaitable } from '../awaitable.js';
import { Encoder } from '../codec/encoder.js';
import { JOURNAL_VERSION, type JournalHeader } from './format.js';

/** Where a journal goes: a file, an array, a database. */
export interface JournalSink {
  /**
   * Takes the next bytes. They are the sink's to keep. When it throws, or gives a promise that is rejected, nothing more is
   * written; the turn goes on, and `run` rejects with that error when it has ended.
   */
  write(bytes: Uint8Array): Awaitable<void>;
}

/** What the core tells of each step that had frames of a turn. */
export interface StepRecorder {
  /**
   * @param inbound the turn's frames in that step, back to back
   * @param outbound what the turn answered
   */
  step(inbound: Uint8Array, outbound: Uint8Array): void;
  /** Resolves when all is written. Rejects with what the sink threw first: the journal is not whole. */
  close(): Promise<void>;
}

/** The journal of one turn, from its header on. */
export class JournalWriter implements StepRecorder {
  readonly #sink: JournalSink;
  readonly #encoder = new Encoder();
  #written: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Writes the header. @throws what the sink throws at once */
  constructor(sink: JournalSink, header: JournalHeader) {
    this.#sink = sink;
    const { abi, features, module, engine, turn } = header;
    const first = {
      turncore: 'journal',
      version: JOURNAL_VERSION,
      abi,
      features,
      module,
      engine,
      turn,
    };
    this.#encoder.value(first, 'header');
    this.#flush();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Writes one step. One without frames is left out. */
  step(inbound: Uint8Array, outbound: Uint8Array): void {
    if (this.#failure !== undefined || (inbound.length === 0 && outbound.length === 0)) return;
    this.#encoder.arrayHeader(2);
    this.#encoder.bin(inbound);
    this.#encoder.bin(outbound);
    this.#flush();
  }

  #flush(): void {
    const bytes = this.#encoder.copy();
    this.#encoder.reset();
    const fail = (error: unknown): void => void (this.#failure ??= { error });
    try {
      const written: unknown = this.#sink.write(bytes);
      if (typeof written !== 'object' || written === null) return;
      const before = this.#written;
      this.#written = Promise.resolve(written).then(() => before, fail);
    } catch (error) {
      fail(error);
    }
  }

  async close(): Promise<void> {
    await this.#written;
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** A sink that keeps the journal in memory. */
export class MemoryJournal implements JournalSink {
  #parts: Uint8Array[] = [];

  write(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }

  /** The journal so far. */
  bytes(): Uint8Array<ArrayBuffer> {
    let size = 0;
    for (const part of this.#parts) size += part.length;
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
