/**
 * The journals of turns in a transaction of a database.
 */
import type { JournalAppend, JournalCompaction, JournalPart } from '../store/journal.js';
import { noJournal, otherEnd, otherEpoch } from '../store/append-faults.js';
import { invalidJournal } from './faults.js';
import type { Writing } from './keys.js';
import {
  ask,
  entrySum,
  type EntryRow,
  type JournalRow,
  journalSum,
  type Step,
  type Tables,
} from './tables.js';

/** @throws TurncoreError E_TURN_FENCED unless the journal of a writer's turn has the writer's epoch, if it has one */
export function* requireEpoch(tables: Tables, { turn = '', epoch = 0 }: Writing): Step<void> {
  if (epoch !== 0) yield* journalOfEpoch(tables, turn, epoch);
}

/** The journal of a turn. @throws TurncoreError E_TURN_FENCED unless it has an epoch */
function* journalOfEpoch(tables: Tables, turn: string, epoch: number): Step<JournalRow> {
  const row = yield* journalOf(tables, turn);
  if (row === undefined) throw noJournal(turn);
  if (row.epoch !== epoch) throw otherEpoch(turn, row.epoch, epoch);
  return row;
}

/** The row of a journal. @throws TurncoreError E_STORED_RECORD_INVALID if it is damaged */
function* journalOf(tables: Tables, turn: string): Step<JournalRow | undefined> {
  const row = yield* ask(tables.findJournal(turn));
  if (row !== undefined && row.sum !== journalSum(row)) {
    throw invalidJournal(turn, 'the checksum of its journal is wrong');
  }
  return row;
}

/** Adds entries to a journal. */
export function* appendEntries(tables: Tables, turn: string, append: JournalAppend): Step<void> {
  const { epoch, at, entries } = append;
  const there = yield* journalOf(tables, turn);
  const row = there ?? { turn, epoch, first: 0, next: 0, checkpoint: null, sum: 0 };
  if (epoch < row.epoch) throw otherEpoch(turn, row.epoch, epoch);
  if (at !== row.next) {
    if (yield* isDone(tables, row, append)) return;
    throw otherEnd(turn, there?.epoch ?? 0, row.next, at);
  }
  for (const [i, body] of entries.entries()) {
    const entry = { turn, number: at + i, body, sum: 0 };
    entry.sum = entrySum(entry);
    yield* ask(tables.addEntry(entry));
  }
  const now = { ...row, epoch, next: at + entries.length };
  now.sum = journalSum(now);
  yield* ask(there === undefined ? tables.addJournal(now) : tables.setJournal(now));
}

/** Whether a journal ends with what is to be added: its writer got no answer. */
function* isDone(tables: Tables, row: JournalRow, append: JournalAppend): Step<boolean> {
  const { epoch, at, entries } = append;
  if (epoch !== row.epoch || at < row.first || at + entries.length !== row.next) return false;
  const there = yield* entriesFrom(tables, row, at);
  return there.every((body, i) => isSame(body, entries[i]!));
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The entries of a journal from one that is left. @throws TurncoreError E_STORED_RECORD_INVALID for one that is damaged */
function* entriesFrom(tables: Tables, row: JournalRow, from: number): Step<Uint8Array[]> {
  const { turn, next } = row;
  const rows = yield* ask(tables.entriesFrom(turn, from));
  const bodies: Uint8Array[] = [];
  for (let number = from; number < next; number++) {
    const entry: EntryRow | undefined = rows[number - from];
    if (entry?.number !== number) throw invalidJournal(turn, 'it is missing', number);
    if (entry.sum !== entrySum(entry)) {
      throw invalidJournal(turn, 'its checksum is wrong', number);
    }
    bodies.push(entry.body);
  }
  return bodies;
}

/** A journal from an entry on. */
export function* readEntries(
  tables: Tables,
  turn: string,
  from: number,
): Step<JournalPart | undefined> {
  const row = yield* journalOf(tables, turn);
  if (row === undefined) return undefined;
  const { epoch, checkpoint } = row;
  const first = Math.max(from, row.first);
  const entries = yield* entriesFrom(tables, row, first);
  return { epoch, first, entries, ...(checkpoint === null ? {} : { checkpoint }) };
}

/** Puts a checkpoint in the place of entries. */
export function* compactEntries(
  tables: Tables,
  turn: string,
  { epoch, before, checkpoint }: JournalCompaction,
): Step<void> {
  const row = yield* journalOfEpoch(tables, turn, epoch);
  if (before <= row.first) return;
  if (before > row.next) throw otherEnd(turn, epoch, row.next, before);
  yield* ask(tables.dropEntriesBefore(turn, before));
  const now = { ...row, first: before, checkpoint };
  now.sum = journalSum(now);
  yield* ask(tables.setJournal(now));
}

/** Deletes a journal. */
export function* deleteEntries(tables: Tables, turn: string, epoch: number): Step<void> {
  const row = yield* journalOf(tables, turn);
  if (row === undefined) return;
  if (row.epoch > epoch) throw otherEpoch(turn, row.epoch, epoch);
  yield* ask(tables.dropJournal(turn));
}
