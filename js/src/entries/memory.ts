/**
 * A store in memory with all that stores can do: `memoryStore` of `turncore` keeps conversations, this one also events,
 * state, artifacts and journals.
 *
 * @packageDocumentation
 */
export { type FullMemoryStore, fullMemoryStore } from '../stores/memory.js';
