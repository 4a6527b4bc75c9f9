/**
 * A commit in a transaction of a database.
 */
import { recordName } from '../collections/deltas.js';
import { type Entry, RECORD_KINDS } from '../collections/kinds.js';
import { messageOf } from '../errors.js';
import { NO_REVISION } from '../store/appender.js';
import type { Commit } from '../store/store.js';
import { decodeRecord, type ReadOptions } from '../stored/codec.js';
import { idOf, kindNumber } from '../stored/form.js';
import type { Row } from '../stored/rows.js';
import { sessionError } from '../store-errors.js';
import { invalidRecord } from './faults.js';
import { requireEpoch } from './journal-rows.js';
import { Keys } from './keys.js';
import { begin, nextRevision, revisionText, sessionOf, setSession, shown } from './session-rows.js';
import {
  findRecord,
  freeForks,
  isShared,
  lastPlace,
  ownRecords,
  recordsOfKind,
} from './shared-records.js';
import {
  ask,
  bytesSum,
  type RecordRow,
  recordSum,
  type SessionRow,
  type Step,
  type Tables,
} from './tables.js';

/** How far places are apart. */
const SPACING = 2 ** 20;
/** The kinds of records by their numbers. */
const RECORDS = Array.from({ length: RECORD_KINDS }, (_, n) => recordName(n));
const INSTRUCTIONS = 0;
const MESSAGES = 3;

/** A commit under way. */
export class Committing {
  readonly #tables: Tables;
  readonly #id: string;
  readonly #commit: Commit;
  readonly #now: () => number;
  #row!: SessionRow;
  #keys!: Keys;
  /** The commit's revision. */
  #at = 0;
  /** The revision that the writer has seen; undefined if there is nothing to check. */
  #seen: number | undefined;
  /** The session's last change before the commit. */
  #settled = 0;
  /** No other session shares what was added at this revision or later. */
  #free = Infinity;
  /** What the commit itself writes. */
  readonly #made = new Set<string>();
  /** The last place of each kind. */
  readonly #places = new Map<number, number>();
  /** Bytes that are there. */
  readonly #sure = new Set<string>();

  /** @param now the time in microseconds */
  constructor(tables: Tables, id: string, commit: Commit, now: () => number) {
    this.#tables = tables;
    this.#id = id;
    this.#commit = commit;
    this.#now = now;
  }

  /** Returns the session's revision after it. */
  *run(writes: readonly Row[]): Step<string> {
    yield* requireEpoch(this.#tables, this.#commit);
    const there = yield* sessionOf(this.#tables, this.#id);
    if (there === undefined && writes.length === 0) return NO_REVISION;
    this.#row = there ?? (yield* begin(this.#tables, this.#id, this.#now));
    const row = this.#row;
    this.#keys = new Keys(this.#tables, row, this.#commit);
    let changed = yield* this.#keys.forget();
    const known = yield* this.#keys.find();
    if (known === undefined) {
      if (writes.length > 0) yield* this.#apply(writes);
      changed = (yield* this.#keys.add()) || changed || writes.length > 0;
    }
    if (changed) yield* setSession(this.#tables, row);
    return revisionText({ ...row, revision: known ?? row.revision });
  }

  *#apply(writes: readonly Row[]): Step<void> {
    this.#readWriter();
    const row = this.#row;
    this.#at = yield* nextRevision(this.#tables, row.revision, this.#now);
    for (const [ordinal, write] of writes.entries()) {
      const kind = kindNumber(write.kind);
      if (this.#seen !== undefined) yield* this.#check(write);
      if (kind === INSTRUCTIONS) yield* this.#instruct(write, ordinal);
      else if (write.op === 'replaceToolCallGroup') yield* this.#replace(kind, write);
      else if (write.op === 'delete') yield* this.#remove(kind, write.id);
      else yield* this.#put(kind, write);
    }
    row.revision = this.#at;
  }

  #readWriter(): void {
    const { revision = '' } = this.#commit;
    if (revision === '') return;
    const seen = shown(this.#row, revision);
    if (seen === this.#row.revision) return;
    this.#seen = seen ?? -1;
    this.#settled = this.#row.settled;
  }

  /** Whether the writer has seen a revision, or it is its own. */
  *#knows(revision: number): Step<boolean> {
    return revision <= this.#seen! || (yield* this.#keys.isOwn(revision));
  }

  /** @throws TurncoreError E_SESSION_CONFLICT */
  *#check(write: Row): Step<void> {
    const written = write.op === 'replaceToolCallGroup' ? write.group : [write];
    const ids = write.op === 'delete' ? [] : written.map(({ id }) => id);
    const old =
      write.op === 'store'
        ? []
        : write.op === 'replaceToolCallGroup'
          ? write.ids
          : [write.ids[0] ?? write.id];
    for (const [i, id] of [...old, ...ids].entries()) {
      if (this.#made.has(`${write.kind} ${id}`)) continue;
      // Storing an instruction that is there changes nothing.
      if (write.kind === 'standingInstruction' && i >= old.length) continue;
      const changed = yield* this.#changed(kindNumber(write.kind), id);
      // That a session was deleted is known to nobody.
      const clear =
        changed === undefined
          ? i >= old.length || (this.#seen! >= 0 && (yield* this.#knows(this.#settled)))
          : yield* this.#knows(changed);
      if (!clear) {
        throw sessionError('E_SESSION_CONFLICT', { session: this.#id, kind: write.kind, id });
      }
    }
    for (const id of [...old, ...ids]) this.#made.add(`${write.kind} ${id}`);
  }

  /** The revision that wrote a record last. */
  *#changed(kind: number, id: string): Step<number | undefined> {
    if (kind !== INSTRUCTIONS) return (yield* this.#find(kind, id))?.changed;
    return (yield* this.#texts()).find(({ text }) => text === id)?.row.changed;
  }

  *#find(kind: number, id: string): Step<RecordRow | undefined> {
    const row = yield* findRecord(this.#tables, this.#row, kind, id);
    if (row !== undefined) checkRecord(this.#id, row);
    return row;
  }

  /** Adds a record, or puts it in the place of the one with its id. */
  *#put(kind: number, write: Row): Step<void> {
    const there = yield* this.#find(kind, write.id);
    if (there !== undefined) yield* this.#change(there, write);
    else yield* this.#insert(kind, write.id, write, yield* this.#behind(kind));
  }

  /** The place behind all records of a kind. */
  *#behind(kind: number): Step<number> {
    const place = (yield* this.#last(kind)) + SPACING;
    this.#places.set(kind, place);
    return place;
  }

  *#last(kind: number): Step<number> {
    const known = this.#places.get(kind);
    if (known !== undefined) return known;
    const place = yield* lastPlace(this.#tables, this.#row, kind);
    // A place that is not a number comes from a damaged row: reading it fails with what is wrong.
    if (!Number.isSafeInteger(place)) yield* this.#ofKind(kind);
    return place;
  }

  /** Sees to it that no other session shares a record that is to change. */
  *#own(record: RecordRow): Step<void> {
    if (isShared(this.#row, record)) yield* ownRecords(this.#tables, this.#row);
    if (record.added >= this.#free) return;
    yield* freeForks(this.#tables, this.#row, record.added);
    this.#free = record.added;
  }

  /** Writes a record in the place of a row. */
  *#change(there: RecordRow, write: Row): Step<void> {
    yield* this.#own(there);
    const row = { ...there, changed: this.#at, body: write.body!, sum: 0 };
    row.sum = recordSum(row);
    this.#count(row.sum - there.sum);
    this.#row.settled = this.#at;
    yield* ask(this.#tables.setRecord(this.#row.number, row));
    yield* ask(this.#tables.dropRefs(this.#row.number, row.kind, row.id));
    yield* this.#note(row, write);
  }

  *#insert(kind: number, id: string, write: Row, place: number): Step<void> {
    const at = this.#at;
    const row = { kind, id, place, added: at, changed: at, body: write.body!, sum: 0 };
    row.sum = recordSum(row);
    this.#count(row.sum);
    this.#row.records++;
    if (kind === MESSAGES) this.#row.messages++;
    yield* ask(this.#tables.addRecord(this.#row.number, row));
    yield* this.#note(row, write);
  }

  /** Keeps what a written record refers to and how far the time has come. */
  *#note({ kind, id }: RecordRow, { bytes, at }: Row): Step<void> {
    const session = this.#row.number;
    for (const each of bytes) {
      if (!this.#sure.has(each)) {
        const found = yield* ask(this.#tables.findBytes(session, each));
        if (found === undefined) {
          throw sessionError('E_BYTES_NOT_FOUND', { session: this.#id, id: each });
        }
        if (found.sum !== bytesSum(found)) {
          throw invalidRecord(this.#id, { kind, id }, `the checksum of its bytes ${each} is wrong`);
        }
        this.#sure.add(each);
      }
      yield* ask(this.#tables.addRef(session, kind, id, each));
    }
    if (at !== undefined && at > (this.#row.newest ?? -Infinity)) this.#row.newest = at;
  }

  *#remove(kind: number, id: string): Step<RecordRow | undefined> {
    const there = yield* this.#find(kind, id);
    if (there !== undefined) yield* this.#drop(there);
    return there;
  }

  *#drop(record: RecordRow): Step<void> {
    yield* this.#own(record);
    const { kind, id, sum } = record;
    this.#count(-sum);
    this.#row.records--;
    if (kind === MESSAGES) this.#row.messages--;
    this.#row.settled = this.#at;
    this.#places.delete(kind);
    yield* ask(this.#tables.dropRecord(this.#row.number, kind, id));
    yield* ask(this.#tables.dropRefs(this.#row.number, kind, id));
  }

  #count(sum: number): void {
    this.#row.digest = (this.#row.digest + sum) >>> 0;
  }

  /** Does a write of an instruction: instructions are a set of texts. */
  *#instruct(write: Row, ordinal: number): Step<void> {
    const texts = yield* this.#texts();
    const find = (wanted: string): RecordRow | undefined =>
      texts.find(({ text }) => text === wanted)?.row;
    const old = find(write.ids[0] ?? write.id);
    if (write.op === 'delete') {
      if (old !== undefined) yield* this.#drop(old);
      return;
    }
    const same = find(write.id);
    if (write.op === 'mutate' && old !== undefined && old !== same) {
      if (same !== undefined) yield* this.#drop(same);
      yield* this.#change(old, write);
      return;
    }
    if (same !== undefined) return;
    const place = yield* this.#behind(INSTRUCTIONS);
    yield* this.#insert(INSTRUCTIONS, `${this.#at}.${ordinal}`, write, place);
  }

  *#texts(): Step<{ row: RecordRow; text: string }[]> {
    const rows = yield* this.#ofKind(INSTRUCTIONS);
    return rows.map((row) => ({ row, text: textOf(this.#id, row) }));
  }

  /** The rows of a kind in their order. */
  *#ofKind(kind: number): Step<RecordRow[]> {
    const rows = yield* recordsOfKind(this.#tables, this.#row, kind);
    for (const row of rows) checkRecord(this.#id, row);
    return rows;
  }

  /** Puts tool calls where the first of those that they replace was. */
  *#replace(kind: number, write: Row): Step<void> {
    let first = Infinity;
    for (const id of write.ids) {
      const gone = yield* this.#remove(kind, id);
      if (gone !== undefined) first = Math.min(first, gone.place);
    }
    if (first === Infinity) {
      for (const each of write.group) yield* this.#put(kind, each);
      return;
    }
    // Of records with one id the last, in the place of the first.
    const fresh = [...new Map(write.group.map((each) => [each.id, each])).values()];
    for (const { id } of fresh) yield* this.#remove(kind, id);
    this.#row.settled = this.#at;
    const places = yield* this.#between(kind, first, fresh.length);
    for (const [i, each] of fresh.entries()) {
      yield* this.#insert(kind, each.id, each, places[i]!);
    }
    this.#places.delete(kind);
  }

  /** Free places from one on, in order and before the next record of the kind. */
  *#between(kind: number, first: number, count: number): Step<number[]> {
    if (count === 0) return [];
    this.#places.delete(kind);
    const last = yield* this.#last(kind);
    let step = SPACING;
    let from = first;
    if (first > last) from = last + SPACING;
    else {
      const next = yield* ask(this.#tables.placeAfter(this.#row.number, kind, first));
      if (next !== undefined && next - first < count) {
        from = yield* this.#layOut(kind, first, count);
      } else if (next !== undefined) step = Math.floor((next - first) / count);
    }
    return Array.from({ length: count }, (_, i) => from + i * step);
  }

  /** Lays out all records of a kind anew, with room from a place on, and returns the first place of the room. */
  *#layOut(kind: number, from: number, count: number): Step<number> {
    const rows = yield* this.#ofKind(kind);
    for (const each of rows) yield* this.#own(each);
    let place = SPACING;
    let first = 0;
    for (const there of rows) {
      if (first === 0 && there.place >= from) {
        first = place;
        place += count * SPACING;
      }
      const row = { ...there, place, sum: 0 };
      row.sum = recordSum(row);
      this.#count(row.sum - there.sum);
      yield* ask(this.#tables.moveRecord(this.#row.number, row));
      place += SPACING;
    }
    return first;
  }
}

/** @throws TurncoreError E_STORED_RECORD_INVALID for a row with a wrong checksum */
export function checkRecord(session: string, row: RecordRow): void {
  if (row.sum !== recordSum(row)) throw invalidRecord(session, row, 'its checksum is wrong');
}

/**
 * The record of a row.
 *
 * @throws TurncoreError E_STORED_RECORD_INVALID that names session, kind and id
 */
export function readRecord(session: string, row: RecordRow, options: ReadOptions = {}): Entry {
  if (!(row.kind in RECORDS)) throw invalidRecord(session, row, 'it is no kind of record');
  let record: Entry;
  try {
    record = decodeRecord(RECORDS[row.kind]!, row.body, options);
  } catch (error) {
    // The name of the record stands in front already.
    const text = messageOf(error);
    throw invalidRecord(session, row, text.slice(text.indexOf(': ') + 2), error);
  }
  const id = idOf(record);
  if (row.kind !== INSTRUCTIONS && id !== row.id) {
    throw invalidRecord(session, row, `its body is that of ${JSON.stringify(id)}`);
  }
  return record;
}

/** The text of an instruction's row. */
function textOf(session: string, row: RecordRow): string {
  return idOf(readRecord(session, row));
}
