/**
 * Reads the journal of a turn.
 */
import { CodecError, Decoder } from '../codec/decoder.js';
import {
  JOURNAL_LIMITS,
  JOURNAL_VERSION,
  type JournalEntry,
  type JournalHeader,
} from './format.js';

/** Bytes that are no journal, or a damaged one. */
export class JournalError extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`The journal cannot be read: ${why}`, options);
    this.name = 'JournalError';
  }
}

/** A journal's content. */
export interface Journal {
  readonly header: JournalHeader;
  readonly entries: readonly JournalEntry[];
  /** True if the last entry was cut off, as a crash leaves it; it is not among the entries. */
  readonly torn: boolean;
}

/**
 * Reads a journal.
 *
 * @throws JournalError
 */
export function readJournal(bytes: Uint8Array): Journal {
  const decoder = new Decoder(bytes, JOURNAL_LIMITS);
  const header = readHeader(decoder);
  const entries: JournalEntry[] = [];
  while (!decoder.done) {
    const at = decoder.position;
    let value: unknown;
    try {
      value = decoder.value();
    } catch (error) {
      if (error instanceof CodecError && error.reason === 'truncated')
        return { header, entries, torn: true };
      throw invalid(`entry ${entries.length + 1}: ${String(error)}`, error);
    }
    const [inbound, outbound] =
      Array.isArray(value) && value.length === 2 ? (value as unknown[]) : [];
    if (!(inbound instanceof Uint8Array) || !(outbound instanceof Uint8Array)) {
      throw invalid(`entry ${entries.length + 1} at byte ${at} is not two byte strings`);
    }
    entries.push({ in: inbound, out: outbound });
  }
  return { header, entries, torn: false };
}

function readHeader(decoder: Decoder): JournalHeader {
  let value: unknown;
  try {
    value = decoder.value();
  } catch (error) {
    throw invalid(`no header: ${String(error)}`, error);
  }
  const map = (typeof value === 'object' ? value : null) as Record<string, unknown> | null;
  if (map?.['turncore'] !== 'journal') throw invalid('no header');
  if (map['version'] !== JOURNAL_VERSION) {
    throw invalid(`version ${String(map['version'])}, this host reads ${JOURNAL_VERSION}`);
  }
  const { abi, features, module, engine, turn } = map;
  if (
    typeof abi !== 'number' ||
    typeof features !== 'number' ||
    typeof module !== 'string' ||
    typeof engine !== 'string' ||
    typeof turn !== 'number'
  ) {
    throw invalid('the header lacks a field');
  }
  return { abi, features, module, engine, turn };
}

function invalid(why: string, cause?: unknown): JournalError {
  return new JournalError(why, cause === undefined ? undefined : { cause });
}
