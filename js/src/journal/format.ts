/**
 * The journal of a turn: its inbound and outbound frames, step by step. It is a sequence of msgpack values: first the
 * header, a map, then for each step an array of two byte strings, the frames in and the frames out. It has only
 * frames of this turn, preceded by the frames that it depends on: Hello, OpenRunner, History.
 */
import { Op } from '../abi/frames.gen.js';
import { joined } from '../bytes.js';
import type { OutboundFrame } from '../codec/tuples.gen.js';
import type { CodecLimits } from '../codec/limits.js';

/** Version of the format. */
export const JOURNAL_VERSION = 1;

/** The header of a journal. */
export interface JournalHeader {
  /** ABI version of the module, major in the high 16 bits. */
  readonly abi: number;
  /** Feature bits that were in force. */
  readonly features: number;
  /** SHA-256 of the module in hex, `native` for code without a module, empty if unknown. */
  readonly module: string;
  /** Its engine, such as `node` or `wazero`. */
  readonly engine: string;
  /** Number of the turn in its instance. */
  readonly turn: number;
}

/** One step: consecutive frames. */
export interface JournalEntry {
  readonly in: Uint8Array;
  readonly out: Uint8Array;
}

/** Bounds of a journal's values: a step's output is bounded by no frame limit. */
export const JOURNAL_LIMITS: Readonly<CodecLimits> = Object.freeze({
  frame: 0x7fffffff,
  string: 0x7fffffff,
  array: 8192,
  depth: 64,
});

/**
 * The frames of a step that belong to a turn, one after another.
 *
 * @param frames the decoded frames
 * @param offsets their offsets in the bytes, from framesOf
 */
export function framesOfTurn(
  bytes: Uint8Array,
  frames: readonly OutboundFrame[],
  offsets: readonly number[],
  turn: number,
): Uint8Array {
  const parts: Uint8Array[] = [];
  frames.forEach((frame, i) => {
    if (isOfTurn(frame, turn)) parts.push(bytes.subarray(offsets[i], offsets[i + 1]));
  });
  return parts.length === frames.length ? bytes : joined(parts);
}

function isOfTurn(frame: OutboundFrame, turn: number): boolean {
  switch (frame.op) {
    case Op.Welcome:
      return false;
    case Op.Fault: // 0: the module does not know the turn of a rejected frame
      return frame.turn === turn || frame.turn === 0;
    default:
      return frame.turn === turn;
  }
}
