// What the tests of databases share: a file, records, and what is wrong with rows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export const turncore = await import('../../build/src/index.js');
export const records = await import('../../build/src/entries/records.js');
export const { openSqlite } = await import('../../build/src/stores/sqlite.js');
export const { SCHEMA } = await import('../../build/src/stores/sql.gen.js');

/** When records are made. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** A new database: `open` opens its store, `raw` runs statements on its tables. Both end with the test. */
export function database(t, name = 'a b?%.db') {
  const folder = mkdtempSync(join(tmpdir(), 'turncore-sqlite-'));
  const path = join(folder, name);
  const stores = [];
  let connection;
  t.after(async () => {
    for (const store of stores) await store.close();
    connection?.close();
    rmSync(folder, { recursive: true });
  });
  return {
    path,
    open(options = {}, more = {}) {
      const store = openSqlite(path, options, more);
      stores.push(store);
      return store;
    },
    raw(text, ...values) {
      connection ??= new DatabaseSync(path, { timeout: 5000 });
      const statement = connection.prepare(text);
      statement.setReadBigInts(true);
      return statement.all(...values).map((row) => Object.values(row));
    },
  };
}

/** The write of a message. */
export function said(id, content = 'text', op = 'store') {
  const record = new turncore.Message({
    id,
    role: 'user',
    content,
    createdAt: NOON,
    updatedAt: NOON,
  });
  return { op, kind: 'message', record };
}

/** The write of an instruction. */
export function instructed(text) {
  return { op: 'store', kind: 'standingInstruction', record: new turncore.Tokenizable(text) };
}

/** A tool call. */
export function called(id, results) {
  return new turncore.ToolCall({
    id,
    tool: 'tool',
    args: {},
    checksum: turncore.toolCallChecksum('tool', {}),
    results,
    isError: false,
    isComplete: true,
    createdAt: NOON,
    updatedAt: NOON,
    completedAt: NOON,
  });
}

/** The write of a tool call whose result a reader has. */
export function spooled(id, text) {
  const reader = new turncore.MemoryReader(text);
  return {
    op: 'store',
    kind: 'toolCall',
    record: called(id, new turncore.SpooledArtifact(reader)),
  };
}

/** The error of a call. */
export async function failureOf(run) {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing failed');
}

/** The text of bytes. */
export async function textOf(store, session, id) {
  return (await store.openBytes(session, id)).readAll();
}
