/**
 * Conversations in a browser's IndexedDB, which pages and workers of an origin share.
 *
 * @packageDocumentation
 */
export { indexedDBStore, type IndexedDBOptions } from '../stores/indexeddb.js';
export type { DatabaseStore } from '../stores/table-store.js';
