/**
 * Hello and Welcome, by which host and module agree on bounds.
 */
import { ABI_MAJOR, ABI_MINOR, Op } from '../abi/frames.gen.js';
import { type OutboundFrame, readFrame, writeGCPercent, writeHello } from '../codec/tuples.gen.js';
import { framesOf, wrongFrame } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import type { Limits, Quota } from './limits.js';

/** Bytes of entropy for an instance. */
export const SEED_SIZE = 16;

/** The guest takes it as an i32. */
const MAX_PERCENT = 2 ** 31 - 1;

/** The module's answer to Hello. */
export interface Welcome {
  /** Feature bits in force. */
  readonly features: number;
  /** Bounds in force. */
  readonly limits: Readonly<Limits>;
  /** Version of the module, for people. */
  readonly build: string;
  /** Protocols of the chat executor, the default one first. */
  readonly providers: readonly string[];
}

/** Encodes the Hello frame. */
export function encodeHello(
  features: number,
  limits: Readonly<Limits>,
  quota: Readonly<Quota>,
  seed: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const e = new Encoder(64);
  writeHello(e, { major: ABI_MAJOR, minor: ABI_MINOR, features, limits, quota, seed });
  return e.copy();
}

/** Encodes the GCPercent frame. */
export function encodeGCPercent(percent: number): Uint8Array<ArrayBuffer> {
  if (!Number.isInteger(percent) || percent < 1 || percent > MAX_PERCENT) {
    throw new RangeError(`gcPercent must be an integer from 1 to ${MAX_PERCENT}, not ${percent}`);
  }
  const e = new Encoder(8);
  writeGCPercent(e, { percent });
  return e.copy();
}

/**
 * Reads the answer to Hello.
 *
 * @param asked the bounds that Hello named: the answer may lower them, not raise them
 * @throws CodecError for anything but one Welcome
 */
export function decodeWelcome(bytes: Uint8Array, asked: Readonly<Limits>): Welcome {
  const frames = framesOf(readFrame, bytes, asked);
  const frame = frames[0];
  if (frame?.op !== Op.Welcome || frames.length > 1) {
    throw wrongFrame(`${describe(frames)} instead of Welcome`);
  }
  const limits = { ...asked };
  for (const key of Object.keys(limits) as (keyof Limits)[]) {
    if (frame.limits[key] > 0) limits[key] = Math.min(limits[key], frame.limits[key]);
  }
  const { features, build, providers } = frame;
  return { features, limits: Object.freeze(limits), build, providers };
}

/** Describes a frame, with the text of a Fault. */
function describe(frames: readonly OutboundFrame[]): string {
  const frame = frames.find((f) => f.op !== Op.Welcome) ?? frames[0];
  if (frame === undefined) return 'nothing';
  return `frame ${frame.op}${frame.op === Op.Fault ? ` (${frame.code}: ${frame.message})` : ''}`;
}
