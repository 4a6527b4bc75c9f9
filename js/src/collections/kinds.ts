/**
 * The kinds of record: their names, their numbers on the wire and their classes.
 */
import { invalidValue } from '../errors.js';
import { isMemory, Memory } from '../primitives/memory.js';
import { isMessage, Message } from '../primitives/message.js';
import { isRetrievable, Retrievable } from '../primitives/retrievable.js';
import { isThought, Thought } from '../primitives/thought.js';
import { isTokenizable, Tokenizable } from '../primitives/tokenizable.js';
import { isToolCall, ToolCall } from '../primitives/tool-call.js';

/** A member of a collection: a record, or a standing instruction. */
export type Entry = Message | Memory | Retrievable | Thought | ToolCall | Tokenizable;

/** The names in the API, by collection number. */
const names = [
  'instructions',
  'memories',
  'retrievables',
  'messages',
  'thoughts',
  'toolCalls',
] as const;

/** The collections of a context that hold records, by their names in the API. */
export type RecordKind = (typeof names)[number];

/** The number of kinds of record. */
export const RECORD_KINDS = names.length;

const classes = [Tokenizable, Memory, Retrievable, Message, Thought, ToolCall] as const;

const tests = [isTokenizable, isMemory, isRetrievable, isMessage, isThought, isToolCall] as const;

/** The kind of record with a number on the wire. */
export function recordKind(collection: number): RecordKind {
  return names[collection]!;
}

/** The number of a kind on the wire. @throws TurncoreError E_INVALID_VALUE for an unknown name */
export function collectionNumber(kind: RecordKind): number {
  const n = names.indexOf(kind);
  if (n < 0) throw invalidValue('kind', `${JSON.stringify(kind)} is no kind of record`);
  return n;
}

/** Whether a value is a record of the collection with this number. */
export function isRecordOf(collection: number, value: unknown): value is Entry {
  return tests[collection]?.(value) === true;
}

/** @throws TurncoreError E_INVALID_VALUE unless the value is a record of that kind */
export function requireRecord(kind: RecordKind, value: unknown, field: string): void {
  requireEntry(collectionNumber(kind), value, field);
}

/** @throws TurncoreError E_INVALID_VALUE unless the value is a record of the collection with this number */
export function requireEntry(collection: number, value: unknown, field: string): void {
  if (isRecordOf(collection, value)) return;
  const of = classes[collection];
  const proxy = of !== undefined && value instanceof of ? ', not a Proxy of one' : '';
  throw invalidValue(field, `must be an instance of ${of?.name ?? 'record'}${proxy}`);
}
