// The suite of stores on IndexedDB, in a page.
import { indexedDBStore } from 'turncore/stores/indexeddb';
import { storeTests } from 'turncore/storetest';

const names = new WeakMap();
let databases = 0;

function open(name = `test-${++databases}`) {
  const store = indexedDBStore(name);
  names.set(store, name);
  return store;
}

const maker = {
  open: () => open(),
  again: (store) => open(names.get(store)),
  close: (store) => store.close(),
};

/** Runs the suite. @returns for each test its name, and what is wrong */
globalThis.runSuite = async () => {
  const results = [];
  for (const { name, run } of await storeTests(maker)) {
    const wrong = await run().then(
      () => undefined,
      (error) => `${error?.stack ?? error}`,
    );
    results.push({ name, wrong });
  }
  return results;
};

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
