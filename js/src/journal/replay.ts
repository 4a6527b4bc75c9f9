/**
 * Runs a journal again in a fresh instance and compares every byte.
 */
import { CodecError, decodeFrames } from '../codec/decoder.js';
import { TurncoreError } from '../errors.js';
import { checkVersion } from '../engine/contract.js';
import type { InstantiateOptions, Module } from '../engine/module.js';
import { JOURNAL_LIMITS, type JournalHeader } from './format.js';
import { readJournal } from './reader.js';

/** The first place where a replay went another way. */
export interface ReplayDifference {
  /** Number of the entry, from 1. */
  readonly entry: number;
  /** Number of the outbound frame within it, from 1. */
  readonly frame: number;
  /** The journal's frame, decoded; undefined if it has none there. */
  readonly expected: unknown;
  /** The replay's frame, decoded; undefined if it gave none there. */
  readonly actual: unknown;
}

/** How a replay went. */
export interface ReplayReport {
  readonly header: JournalHeader;
  /** Entries that were replayed. */
  readonly entries: number;
  /** Outbound frames that were compared and are the same. */
  readonly frames: number;
  /** Bytes of those frames. */
  readonly bytes: number;
  /** True if the journal was written with these very module bytes; undefined where that is not known. */
  readonly sameModule: boolean | undefined;
  /** True if the journal's last entry is cut off. */
  readonly torn: boolean;
  /** Where the replay differs; undefined if it does not. */
  readonly difference: ReplayDifference | undefined;
}

/**
 * Replays a journal.
 *
 * @param module the module to run it in
 * @throws JournalError; TurncoreError E_ABI_VERSION, or what instantiate and step throw
 */
export async function replay(
  journal: Uint8Array,
  module: Module,
  options: InstantiateOptions = {},
): Promise<ReplayReport> {
  const { header, entries, torn } = readJournal(journal);
  checkVersion(header.abi);
  const hash = /^[0-9a-f]{64}$/.test(header.module) ? await module.hash() : '';
  const sameModule = hash === '' ? undefined : hash === header.module;
  const instance = await module.instantiate({ ...options, handshake: false });
  let frames = 0;
  let bytes = 0;
  let done = 0;
  let difference: ReplayDifference | undefined;
  try {
    for (const entry of entries) {
      const actual = instance.step(entry.in);
      difference = compare(done + 1, entry.out, actual);
      if (difference !== undefined) break;
      frames += count(actual);
      bytes += actual.length;
      done++;
    }
  } finally {
    instance.close();
  }
  return { header, entries: done, frames, bytes, sameModule, torn, difference };
}

/**
 * The error of a replay that differs.
 *
 * @returns undefined for one that does not
 */
export function divergence(report: ReplayReport): TurncoreError | undefined {
  const d = report.difference;
  if (d === undefined) return undefined;
  return TurncoreError.of(
    'E_REPLAY_DIVERGED',
    `entry ${d.entry}, frame ${d.frame}: expected ${show(d.expected)}, got ${show(d.actual)}`,
    { details: d },
  );
}

function compare(
  entry: number,
  expected: Uint8Array,
  actual: Uint8Array,
): ReplayDifference | undefined {
  if (equal(expected, actual)) return undefined;
  const want = split(expected);
  const got = split(actual);
  for (let i = 0; i < Math.max(want.length, got.length); i++) {
    const a = want[i];
    const b = got[i];
    if (a !== undefined && b !== undefined && equal(a.bytes, b.bytes)) continue;
    return { entry, frame: i + 1, expected: a?.value, actual: b?.value };
  }
  return { entry, frame: 1, expected: want, actual: got };
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly value: unknown;
}

/** The frames of a step; what cannot be decoded is one piece that says why. */
function split(bytes: Uint8Array): Piece[] {
  const offsets: number[] = [];
  try {
    return decodeFrames(bytes, JOURNAL_LIMITS, offsets).map((value, i) => ({
      value,
      bytes: bytes.subarray(offsets[i], offsets[i + 1]),
    }));
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    return [{ bytes, value: error.message }];
  }
}

function count(bytes: Uint8Array): number {
  return split(bytes).length;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A frame as text, byte strings in hex. */
function show(frame: unknown): string {
  if (frame === undefined) return 'nothing';
  return JSON.stringify(frame, (_key, value: unknown) =>
    value instanceof Uint8Array
      ? `0x${Array.from(value, (b) => b.toString(16).padStart(2, '0')).join('')}`
      : value,
  );
}
