// The suite of stores on IndexedDB, in a page.
import { indexedDBStore } from 'turncore/stores/indexeddb';
import { Host } from 'turncore';
import { sessionTests } from 'turncore/sessionstest';
import { storeTests } from 'turncore/storetest';

import { calls, runCases } from './indexeddb-cases.mjs';

Object.assign(globalThis, { calls, runCases });

const names = new WeakMap();
let databases = 0;

function open(name = `test-${++databases}-${typeof document}`, { opfs } = {}) {
  const options = { opfs };
  const store = indexedDBStore(name, options);
  names.set(store, [name, options]);
  return store;
}

const makerOf = (options) => ({
  open: () => open(undefined, options),
  again: (store) => open(...names.get(store)),
  close: (store) => store.close(),
  ...options,
});

/**
 * Runs the suite.
 * @param options of the store, and of the suite
 * @returns for each test its name, and what is wrong
 */
globalThis.runSuite = async (options) => resultsOf(await storeTests(makerOf(options)));

/** Runs the suite of sessions, as runSuite does that of stores. */
globalThis.runSessions = (options) => {
  const host = new Host({ module: new URL('/package/turncore-full.wasm', location.href) });
  return resultsOf(sessionTests({ ...makerOf(options), host }));
};

async function resultsOf(tests) {
  const results = [];
  for (const { name, run } of tests) {
    const wrong = await run().then(
      () => undefined,
      (error) => `${error}\n${error?.stack}`, // the stack alone has no message in Firefox
    );
    results.push({ name, wrong });
  }
  return results;
}

/** How many files there are in the origin private file system, of all databases. */
globalThis.countFiles = async () => {
  let count = 0;
  const visit = async (folder) => {
    for await (const each of folder.values()) {
      if (each.kind === 'directory') await visit(each);
      else count++;
    }
  };
  await visit(await navigator.storage.getDirectory());
  return count;
};

/** Calls a function of this module in a worker. */
globalThis.inWorker = (name, ...args) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.url, { type: 'module' });
    worker.onmessage = ({ data }) => {
      worker.terminate();
      if (data.error === undefined) resolve(data.value);
      else reject(new Error(data.error));
    };
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ name, args });
  });
if (typeof document === 'undefined') {
  globalThis.onmessage = async ({ data: { name, args } }) => {
    try {
      postMessage({ value: await globalThis[name](...args) });
    } catch (error) {
      postMessage({ error: `${error}\n${error?.stack}` });
    }
  };
}

const code = (call) =>
  Promise.resolve(call).then(
    () => 'none',
    (error) => error.code,
  );

/** What becomes of a database of a later version, of one that was deleted, and of a closed store. */
globalThis.runFaults = async () => {
  const later = globalThis.indexedDB.open('later', 99);
  await new Promise((resolve) => (later.onsuccess = resolve));
  later.result.close();
  const tables = globalThis.indexedDB.open('others', 1);
  await new Promise((resolve) => (tables.onsuccess = resolve));
  tables.result.close();
  const gone = open('gone');
  await gone.setTitle('s', '').catch(() => undefined);
  await gone.commit('s', { deltas: [] });
  await gone.putBytes('s', 'x', 'y');
  const deleted = globalThis.indexedDB.deleteDatabase('gone');
  await new Promise((resolve) => (deleted.onsuccess = resolve));
  const closed = open('closed');
  await closed.load('s');
  closed.close();
  return {
    later: await code(open('later').load('s')),
    others: await code(open('others').load('s')),
    deleted: (await gone.list()).sessions.length,
    closed: await code(closed.load('s')),
  };
};
