// Keeps conversations in the browser's database.
import { memoryStore } from '/turncore/turncore.min.js';
import { exportConversation, importConversation } from '/turncore/records.min.js';
import { indexedDBStore } from '/turncore/stores/indexeddb.min.js';

/**
 * The store of the page's conversations. Where a browser keeps nothing for pages, such as in some private windows,
 * conversations last as long as the page.
 */
export async function openStore() {
  const store = indexedDBStore('turncore-demo');
  try {
    await store.list({ limit: 1 });
    // A browser that is short of space spares what it was asked to keep.
    navigator.storage?.persist?.();
    return store;
  } catch (error) {
    console.info(`Conversations are not kept: ${error.message}`);
    return memoryStore();
  }
}

/** Conversations as documents, which the command and other hosts read too. */
export const exchange = {
  write: (store, id) => exportConversation(store, id),
  read: (store, document, id) => importConversation(store, document, id),
};
