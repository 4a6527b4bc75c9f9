/**
 * Runs a journal again in a fresh instance and compares every byte.
 */
import { Feature, Op } from '../abi/frames.gen.js';
import { equal, hex } from '../bytes.js';
import { TurncoreError } from '../errors.js';
import { checkVersion } from '../instance/contract.js';
import type { Module } from '../instance/module.js';
import type { InstantiateOptions } from '../instance/module-options.js';
import type { JournalHeader } from './format.js';
import { frameJSON, framesOf } from './json.js';
import { readJournal } from './reader.js';

/** The first difference of a replay. */
export interface ReplayDifference {
  /** Number of the entry, from 0. */
  readonly entry: number;
  /** Number of the outbound frame within it, from 0. */
  readonly frame: number;
  /** Offset of the first different byte in the frame, from 0. */
  readonly byte: number;
  /** The journal's frame; undefined if it has none. */
  readonly expected: Uint8Array | undefined;
  /** The replay's frame; undefined if it has none. */
  readonly actual: Uint8Array | undefined;
}

/** The result of a replay. */
export interface ReplayReport {
  readonly header: JournalHeader;
  /** Number of replayed entries. */
  readonly entries: number;
  /** Number of outbound frames that are the same. */
  readonly frames: number;
  /** Bytes of those frames. */
  readonly bytes: number;
  /** True if the journal was written with the same module bytes; undefined if unknown. */
  readonly sameModule: boolean | undefined;
  /** True if the journal's last entry is cut off. */
  readonly torn: boolean;
  /** The difference; undefined if there is none. */
  readonly difference: ReplayDifference | undefined;
}

/**
 * Replays a journal.
 *
 * @param module the module to run it in
 * @throws TurncoreError E_INVALID_JOURNAL, E_ABI_VERSION, or the errors of instantiate and step
 */
export async function replay(
  journal: Uint8Array,
  module: Module,
  options: InstantiateOptions = {},
): Promise<ReplayReport> {
  const { header, entries, damage, torn } = readJournal(journal);
  if (damage !== undefined && !torn) throw damage;
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
      const actual = instance.step(entry.in).slice();
      difference = compare(done, entry.out, actual);
      if (difference !== undefined) break;
      frames += framesOf(actual).length;
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
  return TurncoreError.of('E_REPLAY_DIVERGED', describe(d), { details: d });
}

/** Number of characters shown around a difference. */
const SHOWN_BEFORE = 80;
const SHOWN_AFTER = 120;

/** The place of a difference and its surroundings in both frames, decoded. */
function describe({ entry, frame, byte, expected, actual }: ReplayDifference): string {
  const place = `entry ${entry}, frame ${frame}, byte ${byte}:`;
  if (expected === undefined || actual === undefined) {
    return `${place}${aside('recorded', excerpt(show(expected)))}${aside('replayed', excerpt(show(actual)))}`;
  }
  let [a, b] = [show(expected), show(actual)];
  if (commonLength(a, b) === a.length && a.length === b.length) {
    // Encoded in two ways.
    [a, b] = [Array.from(hex(expected)), Array.from(hex(actual))];
  }
  const at = commonLength(a, b);
  const before = a.slice(Math.max(0, at - SHOWN_BEFORE), at).join('');
  return (
    place +
    aside('both', at > SHOWN_BEFORE ? `…${before}` : before) +
    aside('recorded', excerpt(a.slice(at))) +
    aside('replayed', excerpt(b.slice(at)))
  );
}

function aside(name: string, text: string): string {
  return `\n  ${`${name}:`.padEnd(9)} ${text}`;
}

/** The beginning of a text. */
function excerpt(text: readonly string[]): string {
  if (text.length <= SHOWN_AFTER) return text.join('');
  return `${text.slice(0, SHOWN_AFTER).join('')}…`;
}

/** The characters of a frame, decoded. */
function show(frame: Uint8Array | undefined): string[] {
  return Array.from(frame === undefined ? 'no frame' : frameJSON(frame));
}

/** The length of the common prefix of two lists. */
function commonLength(a: ArrayLike<unknown>, b: ArrayLike<unknown>): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}

function compare(
  entry: number,
  expected: Uint8Array,
  actual: Uint8Array,
): ReplayDifference | undefined {
  if (equal(expected, actual)) return undefined;
  const want = framesOf(expected);
  const got = framesOf(actual);
  let i = 0;
  while (i < want.length && i < got.length && sameFrame(want[i]!, got[i]!)) i++;
  if (i === want.length && i === got.length) return undefined;
  const byte = commonLength(want[i] ?? [], got[i] ?? []);
  return { entry, frame: i, byte, expected: want[i], actual: got[i] };
}

/**
 * Whether two frames are the same. Modules that agreed to the same terms may have different providers and builds, and
 * one may have sessions: a journal of the core module plays on the full one.
 */
function sameFrame(a: Uint8Array, b: Uint8Array): boolean {
  return equal(a, b) || (a[1] === Op.Welcome && agreed(a) === agreed(b));
}

function agreed(frame: Uint8Array): string {
  const {
    build: _,
    providers: __,
    features,
    ...rest
  } = JSON.parse(frameJSON(frame)) as Record<string, unknown>;
  return JSON.stringify([Number(features) | Feature.Sessions, rest]);
}
