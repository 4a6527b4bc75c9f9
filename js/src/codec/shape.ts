/**
 * Checks of what a module sends: the decoder knows the encoding only, not what belongs where.
 */
import { Op } from '../abi/frames.gen.js';
import { CodecError } from './decoder.js';

/**
 * Tells whether values are an array of the given shape, one letter each: n whole number from 0, i whole number, s string,
 * b boolean, y bytes or nil, a array or nil, e error or nil, * anything. More values may follow: a newer minor adds.
 */
export function hasShape(values: unknown, shape: string): values is readonly unknown[] {
  if (!Array.isArray(values) || values.length < shape.length) return false;
  for (let i = 0; i < shape.length; i++) {
    const value: unknown = values[i];
    switch (shape.charCodeAt(i)) {
      case 0x6e: // n
        if (typeof value !== 'number' || !(value >= 0) || Math.floor(value) !== value) return false;
        break;
      case 0x69: // i
        if (typeof value !== 'number' || Math.floor(value) !== value) return false;
        break;
      case 0x73: // s
        if (typeof value !== 'string') return false;
        break;
      case 0x62: // b
        if (typeof value !== 'boolean') return false;
        break;
      case 0x79: // y
        if (value !== null && !(value instanceof Uint8Array)) return false;
        break;
      case 0x61: // a
      case 0x65: // e
        if (value !== null && !Array.isArray(value)) return false;
        break;
      default:
    }
  }
  return true;
}

/** @throws CodecError unless the values have the shape */
export function requireShape(values: unknown, shape: string, what: string): readonly unknown[] {
  if (hasShape(values, shape)) return values;
  throw new CodecError('frame', 0, `malformed ${what}`);
}

const frames: Readonly<Record<number, string>> = {
  [Op.Reply]: 'nnne*',
  [Op.Event]: 'nnnnnnin*',
  [Op.Effect]: 'nnnnnsn*',
  [Op.Cancel]: 'nnn',
  [Op.Sync]: 'nnnnniiy',
  [Op.Timer]: 'nnn',
  [Op.End]: 'nnnne',
  [Op.Fault]: 'nnssn',
};

/** Tells whether a frame is one that a module may send after Welcome, with the right fields. */
export function isOutbound(frame: readonly unknown[]): boolean {
  const shape = frames[frame[0] as number];
  return shape !== undefined && hasShape(frame, shape);
}
