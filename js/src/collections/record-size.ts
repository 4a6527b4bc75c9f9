/**
 * How large records are, without encoding them.
 */
import { Encoder } from '../codec/encoder.js';
import { encodeBody } from '../primitives/body.js';
import { Message } from '../primitives/message.js';
import { Retrievable } from '../primitives/retrievable.js';
import { Thought } from '../primitives/thought.js';
import { renderForCrossing, Tokenizable } from '../primitives/tokenizable.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { Entry } from './kinds.js';

/** Bytes that a record's other fields have at most, when they are as long as usual. */
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
 * More bytes than a record's body can have; Infinity for one that must be encoded to know. Its dynamic texts are
 * rendered.
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

/** As {@link mostBytes}, or the very size where that does not know. */
export function measure(entry: Entry): number {
  const most = mostBytes(entry);
  if (most !== Number.POSITIVE_INFINITY) return most;
  const enc = new Encoder(1024);
  entry[encodeBody](enc);
  return enc.length;
}

/** Bytes that a record takes beside its text, about. */
const OVERHEAD = 256;

/** About how many bytes of memory a record takes. */
export function weigh(entry: Entry): number {
  const most = mostBytes(entry);
  if (most === Number.POSITIVE_INFINITY) return measure(entry) + OVERHEAD;
  return (most - FIELDS) / 3 + OVERHEAD;
}
