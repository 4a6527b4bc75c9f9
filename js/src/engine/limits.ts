/**
 * The bounds that host and module agree on by Hello and Welcome.
 */
import { ABI_MAJOR, ABI_MINOR, Op } from '../abi/frames.gen.js';
import { CodecError, decodeFrames, DEFAULT_LIMITS, type CodecLimits } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';

/** Bounds of one instance. A host may lower the defaults, never raise them. */
export interface Limits extends CodecLimits {
  /** Effects outstanding in one turn. */
  turnEffects: number;
  /** Effects outstanding in one instance. */
  instanceEffects: number;
}

/** Bytes that the module may hold for turns: records, queued writes, open streams and requests. */
export interface Quota {
  /** For one turn. Default 64 MiB. */
  turn: number;
  /** For all turns and histories of one instance; a history counts once. Default 256 MiB. */
  instance: number;
}

/** The quota of a host that names none. */
export const DEFAULT_QUOTA: Readonly<Quota> = Object.freeze({
  turn: 64 * 2 ** 20,
  instance: 256 * 2 ** 20,
});

/** Bytes of entropy that an instance gets. */
export const SEED_SIZE = 16;

/** The ABI's own bounds. */
export const DEFAULT_INSTANCE_LIMITS: Readonly<Limits> = Object.freeze({
  ...DEFAULT_LIMITS,
  turnEffects: 1024,
  instanceEffects: 65536,
});

/** The defaults, lowered where the caller asks for less. */
export function lowerLimits(wanted: Partial<Limits> = {}): Limits {
  const limits = { ...DEFAULT_INSTANCE_LIMITS };
  for (const key of Object.keys(limits) as (keyof Limits)[]) {
    const value = wanted[key];
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`limit ${key} must be a positive integer, not ${value}`);
    }
    limits[key] = Math.min(limits[key], value);
  }
  return limits;
}

/** What the module answered to Hello. */
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
  e.arrayHeader(7);
  e.int(Op.Hello);
  e.int(ABI_MAJOR);
  e.int(ABI_MINOR);
  e.int(features);
  e.arrayHeader(6);
  e.int(limits.frame);
  e.int(limits.string);
  e.int(limits.array);
  e.int(limits.depth);
  e.int(limits.turnEffects);
  e.int(limits.instanceEffects);
  e.arrayHeader(2);
  e.int(quota.turn);
  e.int(quota.instance);
  e.bin(seed);
  return e.copy();
}

/**
 * Reads the answer to Hello.
 *
 * @param asked the bounds that Hello named: the answer may lower them, not raise them
 * @throws CodecError for anything but one Welcome
 */
export function decodeWelcome(bytes: Uint8Array, asked: Readonly<Limits>): Welcome {
  const frames = decodeFrames(bytes, asked);
  const frame = frames[0];
  if (frames.length !== 1 || frame?.[0] !== Op.Welcome || frame.length < 8) {
    throw new CodecError('frame', 0, `${describe(frames)} instead of Welcome`);
  }
  const [, major, minor, features, bounds, , build, providers] = frame;
  if (
    !isCount(major) ||
    !isCount(minor) ||
    !isCount(features) ||
    !Array.isArray(bounds) ||
    bounds.length < 6 ||
    !bounds.every(isCount) ||
    typeof build !== 'string' ||
    !Array.isArray(providers) ||
    !providers.every((name) => typeof name === 'string')
  ) {
    throw new CodecError('frame', 0, 'malformed Welcome');
  }
  const [frameBytes, string, array, depth, turnEffects, instanceEffects] = bounds;
  const offered = {
    frame: frameBytes,
    string,
    array,
    depth,
    turnEffects,
    instanceEffects,
  } as Limits;
  const limits = { ...asked };
  for (const key of Object.keys(limits) as (keyof Limits)[]) {
    if (offered[key] > 0) limits[key] = Math.min(limits[key], offered[key]);
  }
  return { features, limits: Object.freeze(limits), build, providers };
}

function isCount(v: unknown): v is number {
  return typeof v === 'number' && Number.isSafeInteger(v) && v >= 0;
}

/** Names what came, with the text of a Fault. */
function describe(frames: readonly unknown[][]): string {
  const frame = frames[0];
  if (frame === undefined) return 'nothing';
  const texts = frame.filter((v) => typeof v === 'string');
  return `frame ${String(frame[0])}${texts.length > 0 ? ` (${texts.join(': ')})` : ''}`;
}
