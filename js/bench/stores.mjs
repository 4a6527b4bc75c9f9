/**
 * Measures the stores of the npm package on node:sqlite, which needs Node 22.13, and on IndexedDB in Chromium: prints
 * rows of a table in Markdown.
 *
 *   node js/bench/stores.mjs [quick]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as turncore from 'turncore';
import { sqliteStore } from 'turncore/stores/sqlite';
import { launchChromium } from '../test/browser/chromium.mjs';
import { startPackageServer } from '../test/browser/package-server.mjs';
import { committing, full, measureStore, quick } from './store.mjs';

const size = process.argv[2] === 'quick' ? quick : full;
await onSqlite();
await onIndexedDB();

async function onSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'turncore-bench-'));
  const store = sqliteStore(join(folder, 'bench.db'));
  try {
    const add = committing(turncore, store);
    const rows = await measureStore('SQLite in Node', turncore, store, size, add);
    console.log(rows.join('\n'));
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

async function onIndexedDB() {
  const server = await startPackageServer({
    folders: { bench: new URL('./', import.meta.url) },
  });
  const browser = await launchChromium({ optimized: true });
  try {
    const page = await browser.newPage();
    await page.goto(`${server.address}/`);
    console.log((await page.evaluate(inPage, size)).join('\n'));
  } finally {
    await browser.close();
    server.stop();
  }
}

async function inPage(size) {
  const turncore = await import('/package/turncore.min.js');
  const { indexedDBStore } = await import('/package/stores/indexeddb.min.js');
  const { sessionSum } = await import('/package/stores/tables.js');
  const { committing, measureStore } = await import('/bench/store.mjs');
  const store = indexedDBStore('bench');
  const answer = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  /** Rows as commits make them, in one transaction: a hundred thousand of them would take minutes. */
  const add = async (from, to) => {
    await committing(turncore, store)(from, from + 1);
    const db = await answer(globalThis.indexedDB.open('bench'));
    const tx = db.transaction('sessions', 'readwrite');
    const done = new Promise((resolve, reject) => {
      tx.oncomplete = resolve;
      tx.onabort = () => reject(tx.error);
    });
    const sessions = tx.objectStore('sessions');
    const row = await answer(sessions.index('id').get(`session ${from}`));
    delete row.number;
    let last;
    for (let n = from + 1; n < to; n++) {
      const revision = row.revision + n;
      const next = { ...row, id: `session ${n}`, revision, created: revision, behind: -revision };
      next.sum = sessionSum(next);
      last = sessions.add(next);
      if (n % 1000 === 0) await answer(last);
    }
    await done;
    db.close();
  };
  return measureStore('IndexedDB in Chromium', turncore, store, size, add);
}
