/**
 * Journals in files.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';

import type { JournalSink } from '../journal/writer.js';
import { describe } from './screen.js';

/** An error about what is in a file. */
export function inFile(file: string, error: unknown): Error {
  return new Error(`${file}: ${describe(error)}`, { cause: error });
}

/** Writes a journal to a file. It holds all that was said, so it is for its owner only. */
export class JournalFile implements JournalSink {
  readonly #file: number;
  #failure: unknown;

  /** @throws Error when the file cannot be made */
  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  /** Writes more. A failure is kept for {@link close}: it is not the turn's. */
  write(bytes: Uint8Array): void {
    if (this.#failure !== undefined) return;
    try {
      writeFileSync(this.#file, bytes);
    } catch (error) {
      this.#failure = error;
    }
  }

  /** @throws Error when the journal is not whole */
  close(): void {
    closeSync(this.#file);
    if (this.#failure !== undefined) throw this.#failure as Error;
  }
}
