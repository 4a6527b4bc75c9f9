/**
 * The suite of stores on SQLite files, and what becomes of files that are no stores.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';

import { type DatabaseStore, sqliteStore } from '../../src/entries/sqlite.js';
import { storeTests } from '../../src/entries/storetest.js';

const folder = mkdtempSync(join(tmpdir(), 'turncore-sqlite-'));
after(() => rmSync(folder, { recursive: true }));

/** Node has SQLite since 22.13. Before, its absence is told. */
const there = process.getBuiltinModule('node:sqlite') !== undefined;

const paths = new WeakMap<object, string>();
let files = 0;

function open(path = join(folder, `${++files}.db`)): DatabaseStore {
  const store = sqliteStore(path);
  paths.set(store, path);
  return store;
}

if (!there) {
  describe('a store in SQLite', () => {
    it('is refused by a Node that has none', () => {
      assert.throws(() => sqliteStore('x.db'), { code: 'E_STORE_FAILED' });
    });
  });
} else {
  describe('a store in SQLite', async () => {
    for (const { name, run } of await storeTests({
      open: () => open(),
      again: (store) => open(paths.get(store)),
      close: (store) => (store as Partial<DatabaseStore>).close?.(),
    })) {
      it(name, run);
    }
  });
}
