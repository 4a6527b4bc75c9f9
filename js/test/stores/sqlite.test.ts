/**
 * The suite of stores on SQLite files, and what becomes of files that are no stores.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';

import { bytesOf, exportConversation, importConversation } from '../../src/entries/records.js';
import { type DatabaseStore, sqliteStore } from '../../src/entries/sqlite.js';
import { storeTests } from '../../src/entries/storetest.js';
import { Retrievable, SpooledArtifact } from '../../src/index.js';
import { root } from '../instance/go-guest.js';

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

    it('knows the bytes that it has opened as its own', async () => {
      const store = open();
      await store.putBytes('s', 'b1', 'one\ntwo');
      const artifact = new SpooledArtifact(await store.openBytes('s', 'b1'));
      const times = { createdAt: 1, updatedAt: 1 };
      const parts = { id: 'd', trustTier: 'first-party', content: artifact } as const;
      const record = new Retrievable({ ...parts, ...times });
      await store.commit('s', { deltas: [{ op: 'store', kind: 'retrievable', record }] });
      const [loaded] = (await store.load('s')).retrievables;
      assert.deepEqual(bytesOf(loaded!), ['b1']);
      assert.equal(await loaded!.contentString(), 'one\ntwo');
    });

    it('exports a conversation as it was imported', async () => {
      const file = new URL('abi/testdata/records/conversation.json', root);
      const date = /^ {2}"createdAt": .*$/m; // of the session: the database's clock
      const text = readFileSync(file, 'utf8');
      const store = open();
      await importConversation(store, text);
      const exported = await exportConversation(store, 'tea');
      assert.equal(exported.replace(date, ''), text.replace(date, ''));
    });
  });
}
