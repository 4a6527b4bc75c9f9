/**
 * Journals of turns, and their replay: a turn runs again from its journal, without its host, and every frame is
 * compared.
 *
 * @packageDocumentation
 */
export type { JournalHeader } from '../journal/format.js';
export { type JournalSink, MemoryJournal } from '../journal/writer.js';
export { replay, type ReplayDifference, type ReplayReport } from '../journal/replay.js';
