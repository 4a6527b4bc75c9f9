/**
 * Writes the journal of a turn.
 */
import type { Awaitable } from '../awaitable.js';
import { joined } from '../bytes.js';
import { Encoder } from '../codec/encoder.js';
import { JOURNAL_VERSION, type JournalHeader } from './format.js';

/** The target of a journal: a file, an array, a database. */
export interface JournalSink {
  /**
   * Takes the next bytes, which the sink may keep. If it throws or rejects, nothing more is written; the turn goes
   * on, and `run` rejects with that error when it has ended.
   */
  write(bytes: Uint8Array): Awaitable<void>;
}

/** Gets each step that had frames of a turn. */
export interface StepRecorder {
  /**
   * @param inbound the turn's consecutive frames in that step
   * @param outbound the turn's answer
   */
  step(inbound: Uint8Array, outbound: Uint8Array): void;
  /** Resolves when everything is written. Rejects with the sink's first error: the journal is incomplete. */
  close(): Promise<void>;
}

/** The journal of one turn, starting with its header. */
export class JournalWriter implements StepRecorder {
  readonly #sink: JournalSink;
  readonly #encoder = new Encoder();
  #written: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Writes the header. @throws the sink's synchronous error */
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

  /** Writes one step. A step without frames is omitted. */
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
  readonly #parts: Uint8Array[] = [];

  write(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }

  /** The journal so far. */
  bytes(): Uint8Array<ArrayBuffer> {
    return joined(this.#parts);
  }
}
