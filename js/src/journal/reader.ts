/**
 * Reads the journal of a turn.
 */
import { CodecError, Decoder } from '../codec/decoder.js';
import { TurncoreError } from '../errors.js';
import {
  JOURNAL_LIMITS,
  JOURNAL_VERSION,
  type JournalEntry,
  type JournalHeader,
} from './format.js';

/** A journal's content. */
export interface Journal {
  readonly header: JournalHeader;
  readonly entries: readonly JournalEntry[];
  /** The reason why there are no more entries, E_INVALID_JOURNAL; undefined if the journal is complete. */
  readonly damage: TurncoreError | undefined;
  /** True if the damage is a cut last entry, as after a crash. */
  readonly torn: boolean;
}

/**
 * Reads a journal as far as it goes.
 *
 * @throws TurncoreError E_INVALID_JOURNAL when the header cannot be read
 */
export function readJournal(bytes: Uint8Array): Journal {
  const decoder = new Decoder(bytes, JOURNAL_LIMITS);
  const header = readHeader(decoder);
  const entries: JournalEntry[] = [];
  while (!decoder.done) {
    let value: unknown;
    try {
      value = decoder.value();
    } catch (error) {
      return {
        header,
        entries,
        damage: invalid(`entry ${entries.length}`, error),
        torn: isTorn(error),
      };
    }
    const [inbound, outbound] =
      Array.isArray(value) && value.length === 2 ? (value as unknown[]) : [];
    if (!(inbound instanceof Uint8Array) || !(outbound instanceof Uint8Array)) {
      return { header, entries, damage: invalid(`entry ${entries.length}`), torn: false };
    }
    entries.push({ in: inbound, out: outbound });
  }
  return { header, entries, damage: undefined, torn: false };
}

function readHeader(decoder: Decoder): JournalHeader {
  let value: unknown;
  try {
    value = decoder.value();
  } catch (error) {
    throw invalid('the header', error);
  }
  const map = (typeof value === 'object' ? value : null) as Record<string, unknown> | null;
  if (map?.['turncore'] !== 'journal' || !Object.entries(map).flat().every(isOfHeader)) {
    throw invalid('the header');
  }
  const { version = 0 } = map;
  if (version !== JOURNAL_VERSION) {
    throw invalid(
      'the header',
      `its format has version ${String(version)}, this program reads ${JOURNAL_VERSION}`,
    );
  }
  const { abi, features, module, engine, turn } = map;
  if (
    typeof abi !== 'number' ||
    typeof features !== 'number' ||
    typeof module !== 'string' ||
    typeof engine !== 'string' ||
    typeof turn !== 'number'
  ) {
    throw invalid('the header');
  }
  return { abi, features, module, engine, turn };
}

/** Whether a name or a value may be one of a header: well-formed text, or a whole number. */
function isOfHeader(each: unknown): boolean {
  // The decoder reads invalid UTF-8 as U+FFFD.
  if (typeof each === 'string') return !each.includes('\ufffd');
  return typeof each === 'bigint' || (Number.isInteger(each) && (each as number) >= 0);
}

/** @param why text, or the decoder's error */
function invalid(where: string, why?: unknown): TurncoreError {
  const text = typeof why === 'string' ? why : isTorn(why) ? 'it breaks off' : 'malformed';
  return TurncoreError.of('E_INVALID_JOURNAL', `${where}: ${text}`, {
    cause: why instanceof Error ? why : undefined,
  });
}

function isTorn(error: unknown): boolean {
  return error instanceof CodecError && error.reason === 'truncated';
}
