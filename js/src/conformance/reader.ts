/**
 * A reader of a text in memory.
 */
import type { MediaReader, SpoolReader } from '../index.js';

/** A reader of a stored text, as records and scripts use it. */
export function reader(text: string): SpoolReader & MediaReader {
  const lines = text === '' ? [] : text.split('\n');
  return {
    readAll: () => text,
    line: (n: number) => lines[n],
    lineCount: () => lines.length,
    byteLength: () => new TextEncoder().encode(text).length,
    stream: () => new Blob([text]).stream(),
  };
}
