// The store in SQLite files: what the published suite of stores cannot see, such as the rows.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import { compareWithMemory } from './model.mjs';
import {
  called,
  database,
  failureOf,
  instructed,
  NOON,
  openSqlite,
  records,
  said,
  SCHEMA,
  spooled,
  textOf,
  turncore,
} from './setup.mjs';

const MiB = 1 << 20;
const HOUR = 3_600_000;

describe('a store in SQLite', () => {
  for (const seed of [0, 1, 2, 3]) {
    it(`does what one in memory does, with seed ${seed}`, async (t) => {
      const store = database(t).open();
      const counts = await compareWithMemory({ turncore, records, store, seed, rounds: 300 });
      for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, what);
    });
  }

  it('lays places out anew when they run out', async (t) => {
    const store = database(t).open();
    const memory = turncore.memoryStore();
    const write = async (delta) => {
      for (const each of [store, memory]) await each.commit('s', { deltas: [delta] });
    };
    for (const id of ['0', 'behind']) {
      await write({ op: 'store', kind: 'toolCall', record: called(id, id) });
    }
    for (let n = 0; n < 50; n++) {
      const group = [called(`${n} is done`, 'x'), called(String(n + 1), 'x')];
      await write({
        op: 'replaceToolCallGroup',
        kind: 'toolCall',
        ids: [String(n)],
        records: group,
      });
    }
    const ids = async (of) => (await of.load('s')).toolCalls.map(({ id }) => id);
    assert.deepEqual(await ids(store), await ids(memory));
    assert.equal((await ids(store)).length, 52);
  });

  it('writes what is committed at once in few transactions', async (t) => {
    const store = database(t).open();
    const before = store.transactions;
    await Promise.all(
      Array.from({ length: 64 }, (_, i) => store.commit(`s${i}`, { deltas: [said('m')] })),
    );
    assert.ok(store.transactions - before <= 2, `${store.transactions - before} transactions`);
    assert.equal((await store.list({ limit: 100 })).sessions.length, 64);
  });

  it('lets each of those fail by itself', async (t) => {
    const store = database(t).open();
    const revision = await store.commit('s', { deltas: [said('m', 'first')] });
    await store.commit('s', { deltas: [said('m', 'second', 'mutate')] });
    const results = await Promise.allSettled(
      Array.from({ length: 64 }, (_, n) => {
        const deltas = [said(String(n))];
        if (n % 2 === 0) deltas.push(said('m', 'third'));
        return store.commit('s', { deltas, revision });
      }),
    );
    results.forEach(({ reason }, n) =>
      assert.equal(reason?.code, n % 2 === 0 ? 'E_SESSION_CONFLICT' : undefined, `commit ${n}`),
    );
    const { messages } = await store.load('s');
    assert.equal(messages.length, 33);
    assert.equal(String(messages[0].content), 'second');
  });

  it('serves two at once, under keys that both use', async (t) => {
    const file = database(t);
    const stores = [file.open(), file.open()];
    const all = [];
    for (let w = 0; w < 8; w++) {
      for (let n = 0; n < 25; n++) {
        const id = `${w >> 1}.${n}`;
        all.push(stores[w % 2].commit('s', { deltas: [said(id)], key: `key ${id}`, turn: 't' }));
      }
    }
    await Promise.all(all);
    for (const store of stores) assert.equal((await store.load('s')).messages.length, 100);
    assert.deepEqual(file.raw('SELECT keys FROM turncore_sessions'), [[100n]]);
    await stores[0].commit('s', { deltas: [], ended: ['t'] });
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_keys'), [[0n]]);
  });

  it('waits for who has locked the file, while the program goes on', async (t) => {
    const file = database(t);
    const store = file.open();
    const hasty = file.open({ busyTimeout: 60 });
    await store.commit('s', { deltas: [said('m')] });
    file.raw('BEGIN IMMEDIATE');
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 5);
    t.after(() => clearInterval(ticking));
    const error = await failureOf(() => hasty.commit('s', { deltas: [said('n')] }));
    assert.match(error.message, /session "s": it is locked by another process/);
    assert.deepEqual([error.code, error.details.session], ['E_STORE_FAILED', 's']);
    assert.ok(ticks > 0, 'the program stood still');
    assert.equal((await hasty.load('s')).messages.length, 1);
    const waiting = store.commit('s', { deltas: [said('o')] });
    setTimeout(() => file.raw('COMMIT'), 30);
    await waiting;
    assert.deepEqual(
      (await hasty.load('s')).messages.map(({ id }) => id),
      ['m', 'o'],
    );
  });

  it('waits for others as long for each caller', async (t) => {
    const file = database(t);
    const store = file.open({ busyTimeout: 500 });
    await store.commit('s', { deltas: [said('m')] });
    file.raw('BEGIN IMMEDIATE');
    const later = new Promise((resolve) => setTimeout(resolve, 300)).then(() =>
      store.commit('s', { deltas: [said('later')] }),
    );
    const error = await failureOf(() => store.commit('s', { deltas: [said('first')] }));
    file.raw('COMMIT');
    assert.match(error.message, /session "s": it is locked by another process/);
    await later;
    assert.deepEqual(
      (await store.load('s')).messages.map(({ id }) => id),
      ['m', 'later'],
    );
  });

  it('reads what may only be read', async (t) => {
    const file = database(t);
    const store = file.open();
    await store.commit('s', { deltas: [said('m')] });
    const reader = file.open({ readOnly: true });
    assert.equal((await reader.load('s')).messages.length, 1);
    for (const write of [
      () => reader.commit('s', { deltas: [said('n')] }),
      () => reader.putBytes('s', 'id', 'text'),
      () => reader.delete('s'),
      () => reader.setTitle('s', 'title'),
      () => reader.fork('s', 't'),
    ]) {
      const error = await failureOf(write);
      assert.match(`${error.code} ${error.message}`, /^E_STORE_FAILED .*it is read-only$/);
    }
    const missing = await failureOf(() => openSqlite(`${file.path}.none`, { readOnly: true }));
    assert.equal(missing.code, 'E_STORE_FAILED');
  });

  it('says that the disk is full, and keeps what was there', async (t) => {
    const file = database(t);
    const store = file.open({}, { pragmas: ['max_page_count = 60'] });
    const kept = [];
    let error;
    for (let n = 0; error === undefined; n++) {
      const id = `m${n}`;
      await store.commit('s', { deltas: [said(id, 'x'.repeat(9000))] }).then(
        () => kept.push(id),
        (failed) => (error = failed),
      );
    }
    assert.match(`${error.code} ${error.message}`, /^E_STORE_FAILED .*session "s": it is full$/);
    assert.ok(kept.length > 3);
    assert.deepEqual(
      (await store.load('s')).messages.map(({ id }) => id),
      kept,
    );
    assert.equal(
      (await failureOf(() => store.putBytes('s', 'b', 'x'.repeat(MiB)))).code,
      'E_STORE_FAILED',
    );
    await store.delete('s');
    await store.commit('s', { deltas: [said('again')] });
  });

  it('says that a file is not a database, or cannot be opened', async (t) => {
    const file = database(t);
    writeFileSync(
      file.path,
      'This is a text, and it is longer than the head of a database.'.repeat(99),
    );
    const error = await failureOf(() => openSqlite(file.path, {}));
    assert.match(`${error.code} ${error.message}`, /^E_STORE_FAILED .*no SQLite database$/);
    const nowhere = await failureOf(() => openSqlite(join(file.path, 'x.db'), {}));
    assert.match(
      `${nowhere.code} ${nowhere.message}`,
      /^E_STORE_FAILED .*it cannot be opened: ENOTDIR/,
    );
  });

  it('makes a file for its owner only, by a path or a URL', async (t) => {
    const file = database(t);
    const store = openSqlite(pathToFileURL(file.path), {});
    await store.close();
    assert.equal(statSync(file.path).mode & 0o777, 0o600);
    assert.deepEqual(file.raw('PRAGMA journal_mode'), [['wal']]);
  });

  it('goes forward with the schema, and refuses to go back', async (t) => {
    const file = database(t);
    const first = file.open();
    await first.commit('s', { deltas: [said('m')] });
    await first.close();
    const later = [
      ...SCHEMA,
      [
        'ALTER TABLE turncore_sessions ADD COLUMN colour INTEGER NOT NULL DEFAULT 7',
        'CREATE TABLE turncore_colours (number INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL)',
      ],
    ];
    const broken = [...SCHEMA, [later[1][0], 'CREATE TABLE turncore_sessions (number INTEGER)']];
    const version = () => file.raw("SELECT value FROM turncore_meta WHERE name = 'schema'")[0][0];
    await failureOf(() => openSqlite(file.path, {}, { schema: broken }));
    assert.equal(version(), 1n);
    const reading = await failureOf(() =>
      openSqlite(file.path, { readOnly: true }, { schema: later }),
    );
    assert.equal(reading.code, 'E_STORE_VERSION');
    for (let n = 0; n < 2; n++) {
      const store = openSqlite(file.path, {}, { schema: later });
      assert.equal((await store.load('s')).messages.length, 1);
      await store.close();
    }
    assert.equal(version(), 2n);
    const error = await failureOf(() => openSqlite(file.path, {}));
    assert.match(`${error.code} ${error.message}`, /^E_STORE_VERSION .*version 2/);
  });

  it('refuses a schema that was left halfway', async (t) => {
    const file = database(t);
    await file.open().close();
    for (const step of [
      'ALTER TABLE turncore_refs RENAME COLUMN bytes TO other',
      'DROP TABLE turncore_refs',
      "UPDATE turncore_meta SET value = 0 WHERE name = 'schema'",
      'DELETE FROM turncore_meta',
      'DROP TABLE turncore_meta',
    ]) {
      file.raw(step);
      assert.equal(
        (await failureOf(() => openSqlite(file.path, {}))).code,
        'E_STORE_VERSION',
        step,
      );
    }
  });

  it('goes on where the clock goes back', async (t) => {
    let now = NOON;
    const store = database(t).open({}, { clock: () => (now -= HOUR) });
    const seen = new Set();
    for (let n = 0; n < 5; n++) {
      for (const session of ['a', 'b']) {
        const at = await store.commit(session, { deltas: [said(String(n))] });
        assert.ok(!seen.has(session + at), at);
        seen.add(session + at);
        const { sessions } = await store.list();
        assert.equal(sessions[0].id, session);
        assert.ok(sessions[0].updatedAt >= sessions.at(-1).updatedAt);
      }
    }
    assert.equal((await store.load('a')).messages.length, 5);
  });

  it('notices that its last transaction was lost', async (t) => {
    const file = database(t);
    const store = file.open();
    await store.commit('s', { deltas: [said('m1')] });
    for (const name of ['sessions', 'records']) {
      file.raw(`CREATE TABLE kept_${name} AS SELECT * FROM turncore_${name}`);
    }
    const lost = await store.commit('s', { deltas: [said('m2')] });
    for (const name of ['sessions', 'records']) {
      file.raw(`DELETE FROM turncore_${name}`);
      file.raw(`INSERT INTO turncore_${name} SELECT * FROM kept_${name}`);
    }
    const { after, messages } = await store.load('s', lost);
    assert.deepEqual([after, messages.length], [undefined, 1]);
    const late = { revision: lost, deltas: [said('m2', 'changed', 'mutate')] };
    const error = await failureOf(() => store.commit('s', late));
    assert.equal(error.code, 'E_SESSION_CONFLICT');
    assert.notEqual(await store.commit('s', { deltas: [said('m3')] }), lost);
  });

  it('takes ids that are no names of files, members or words of SQL', async (t) => {
    const store = database(t).open();
    const long = 'ä'.repeat(256);
    for (const id of [
      '',
      '__proto__',
      'constructor',
      '../../etc',
      'a\0b',
      'a',
      "' OR 1=1 --",
      '日本語 🎉',
      'é',
      long,
    ]) {
      await store.commit(id, { deltas: [said(`m\0${id}`)] });
      assert.deepEqual(
        (await store.load(id)).messages.map((message) => message.id),
        [`m\0${id}`],
      );
      await store.setTitle(id, `\0${id}`);
      const { sessions } = await store.list({ limit: 1 });
      assert.deepEqual([sessions[0].id, sessions[0].title], [id, `\0${id}`]);
    }
    for (const id of [`${long}a`, '\ud800', 7, undefined]) {
      const error = await failureOf(() => store.commit(id, { deltas: [said('m')] }));
      assert.equal(error.code, 'E_INVALID_SESSION_ID');
      assert.equal((await failureOf(() => store.load(id))).code, 'E_INVALID_SESSION_ID');
    }
  });

  it('fails by name once it is closed', async (t) => {
    const store = database(t).open();
    await store.commit('s', { deltas: [said('m')] });
    const last = store.commit('s', { deltas: [said('n')] });
    await new Promise((resolve) => setTimeout(resolve, 1));
    await Promise.all([store.close(), store.close()]);
    await last;
    for (const call of [
      () => store.load('s'),
      () => store.commit('s', { deltas: [said('o')] }),
      () => store.list(),
      () => store.putBytes('s', 'id', 'text'),
      () => store.openBytes('s', 'id'),
      () => store.fork('s', 't'),
      () => store.delete('s'),
      () => store.setTitle('s', 'title'),
    ]) {
      const error = await failureOf(call);
      assert.match(`${error.code} ${error.message}`, /^E_STORE_FAILED .*it is closed$/);
    }
  });

  it('keeps whole commits, each once, when the process is killed', async (t) => {
    const file = database(t);
    for (let seed = 0; seed < 20; seed++) {
      const child = spawn(
        process.execPath,
        ['--no-warnings', new URL('writer.mjs', import.meta.url).pathname, file.path, `s${seed}`],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      let said = '';
      child.stdout.on('data', (data) => (said += data));
      const exit = once(child, 'exit');
      const wanted = 1 + ((seed * 7) % 13);
      while (said.split('\n').length <= wanted) await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, seed % 4));
      child.kill('SIGKILL');
      await exit;
      const told = said.split('\n').length - 1;
      const store = file.open();
      const { messages, thoughts } = await store.load(`s${seed}`);
      await store.close();
      assert.ok(messages.length >= told, `${messages.length} commits are there of ${told}`);
      const whole = Array.from({ length: messages.length }, (_, n) => `${n}`);
      assert.deepEqual(
        messages.map(({ id }) => id),
        whole,
      );
      assert.deepEqual(
        thoughts.map(({ id }) => id),
        whole,
      );
    }
    assert.deepEqual(file.raw('PRAGMA integrity_check'), [['ok']]);
  });
});

/**
 * Those of a key are flipped too, where it is told that something is gone: the row then belongs to something else. Of
 * scopes and journals nobody knows that they are there.
 */
const COLUMNS = {
  turncore_sessions:
    'number id revision settled newest created title messages records digest keys ' +
    'events appended base cut sum',
  turncore_records: 'session kind id place added changed body sum',
  turncore_keys: 'session key turn revision sum',
  turncore_bytes: 'session id content size added sum',
  turncore_parts: 'content part data sum',
  turncore_events: 'session revision id body sum',
  turncore_state: 'name value sum',
  turncore_artifacts: 'name version content size body sum',
  turncore_journals: 'epoch first next checkpoint sum',
  turncore_entries: 'turn number body sum',
};

describe('a bit that flips in SQLite', () => {
  for (const [table, names] of Object.entries(COLUMNS)) {
    for (const column of names.split(' ')) {
      it(`is told of, in ${table}.${column}`, async (t) => {
        const file = database(t);
        const store = file.open({}, { clock: () => NOON });
        const deltas = [
          instructed('be kind'),
          said('m1'),
          said('m2'),
          spooled('c1', 'text\n'.repeat(100)),
        ];
        const first = { deltas, key: 'k', turn: 't' };
        await store.commit('s', first);
        await store.setTitle('s', 'title');
        if (/events|state|artifacts|journals|entries/.test(table)) await appendAll(store);
        const [[row]] = file.raw('SELECT id FROM turncore_bytes ORDER BY id DESC');
        const id = new TextDecoder().decode(row);
        // Where the session or its bytes seem to be others, a commit would make new ones.
        const bytes = ['turncore_bytes', 'turncore_parts'].includes(table);
        const again = bytes || ['id', 'number'].includes(column) ? undefined : first;
        const before = await look(store, id, again);
        assert.ok(
          before.every((each) => !(each instanceof Error)),
          String(before),
        );
        for (const bit of [1, 2, 60]) {
          const undo = flip(file, table, column, bit);
          if (undo === undefined) continue;
          const after = await look(store, id, again);
          undo();
          const errors = after.filter((each) => each instanceof Error);
          assert.ok(errors.length > 0, `nothing tells of bit ${bit}`);
          for (const error of errors) {
            assert.match(error.code, /^E_(STORED_RECORD_INVALID|BYTES_NOT_FOUND)$/, error.stack);
            assert.match(error.message, /"/);
          }
          after.forEach((each, i) => {
            if (column !== 'id' && !(each instanceof Error)) assert.equal(each, before[i]);
          });
        }
        assert.deepEqual(await look(store, id, again), before);
      });
    }
  }
});

/** Appends an event, a value, an artifact and a journal. */
async function appendAll(store) {
  const body = new TextEncoder().encode('body');
  await store.putBytes('s', 'b', 'bytes');
  await store.append('s', {
    event: { id: 'event', body },
    state: [{ scope: 'shared', name: 'name', value: body }],
    artifacts: [{ scope: 'shared', name: 'name', version: 0, bytes: 'b', body }],
  });
  await store.appendJournal('t', { epoch: 1, at: 0, entries: [body, body] });
  await store.compactJournal('t', { epoch: 1, before: 1, checkpoint: body });
}

/** Everything that can be asked, in words or errors. */
async function look(store, id, again) {
  const settled = async (run) => {
    try {
      return JSON.stringify(await run());
    } catch (error) {
      return error;
    }
  };
  const answers = [
    await settled(async () => {
      const { revision, messages, toolCalls, instructions } = await store.load('s');
      return [revision, [...messages, ...toolCalls, ...instructions].map(records.recordToJSON)];
    }),
    await settled(() => textOf(store, 's', id)),
    // The number of a session has no checksum: a load finds no records then.
    await settled(async () =>
      (await store.list()).sessions.map((each) => ({ ...each, revision: 0 })),
    ),
    await settled(() => store.newest('s')),
    await settled(() => store.events('s')),
    await settled(() => store.state('s', 'shared')),
    await settled(() => store.artifacts('s', 'shared')),
    await settled(async () => {
      const [found] = await store.artifacts('s', 'shared');
      return found && (await store.openArtifact('s', 'shared', 'name', 0)).readAll();
    }),
    await settled(() => store.readJournal('t')),
  ];
  if (again !== undefined) answers.push(await settled(() => store.commit('s', again)));
  return answers;
}

/** Flips a bit of a column in the last row of a table. @returns what flips it back; undefined if it has no such bit */
function flip(file, table, column, bit) {
  const [[old]] = file.raw(`SELECT ${column} FROM ${table} ORDER BY ${column} DESC LIMIT 1`);
  let flipped;
  if (typeof old === 'bigint') flipped = old ^ (1n << BigInt(bit));
  else {
    if (bit > 7) return undefined;
    flipped = old.slice();
    flipped[0] ^= 1 << bit;
  }
  const set = `UPDATE ${table} SET ${column} = ? WHERE ${column} = ?`;
  file.raw(set, flipped, old);
  return () => file.raw(set, old, flipped);
}

describe('forks in SQLite', () => {
  const counts = (file) =>
    file.raw('SELECT session, COUNT(*) FROM turncore_records GROUP BY session ORDER BY session');
  const told = async (store, session) =>
    (await store.load(session)).messages.map(({ id, content }) => `${id}=${content}`).join(' ');

  it('share records until one of the two changes them', async (t) => {
    const file = database(t);
    const store = file.open();
    const many = Array.from({ length: 10 }, (_, i) => said(`m${i}`, 'x'));
    await store.commit('a', { deltas: [instructed('be kind'), ...many] });
    for (const fork of ['b', 'c', 'd']) await store.fork('a', fork);
    assert.deepEqual(counts(file), [[1n, 11n]]);
    // What is added is each one's own.
    await store.commit('a', { deltas: [said('later')] });
    await store.commit('b', { deltas: [said('mine')] });
    assert.deepEqual(counts(file), [
      [1n, 12n],
      [2n, 1n],
    ]);
    const shared = many.map(({ record }) => `${record.id}=x`).join(' ');
    assert.equal(await told(store, 'b'), `${shared} mine=text`);
    assert.equal(await told(store, 'c'), shared);
    // A change of one fork leaves the others as they are.
    await store.commit('b', { deltas: [said('m0', 'changed', 'mutate')] });
    assert.deepEqual(counts(file), [
      [1n, 12n],
      [2n, 12n],
    ]);
    assert.equal(await told(store, 'c'), shared);
    // A change of what was added later is none of the forks' business; one of what they share is.
    await store.commit('a', { deltas: [said('later', 'changed', 'mutate')] });
    assert.equal(counts(file).length, 2);
    await store.commit('a', { deltas: [{ op: 'delete', kind: 'message', id: 'm9' }] });
    assert.equal(counts(file).length, 4);
    assert.equal(await told(store, 'd'), shared);
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_sessions WHERE base <> 0'), [[0n]]);
  });

  it('are what they were when their session is deleted, or they are forked themselves', async (t) => {
    const file = database(t);
    const store = file.open();
    await store.commit('a', { deltas: [said('m1'), spooled('c', 'long '.repeat(1000))] });
    await store.fork('a', 'b');
    await store.commit('b', { deltas: [said('m2')] });
    await store.fork('b', 'c');
    await store.delete('a');
    await store.delete('b');
    assert.equal(await told(store, 'c'), 'm1=text m2=text');
    const { toolCalls } = await store.load('c');
    assert.equal(await toolCalls[0].results.asString(), 'long '.repeat(1000));
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_refs'), [[1n]]);
  });
});

describe('bytes in SQLite', () => {
  it('are kept in parts', async (t) => {
    const file = database(t);
    const store = file.open();
    for (const size of [0, 1, MiB - 1, MiB, MiB + 1, 3 * MiB + 5]) {
      const want = new Uint8Array(size).map((_, i) => i % 251);
      const pieces = new Blob([want]).stream();
      for (const content of [want, pieces]) {
        await store.putBytes('s', 'id', content);
        const reader = await store.openBytes('s', 'id');
        assert.equal(await reader.byteLength(), size);
        const got = new Uint8Array(await new Response(await reader.stream()).arrayBuffer());
        assert.ok(Buffer.from(got).equals(want), `${size} bytes`);
      }
    }
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_parts'), [[4n]]);
    const reader = await store.openBytes('s', 'id');
    await store.delete('s');
    const error = await failureOf(() => reader.readAll());
    assert.deepEqual(
      [error.code, error.details],
      ['E_BYTES_NOT_FOUND', { session: 's', id: 'id' }],
    );
    for (const table of [...Object.keys(COLUMNS), 'turncore_refs', 'turncore_contents']) {
      assert.deepEqual(file.raw(`SELECT COUNT(*) FROM ${table}`), [[0n]], table);
    }
  });

  it('stay when those that should replace them cannot be read', async (t) => {
    const file = database(t);
    const store = file.open();
    await store.putBytes('s', 'id', 'there');
    let left = 5;
    const broken = new ReadableStream({
      pull(controller) {
        if (--left === 0) controller.error(new Error('broken'));
        else controller.enqueue(new Uint8Array(MiB / 2));
      },
    });
    assert.equal((await failureOf(() => store.putBytes('s', 'id', broken))).message, 'broken');
    assert.equal(await textOf(store, 's', 'id'), 'there');
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_parts'), [[1n]]);
    assert.equal((await failureOf(() => store.putBytes('s', 'id', 7))).code, 'E_INVALID_VALUE');
  });

  it('are shared by forks', async (t) => {
    const file = database(t);
    const store = file.open();
    await store.commit('a', {
      deltas: [spooled('0', 'long '.repeat(1000)), spooled('1', 'short')],
    });
    await store.fork('a', 'b');
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_contents'), [[2n]]);
    await store.delete('a');
    const { toolCalls } = await store.load('b');
    assert.equal(await toolCalls[1].results.asString(), 'short');
    await store.delete('b');
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_parts'), [[0n]]);
  });

  it('are collected an hour after the last record that had them', async (t) => {
    const file = database(t);
    let now = NOON;
    const store = file.open({}, { clock: () => now });
    await store.commit('s', { deltas: [spooled('c', 'kept'), spooled('d', 'dropped later')] });
    await store.putBytes('s', 'loose', 'content');
    file.raw('INSERT INTO turncore_contents (added) VALUES (?)', BigInt(NOON) * 1000n);
    assert.equal(await store.collect(), 0);
    now += HOUR + 60_000;
    await store.putBytes('s', 'young', 'young');
    assert.equal(await store.collect(), 2);
    assert.equal((await failureOf(() => textOf(store, 's', 'loose'))).code, 'E_BYTES_NOT_FOUND');
    assert.equal(await textOf(store, 's', 'young'), 'young');
    await store.commit('s', { deltas: [{ op: 'delete', kind: 'toolCall', id: 'd' }] });
    now += HOUR + 60_000;
    assert.equal(await store.collect(), 2);
    // Refs that are lost lose nothing: the records themselves are asked.
    file.raw('DELETE FROM turncore_refs');
    assert.equal(await store.collect(), 0);
    assert.equal(await (await store.load('s')).toolCalls[0].results.asString(), 'kept');
    // A commit collects too, in the background.
    now += HOUR + 60_000;
    await store.putBytes('s', 'again', 'again');
    now += HOUR + 60_000;
    await store.commit('r', { deltas: [said('m')] });
    await store.close();
    assert.deepEqual(file.raw('SELECT COUNT(*) FROM turncore_contents'), [[1n]]);
  });
});

describe('turns on SQLite', () => {
  it('go on after a new start', async (t) => {
    const file = database(t);
    const run = (message) =>
      execFileSync(
        process.execPath,
        ['--no-warnings', new URL('turn.mjs', import.meta.url).pathname, file.path, message],
        {
          encoding: 'utf8',
        },
      );
    assert.match(run('My name is Ada.'), /You said: My name is Ada/);
    run('And again.');
    const store = file.open();
    const { messages } = await store.load('default');
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    // Those of the turn before are forgotten.
    const turns = file.raw('SELECT DISTINCT turn FROM turncore_keys');
    assert.ok(turns.length <= 2, `keys of ${turns.length} turns`);
  });
});

it('keys of turns that have committed nothing for a week are forgotten, unless they have a journal', async (t) => {
  const file = database(t);
  let now = NOON;
  const store = file.open({}, { clock: () => now });
  const commit = (turn, key) => store.commit('s', { deltas: [said(key)], key, turn });
  for (const [turn, key] of [
    ['crashed', '1'],
    ['crashed', '2'],
    ['goes on', '3'],
    ['writes', '4'],
  ]) {
    await commit(turn, key);
  }
  await store.appendJournal('goes on', { epoch: 1, at: 0, entries: [new Uint8Array([1])] });
  const keys = async () => {
    await store.collect();
    return file.raw(
      'SELECT COUNT(*), MAX(sessions.keys) FROM turncore_keys, turncore_sessions AS sessions',
    );
  };
  now += 6 * 24 * HOUR;
  await commit('writes', '5');
  assert.deepEqual(await keys(), [[5n, 5n]]);
  now += 2 * 24 * HOUR;
  assert.deepEqual(await keys(), [[3n, 3n]]);
  await commit('writes', '4'); // it is known
  assert.equal((await store.load('s')).messages.length, 5);
  await store.deleteJournal('goes on', 1);
  assert.deepEqual(await keys(), [[2n, 2n]]);
  await store.close();
});

it('events, state and artifacts travel in documents, which Go writes alike', async (t) => {
  const url = new URL('../../../abi/testdata/records/appended.json', import.meta.url);
  const text = readFileSync(url, 'utf8');
  const withoutDate = (document) => document.replace(/^ {2}"createdAt": .*\n/m, '');
  const { exportConversation, importConversation } = records;
  const store = database(t).open();
  assert.equal(await importConversation(store, text), 'appended');
  const exported = await exportConversation(store, 'appended');
  assert.equal(withoutDate(exported), text);
  assert.equal((await failureOf(() => importConversation(store, text))).code, 'E_SESSION_EXISTS');
  assert.equal(await importConversation(store, exported, 'again'), 'again');
  const renamed = withoutDate(await exportConversation(store, 'again'));
  assert.equal(renamed, text.replace('"id": "appended"', '"id": "again"'));
  const plain = { load: (id) => store.load(id) };
  const refused = await failureOf(() => importConversation(plain, text, 'other'));
  assert.equal(refused.code, 'E_RECORD_UNSTORABLE');
  const wrong = JSON.parse(text);
  wrong.artifacts[1].version = 3;
  const failure = await failureOf(() => importConversation(store, wrong, 'wrong'));
  assert.equal(failure.code, 'E_STORED_RECORD_INVALID');
  assert.match(failure.message, /artifacts\[1\]\.version: it is not 1/);
  const twice = JSON.parse(text);
  twice.events.push(twice.events[0]);
  const again = await failureOf(() => importConversation(store, twice, 'wrong'));
  assert.match(again.message, /events\[3\]\.id: an earlier event has it/);
  const full = Object.assign(Object.create(store), {
    append: async (session, append) => {
      if (append.event?.id === '10') throw new Error('the disk is full');
      return store.append(session, append);
    },
  });
  for (const method of [
    'load',
    'find',
    'delete',
    'putBytes',
    'events',
    'state',
    'artifacts',
    'openArtifact',
    'setTitle',
  ]) {
    full[method] = (...args) => store[method](...args);
  }
  const half = await failureOf(() => importConversation(full, text, 'wrong'));
  assert.match(half.message, /the disk is full/);
  assert.equal(await store.find('wrong'), undefined);
  assert.equal(await importConversation(store, text, 'wrong'), 'wrong');
  await store.close();
});
