/**
 * Conversations in an SQLite file, by `node:sqlite`. Go opens the same files.
 *
 * @packageDocumentation
 */
export { type SqliteOptions, sqliteStore } from '../stores/sqlite.js';
export type { DatabaseStore } from '../stores/table-store.js';
