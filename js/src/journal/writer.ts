/**
 * Writes the journal of a turn.
 */
import { Encoder } from '../codec/encoder.js';
import { JOURNAL_VERSION, type JournalHeader } from './format.js';

/** Where a journal goes: a file, an array, a database. */
export interface JournalSink {
  /** Takes the next bytes. They are the sink's to keep. */
  write(bytes: Uint8Array): void;
}

/** What the pump tells of each step that had frames of a turn. */
export interface StepRecorder {
  /**
   * @param inbound the turn's frames in that step, back to back
   * @param outbound what the turn answered
   */
  step(inbound: Uint8Array, outbound: Uint8Array): void;
}

/** The journal of one turn, from its header on. */
export class JournalWriter implements StepRecorder {
  readonly #sink: JournalSink;
  readonly #encoder = new Encoder();

  /** Writes the header. */
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
  }

  /** Writes one step. One without frames is left out. */
  step(inbound: Uint8Array, outbound: Uint8Array): void {
    if (inbound.length === 0 && outbound.length === 0) return;
    this.#encoder.arrayHeader(2);
    this.#encoder.bin(inbound);
    this.#encoder.bin(outbound);
    this.#flush();
  }

  #flush(): void {
    const bytes = this.#encoder.copy();
    this.#encoder.reset();
    this.#sink.write(bytes);
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
