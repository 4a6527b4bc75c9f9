/**
 * Journals in files.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import type { JournalSink } from '../journal/writer.js';
import { describe } from './screen.js';

/** Reads a file. @throws Error (rejects) that names it */
export async function readWhole(file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    // What fails once the file is open, as for a folder, does not name it.
    throw error instanceof Error && 'path' in error ? error : inFile(file, error);
  });
}

/** An error about a file's content. */
export function inFile(file: string, error: unknown): Error {
  return new Error(`${file}: ${describe(error)}`, { cause: error });
}

/** Writes a journal to a file. A journal has the whole conversation, so only the file's owner may read it. */
export class JournalFile implements JournalSink {
  readonly #file: number;
  #failure: unknown;

  /** @throws Error if the file cannot be created */
  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  /** Writes more bytes. {@link close} reports a failure: the turn does not fail with it. */
  write(bytes: Uint8Array): void {
    if (this.#failure !== undefined) return;
    try {
      writeFileSync(this.#file, bytes);
    } catch (error) {
      this.#failure = error;
    }
  }

  /** @throws Error if the journal is incomplete */
  close(): void {
    closeSync(this.#file);
    if (this.#failure !== undefined) throw this.#failure as Error;
  }
}
