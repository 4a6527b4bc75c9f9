/**
 * Stores that keep the journals of turns.
 */
import type { Awaitable } from '../awaitable.js';
import type { Store } from './store.js';

/**
 * A {@link Store} that keeps the journals of turns. A store without it serves, but its turns do not resume.
 *
 * A journal belongs to a run of a turn, as a `Commit` names it in `turn`, and has entries, which are counted from 0.
 * Its epoch says who writes it: a process that goes on with a turn appends under a higher epoch, and from then on the
 * store refuses with E_TURN_FENCED what others do under an older one.
 */
export interface Journal extends Store {
  /** Adds entries behind those of a turn's journal, all or none. */
  appendJournal(turn: string, append: JournalAppend): Awaitable<void>;
  /** The journal of a turn from an entry on; undefined if there is none. @param from default: the first that is left */
  readJournal(turn: string, from?: number): Awaitable<JournalPart | undefined>;
  /**
   * Puts a checkpoint in the place of all entries before one, and of the checkpoint before. It does nothing if the
   * entries are gone already.
   *
   * @throws TurncoreError E_TURN_FENCED if the journal has another epoch or is not there
   */
  compactJournal(turn: string, compaction: JournalCompaction): Awaitable<void>;
  /**
   * Deletes the journal of a turn. One that is not there is no error.
   *
   * @throws TurncoreError E_TURN_FENCED if the journal has a later epoch
   */
  deleteJournal(turn: string, epoch: number): Awaitable<void>;
}

/**
 * What one transaction adds to a journal.
 *
 * It fails with E_TURN_FENCED, and nothing is stored, if `epoch` is earlier than the journal's, or if `at` is not where
 * its entries end. A journal that is not there ends at 0. There is one exception, for a writer that got no answer: if
 * the journal has the same epoch and ends with the same entries from `at` on, the append is done already.
 *
 * So two that go on with a turn from the same place under the same epoch are kept apart if their first entries differ:
 * the first entry of an epoch names its writer.
 */
export interface JournalAppend {
  /** Is positive. */
  readonly epoch: number;
  /** The number of the first entry. */
  readonly at: number;
  /** At least one, in a form that the store does not look into. */
  readonly entries: readonly Uint8Array[];
}

/** What stands in the place of a journal's first entries. */
export interface JournalCompaction {
  /** The journal's. */
  readonly epoch: number;
  /** The number of the first entry that stays. */
  readonly before: number;
  readonly checkpoint: Uint8Array;
}

/** What a journal has. */
export interface JournalPart {
  readonly epoch: number;
  /** Stands for the entries that were compacted; absent if none were. */
  readonly checkpoint?: Uint8Array;
  /** The number of the first of `entries`: the one that was asked for, or the first that is left. */
  readonly first: number;
  readonly entries: readonly Uint8Array[];
}
