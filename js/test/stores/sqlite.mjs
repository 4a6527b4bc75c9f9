// The suite of stores on SQLite files, in a Node that has SQLite; and files that are damaged, locked or of a later
// version. Prints how many tests passed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { dist } from '../smoke/package-folder.mjs';

const { sqliteStore } = await import(new URL('entries/sqlite.js', dist));
const { sessionTests } = await import(new URL('entries/sessionstest.js', dist));
const { storeTests } = await import(new URL('entries/storetest.js', dist));
const { Message } = await import(new URL('index.js', dist));

const folder = mkdtempSync(join(tmpdir(), 'turncore-sqlite-'));
const paths = new WeakMap();
let files = 0;
let passed = 0;

function open(path = join(folder, `${++files}.db`), options) {
  const store = sqliteStore(path, options);
  paths.set(store, path);
  return store;
}

async function test(name, run) {
  try {
    await run();
    passed++;
  } catch (error) {
    console.error(`${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}

const deltas = [
  {
    op: 'store',
    kind: 'message',
    record: new Message({ id: 'm', role: 'user', content: 'x', createdAt: 1, updatedAt: 1 }),
  },
];

/** A file with a session and bytes. */
async function written() {
  const store = open();
  await store.putBytes('s', 'x', 'bytes');
  await store.commit('s', { deltas, key: 'k', turn: 't' });
  await store.close();
  return paths.get(store);
}

try {
  const maker = {
    open: () => open(),
    again: (store) => open(paths.get(store)),
    close: (store) => store.close(),
  };
  for (const { name, run } of await storeTests(maker)) await test(name, run);
  for (const { name, run } of sessionTests(maker)) await test(`sessions: ${name}`, run);

  await test('a file of a later version is refused', async () => {
    const path = await written();
    new DatabaseSync(path).exec("UPDATE turncore_meta SET value = 99 WHERE name = 'schema'");
    assert.throws(() => open(path), { code: 'E_STORE_VERSION' });
    new DatabaseSync(path).exec('DELETE FROM turncore_meta');
    assert.throws(() => open(path), { code: 'E_STORE_VERSION' });
  });

  await test('a file of another kind is refused', () => {
    const path = join(folder, 'text.db');
    writeFileSync(path, 'this is a text and no database '.repeat(100));
    assert.throws(() => open(path), {
      code: 'E_STORE_FAILED',
      message: /its file is no SQLite database/,
    });
    assert.throws(() => open(join(folder, 'no', 'folder.db')), { code: 'E_STORE_FAILED' });
  });

  await test('a locked file fails, and stores nothing', async () => {
    const path = await written();
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const store = open(path, { busyTimeout: 20 });
    const commit = store.commit('s', { deltas: [{ op: 'delete', kind: 'message', id: 'm' }] });
    await assert.rejects(commit, { code: 'E_STORE_FAILED', message: /session "s": .*locked/ });
    other.exec('ROLLBACK');
    assert.equal((await store.load('s')).messages.length, 1);
    await store.close();
    await assert.rejects(store.load('s'), { code: 'E_STORE_FAILED', message: /it is closed/ });
  });

  await test('a full file fails, and stores nothing', async () => {
    const path = await written();
    const store = open(path);
    const full = new DatabaseSync(path);
    full.exec(
      `CREATE TRIGGER full BEFORE INSERT ON turncore_parts BEGIN SELECT RAISE(ABORT, 'no'); END`,
    );
    await assert.rejects(store.putBytes('s', 'y', 'more'), { code: 'E_STORE_FAILED' });
    await assert.rejects(store.openBytes('s', 'y'), { code: 'E_BYTES_NOT_FOUND' });
    await store.close();
  });

  for (const [what, change, call] of [
    ['session', 'UPDATE turncore_sessions SET settled = settled + 1', (s) => s.load('s')],
    ['record', "UPDATE turncore_records SET body = replace(body, 'x', 'y')", (s) => s.load('s')],
    ['missing record', 'DELETE FROM turncore_records', (s) => s.load('s')],
    [
      'key',
      "UPDATE turncore_keys SET key = CAST('l' AS BLOB)",
      (s) => s.commit('s', { deltas, key: 'k', turn: 't' }),
    ],
    ['bytes', 'UPDATE turncore_bytes SET size = 4', (s) => s.openBytes('s', 'x')],
    [
      'part',
      "UPDATE turncore_parts SET data = CAST('bytez' AS BLOB)",
      async (s) => (await s.openBytes('s', 'x')).readAll(),
    ],
  ]) {
    await test(`a changed ${what} is told`, async () => {
      const path = await written();
      new DatabaseSync(path).exec(change);
      const store = open(path);
      await assert.rejects(async () => call(store), {
        code: 'E_STORED_RECORD_INVALID',
        message: /session "s"/,
      });
      await store.close();
    });
  }

  await test('commits that wait share a transaction', async () => {
    const store = open();
    const file = new DatabaseSync(paths.get(store));
    const version = () => file.prepare('PRAGMA data_version').get().data_version;
    version();
    const before = version();
    await Promise.all(Array.from({ length: 64 }, (_, i) => store.commit(`s${i}`, { deltas })));
    assert.ok(version() - before <= 2, `${version() - before} transactions`);
    await store.close();
  });
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`SQLite in Node: ${passed} passed`);
