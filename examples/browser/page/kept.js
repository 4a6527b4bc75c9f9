// Keeps conversations in the browser's database.
import { exportConversation, importConversation } from '/turncore/records.min.js';
import { indexedDBStore } from '/turncore/stores/indexeddb.min.js';
import { fullMemoryStore } from '/turncore/stores/memory.min.js';

/**
 * The store of a page's conversations or sessions. Where a browser keeps nothing for pages, such as in some private
 * windows, they last as long as the page.
 */
export async function openStore(name) {
  const store = indexedDBStore(name);
  try {
    await store.list({ limit: 1 });
    // A browser that is short of space spares what it was asked to keep.
    navigator.storage?.persist?.();
    return store;
  } catch (error) {
    console.info(`Conversations are not kept: ${error.message}`);
    return fullMemoryStore();
  }
}

/** Conversations as documents, which the command and other hosts read too. */
export const exchange = {
  write: (store, id) => exportConversation(store, id),
  read: (store, document, id) => importConversation(store, document, id),
};
