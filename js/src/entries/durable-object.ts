/**
 * Conversations in the SQLite of a Durable Object: they outlive its eviction.
 *
 * @packageDocumentation
 */
export { durableObjectStore, type ObjectStorage } from '../stores/durable-object.js';
export type { DatabaseStore } from '../stores/table-store.js';
