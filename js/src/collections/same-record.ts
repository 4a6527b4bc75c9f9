/**
 * Compares records by content.
 */
import { equal } from '../bytes.js';
import { Encoder } from '../codec/encoder.js';
import { encodeBody } from '../primitives/body.js';
import { Message } from '../primitives/message.js';
import { Retrievable } from '../primitives/retrievable.js';
import { Thought } from '../primitives/thought.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { Entry } from './kinds.js';

type AnyRecord = Exclude<Entry, Tokenizable>;

/**
 * Whether one record can replace another: they are the same object, or all their contents are equal. Records with
 * readers or dynamic texts equal only themselves.
 */
export function sameRecord(a: AnyRecord, b: AnyRecord): boolean {
  if (a === b) return true;
  if (a.id !== b.id || a.constructor !== b.constructor || !allInBody(a) || !allInBody(b))
    return false;
  return equal(bodyOf(a), bodyOf(b));
}

function bodyOf(record: AnyRecord): Uint8Array {
  const enc = new Encoder(1024);
  record[encodeBody](enc);
  enc.value(record.metadata, 'metadata'); // it does not cross, and is in no body
  return enc.copy();
}

/** Whether a record's body has its complete contents. */
function allInBody(record: AnyRecord): boolean {
  if (record instanceof Message && record.attachments.length > 0) return false;
  if (record instanceof Retrievable && !record.inline) return false;
  if (record instanceof Message || record instanceof Thought) {
    if (record.ownIdentity?.representation.dynamic === true) return false;
  }
  const text: unknown = record instanceof ToolCall ? record.results : record.content;
  return !(text instanceof Tokenizable) ? text === undefined : !text.dynamic;
}
