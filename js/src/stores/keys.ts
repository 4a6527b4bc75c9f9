/**
 * The keys of commits and appends in a transaction of a database.
 */
import type { Commit } from '../store/store.js';
import { invalidSession } from './faults.js';
import { sessionOf, setSession } from './session-rows.js';
import { ask, keySum, type KeyRow, type SessionRow, type Step, type Tables } from './tables.js';

/** What a commit or an append says of who writes. */
export type Writing = Pick<Commit, 'key' | 'turn' | 'ended' | 'revision' | 'epoch'>;

/** The keys of a session, as a writer sees them. */
export class Keys {
  readonly #tables: Tables;
  readonly #row: SessionRow;
  readonly #turn: string;
  readonly #key: string;
  readonly #ended: readonly string[];
  readonly #own = new Map<number, boolean>();

  constructor(tables: Tables, row: SessionRow, { key = '', turn = '', ended = [] }: Writing) {
    this.#tables = tables;
    this.#row = row;
    this.#turn = turn;
    this.#key = key;
    this.#ended = ended;
  }

  /** Forgets the keys of turns that have ended. Returns whether the session's row is to be written. */
  *forget(): Step<boolean> {
    const row = this.#row;
    const before = row.keys;
    for (const turn of row.keys === 0 ? [] : this.#ended) {
      row.keys -= yield* ask(this.#tables.dropKeysOfTurn(row.number, turn));
    }
    if (row.keys < 0) {
      throw invalidSession(row.id, `it has ${before - row.keys} keys, not ${before}`);
    }
    return row.keys !== before;
  }

  /** The revision that is remembered under the writer's key. */
  *find(): Step<number | undefined> {
    const row = this.#row;
    if (row.keys === 0 || this.#key === '') return undefined;
    const found = yield* ask(this.#tables.findKey(row.number, this.#key));
    if (found !== undefined) return this.#checked(found).revision;
    // One that is not found may be damaged.
    const last = yield* ask(this.#tables.lastKey(row.number, this.#turn));
    if (last !== undefined) this.#checked(last);
    else {
      const count = yield* ask(this.#tables.countKeys(row.number));
      if (count !== row.keys) {
        throw invalidSession(row.id, `it has ${count} keys, not ${row.keys}`);
      }
    }
    return undefined;
  }

  /** Remembers the session's revision under the writer's key. Returns whether the session's row is to be written. */
  *add(): Step<boolean> {
    if (this.#key === '') return false;
    const row = this.#row;
    const added = { key: this.#key, turn: this.#turn, revision: row.revision, sum: 0 };
    added.sum = keySum(added);
    yield* ask(this.#tables.addKey(row.number, added));
    row.keys++;
    return true;
  }

  /** Whether a commit or an append of the writer's turn returned a revision. */
  *isOwn(revision: number): Step<boolean> {
    if (this.#turn === '') return false;
    let own = this.#own.get(revision);
    if (own === undefined) {
      const key = yield* ask(this.#tables.keyOfRevision(this.#row.number, this.#turn, revision));
      own = key !== undefined && this.#checked(key).revision === revision;
      this.#own.set(revision, own);
    }
    return own;
  }

  /** @throws TurncoreError E_STORED_RECORD_INVALID for a row with a wrong checksum */
  #checked(key: KeyRow): KeyRow {
    if (key.sum === keySum(key)) return key;
    const why = `the checksum of its key ${JSON.stringify(key.key)} is wrong`;
    throw invalidSession(this.#row.id, why);
  }
}

/**
 * Forgets the keys of a session's turns that wrote last before a revision and cannot be gone on with: their processes
 * have ended without a word.
 */
export function* forgetOldKeys(tables: Tables, id: string, before: number): Step<void> {
  const row = yield* sessionOf(tables, id);
  if (row === undefined) return;
  const ended = yield* ask(tables.turnsWithOldKeys(row.number, before));
  if (yield* new Keys(tables, row, { ended }).forget()) yield* setSession(tables, row);
}
