/**
 * Checks what is appended: callers may be JavaScript.
 */
import { requireObject } from '../context/arguments.js';
import { invalidValue, requireList } from '../errors.js';
import type { Append } from './appender.js';
import type { JournalAppend, JournalCompaction } from './journal.js';

/** @throws TurncoreError E_INVALID_VALUE unless it is a valid append */
export function requireAppend(append: Append): void {
  requireObject(append, 'append');
  const { event, state, artifacts } = append;
  if (event !== undefined) {
    requireObject(event, 'event');
    requireText(event.id, 'event.id');
    requireBody(event.body, 'event.body');
  }
  each(state, 'state', ({ scope, name, value }, at) => {
    requireText(scope, `${at}.scope`);
    requireText(name, `${at}.name`);
    if (value !== null) requireBody(value, `${at}.value`);
  });
  each(artifacts, 'artifacts', ({ scope, name, version, bytes, body }, at) => {
    requireText(scope, `${at}.scope`);
    requireText(name, `${at}.name`);
    requireText(bytes, `${at}.bytes`);
    requireCount(version, `${at}.version`);
    requireBody(body, `${at}.body`);
  });
}

function each<T>(
  list: readonly T[] | undefined,
  field: string,
  check: (one: T, at: string) => void,
): void {
  if (list === undefined) return;
  requireList(field, list);
  list.forEach((one, i) => {
    requireObject(one, `${field}[${i}]`);
    check(one, `${field}[${i}]`);
  });
}

/** @throws TurncoreError E_INVALID_VALUE unless it is a valid append to a journal */
export function requireJournalAppend(turn: string, append: JournalAppend): void {
  requireText(turn, 'turn');
  requireObject(append, 'append');
  const { epoch, at, entries } = append;
  requireEpochNumber(epoch);
  requireCount(at, 'at');
  requireList('entries', entries);
  if (entries.length === 0) throw invalidValue('entries', 'must have at least one');
  entries.forEach((entry, i) => requireBody(entry, `entries[${i}]`));
}

/** @throws TurncoreError E_INVALID_VALUE unless it is a valid compaction of a journal */
export function requireCompaction(turn: string, compaction: JournalCompaction): void {
  requireText(turn, 'turn');
  requireObject(compaction, 'compaction');
  requireEpochNumber(compaction.epoch);
  requireCount(compaction.before, 'before');
  requireBody(compaction.checkpoint, 'checkpoint');
}

/** @throws TurncoreError E_INVALID_VALUE unless a value is an epoch */
export function requireEpochNumber(value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw invalidValue('epoch', 'must be a positive whole number');
  }
}

/** @throws TurncoreError E_INVALID_VALUE unless a value is a whole number from 0 */
export function requireCount(value: unknown, field: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalidValue(field, 'must be a whole number from 0');
  }
}

/** @throws TurncoreError E_INVALID_VALUE unless a value is a text that UTF-8 can tell from others */
export function requireText(value: unknown, field: string): void {
  if (typeof value !== 'string' || /\p{Surrogate}/u.test(value)) {
    throw invalidValue(field, 'must be a well-formed string');
  }
}

function requireBody(value: unknown, field: string): void {
  if (!(value instanceof Uint8Array)) throw invalidValue(field, 'must be a Uint8Array');
}
