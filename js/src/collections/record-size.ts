/**
 * How large records are, without encoding them.
 */
import { Encoder } from '../codec/encoder.js';
import { encodeBody } from '../primitives/body.js';
import { Thought } from '../primitives/thought.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { Entry } from './kinds.js';

/** Bytes that a record's other fields have at most, when they are as long as usual. */
const FIELDS = 8192;
/** Ids, names and sources up to this many UTF-16 units are usual. */
const USUAL = 512;

/** More bytes than a record's body can have; Infinity for one that must be encoded to know. */
export function mostBytes(entry: Entry): number {
  if (entry instanceof Tokenizable) return entry.length * 3 + FIELDS;
  if (entry instanceof ToolCall || entry.id.length > USUAL) return Number.POSITIVE_INFINITY;
  if (entry instanceof Thought && entry.payload !== undefined) return Number.POSITIVE_INFINITY;
  if (
    'source' in entry &&
    ((entry.source ?? '').length > USUAL || (entry.kind ?? '').length > USUAL)
  ) {
    return Number.POSITIVE_INFINITY;
  }
  return (entry.content?.length ?? 0) * 3 + FIELDS;
}

/** As {@link mostBytes}, or the very size where that does not know. */
export function measure(entry: Entry): number {
  const most = mostBytes(entry);
  if (most !== Number.POSITIVE_INFINITY) return most;
  const enc = new Encoder(1024);
  entry[encodeBody](enc);
  return enc.length;
}
