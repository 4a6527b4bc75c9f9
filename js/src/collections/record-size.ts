/**
 * Estimates the size of records without encoding them.
 */
import { Encoder } from '../codec/encoder.js';
import { encodeBody } from '../primitives/body.js';
import { Message } from '../primitives/message.js';
import { Retrievable } from '../primitives/retrievable.js';
import { Thought } from '../primitives/thought.js';
import { renderForCrossing, Tokenizable } from '../primitives/tokenizable.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { Entry } from './kinds.js';

/** Upper bound on the bytes of a record's other fields of usual length. */
const FIELDS = 8192;
/** Ids, names and sources up to this many UTF-16 units are usual. */
const USUAL = 512;

/**
 * Renders the dynamic texts of a record, so that encoding it cannot fail.
 *
 * @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID
 */
export function renderTexts(entry: Entry): void {
  if (entry instanceof Tokenizable) {
    entry[renderForCrossing]();
    return;
  }
  const text = entry instanceof ToolCall ? entry.results : entry.content;
  if (text instanceof Tokenizable) text[renderForCrossing]();
  if (entry instanceof Message || entry instanceof Thought) {
    entry.ownIdentity?.representation[renderForCrossing]();
  }
}

/**
 * An upper bound on the bytes of a record's body; Infinity if only encoding it tells. Renders its dynamic texts.
 *
 * @throws TurncoreError E_TOKENIZABLE_EVALUATOR_INVALID
 */
export function mostBytes(entry: Entry): number {
  renderTexts(entry);
  if (entry instanceof Tokenizable) return entry[renderForCrossing]() * 3 + FIELDS;
  if (entry instanceof ToolCall || entry.id.length > USUAL) return Number.POSITIVE_INFINITY;
  if (entry instanceof Thought && entry.payload !== undefined) return Number.POSITIVE_INFINITY;
  if (entry instanceof Message && entry.attachments.length > 0) return Number.POSITIVE_INFINITY;
  if (
    'source' in entry &&
    ((entry.source ?? '').length > USUAL || (entry.kind ?? '').length > USUAL)
  ) {
    return Number.POSITIVE_INFINITY;
  }
  const { content } = entry;
  if (entry instanceof Retrievable && entry.spooledText !== undefined) return FIELDS;
  return (content instanceof Tokenizable ? content[renderForCrossing]() * 3 : 0) + FIELDS;
}

/** Like {@link mostBytes}, or the exact size if that is Infinity. */
export function measure(entry: Entry): number {
  const most = mostBytes(entry);
  if (most !== Number.POSITIVE_INFINITY) return most;
  const enc = new Encoder(1024);
  entry[encodeBody](enc);
  return enc.length;
}

/** Approximate bytes of a record besides its text. */
const OVERHEAD = 256;

/** Approximate bytes of memory of a record. */
export function weigh(entry: Entry): number {
  const most = mostBytes(entry);
  if (most === Number.POSITIVE_INFINITY) return measure(entry) + OVERHEAD;
  return (most - FIELDS) / 3 + OVERHEAD;
}
