// What browsers do to a store in IndexedDB, case by case, in a page.
import { Message } from 'turncore';
import { openIndexedDB } from 'turncore-internal/stores/indexeddb.js';

const { DOMException, FileSystemWritableFileStream, IDBFactory, IDBIndex } = globalThis;
const { IDBObjectStore, indexedDB, StorageManager } = globalThis;
const MiB = 2 ** 20;
const HOUR = 3_600_000;
let databases = 0;

/** A database of a name of its own. */
const named = () => `case ${++databases} ${Math.random()}`;

/** The write of a message. */
function said(id, content = 'text', op = 'store') {
  const record = new Message({ id, role: 'user', content, createdAt: 1, updatedAt: 1 });
  return { op, kind: 'message', record };
}

const bytesOf = (size) => new Uint8Array(size).map((_, i) => (i * 7) % 251);
const messagesOf = async (store, session = 's') =>
  (await store.load(session)).messages.map(({ id }) => id).join(' ');

/** All of the bytes, compared with what was put. */
async function whole(store, id, size) {
  const reader = await store.openBytes('s', id);
  const got = new Uint8Array(await new Response(await reader.stream()).arrayBuffer());
  equal(got.length, size, id);
  equal(
    got.every((byte, i) => byte === (i * 7) % 251),
    true,
    id,
  );
}

function equal(actual, expected, what) {
  const [is, want] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== want) throw new Error(`${what}: ${is} instead of ${want}`);
}

/** The error of a call: its code, its text and the name of its cause. */
async function failureOf(call) {
  try {
    await call();
  } catch (error) {
    return `${error.code} ${error.message} ${error.cause?.name ?? ''}`;
  }
  throw new Error('nothing failed');
}

async function fails(call, pattern) {
  const failure = await failureOf(call);
  if (!pattern.test(failure)) throw new Error(`${failure} instead of ${pattern}`);
}

/** What a call gives when the browser answers in time. */
async function answered(call) {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries > 5000 || !/ the browser does not /.test(error.message)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Has a method of a class do something else meanwhile. */
async function having(of, method, instead, run) {
  const before = of[method];
  of[method] = instead(before);
  try {
    return await run();
  } finally {
    of[method] = before;
  }
}

/** A request's result. */
const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Whether there are files. */
const filed = () =>
  navigator.storage.getDirectory().then(
    () => true,
    () => false,
  );

/** The folder of a database's files. */
async function folderOf(name) {
  const escaped = [...name].map((c) =>
    /[a-z0-9-]/.test(c) ? c : `_${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const root = await navigator.storage.getDirectory();
  return (await root.getDirectoryHandle('turncore')).getDirectoryHandle(escaped.join(''));
}

async function filesOf(name) {
  const files = [];
  for await (const each of (await folderOf(name)).values()) files.push(each);
  return files;
}

async function rewrite(file, bytes) {
  const stream = await file.createWritable();
  await stream.write(bytes);
  await stream.close();
}

/** Cases with files of the origin private file system. */
const withFiles = {
  async 'long bytes are in files, short ones in the database'() {
    const name = named();
    const store = openIndexedDB(name, {});
    for (const size of [0, 1, 65_535]) await store.putBytes('s', `${size}`, bytesOf(size));
    equal((await filesOf(name).catch(() => [])).length, 0, 'files');
    for (const size of [65_536, MiB - 1, MiB, MiB + 1, 3 * MiB + 5]) {
      await store.putBytes('s', `${size}`, bytesOf(size));
      await store.putBytes('s', `${size} stream`, new Blob([bytesOf(size)]).stream());
      await whole(store, `${size}`, size);
      await whole(store, `${size} stream`, size);
    }
    equal((await filesOf(name)).length, 10, 'files');
    for (const size of [0, 1, 65_535]) await whole(store, `${size}`, size);
    await store.fork('s', 'f');
    await store.delete('s');
    equal((await filesOf(name)).length, 10, 'files of the fork');
    await store.delete('f');
    await store.close();
    equal((await filesOf(name)).length, 0, 'files without a session');
  },

  async 'a store that writes no files reads them, and the other way round'() {
    const name = named();
    const [plain, other] = [openIndexedDB(name, { opfs: false }), openIndexedDB(name, {})];
    await plain.putBytes('s', 'plain', bytesOf(2 * MiB));
    await other.putBytes('s', 'filed', bytesOf(2 * MiB));
    equal((await filesOf(name)).length, 1, 'files');
    for (const store of [plain, other]) {
      await whole(store, 'plain', 2 * MiB);
      await whole(store, 'filed', 2 * MiB);
    }
    await plain.putBytes('s', 'filed', bytesOf(5));
    await plain.close();
    equal((await filesOf(name)).length, 0, 'files of bytes that were replaced');
    await other.close();
  },

  async 'ranges are read without the rest'() {
    const name = named();
    const store = openIndexedDB(name, {});
    await store.putBytes('s', 'x', `${'line\n'.repeat(MiB)}last`);
    const [file] = await filesOf(name);
    const size = (await file.getFile()).size;
    // The middle is damaged: who reads the beginning does not notice.
    const bytes = new Uint8Array(await (await file.getFile()).arrayBuffer());
    bytes[2 * MiB + 5] ^= 1;
    await rewrite(file, bytes);
    const stream = await (await store.openBytes('s', 'x')).stream();
    const reader = stream.getReader();
    equal((await reader.read()).value.length > 0, true, 'the beginning');
    await reader.cancel();
    const all = async () => (await store.openBytes('s', 'x')).readAll();
    await fails(all, /^E_STORED_RECORD_INVALID .*session "s", bytes "x".* part 2 /);
    equal(size, 5 * MiB + 4, 'the size');
    await store.close();
  },

  async 'a file that is missing, shorter or damaged is told, and mended by putting it again'() {
    const name = named();
    const store = openIndexedDB(name, {});
    const open = async () => (await store.openBytes('s', 'x')).readAll();
    for (const damage of [
      async (file, folder) => folder.removeEntry(file.name),
      async (file) => rewrite(file, bytesOf(99_999)),
      async (file) => rewrite(file, new Uint8Array(0)),
      async (file) => rewrite(file, bytesOf(100_000).fill(0, 50_000, 50_001)),
    ]) {
      await store.putBytes('s', 'x', bytesOf(100_000));
      const [file] = await filesOf(name);
      await damage(file, await folderOf(name));
      await fails(open, /^E_STORED_RECORD_INVALID .*session "s", bytes "x"/);
      await store.putBytes('s', 'x', bytesOf(100_000));
      await whole(store, 'x', 100_000);
      await store.delete('s');
      // The old file goes behind the transaction.
      while ((await filesOf(name)).length > 0) await new Promise((done) => setTimeout(done));
    }
    const root = await navigator.storage.getDirectory();
    await store.putBytes('s', 'x', bytesOf(100_000));
    await root.removeEntry('turncore', { recursive: true });
    await fails(open, /^E_STORED_RECORD_INVALID .*session "s", bytes "x"/);
    await store.putBytes('s', 'x', bytesOf(100_000));
    await whole(store, 'x', 100_000);
    await store.close();
  },

  async 'files that no content has are collected'() {
    const name = named();
    let now = Date.now();
    const store = openIndexedDB(name, {}, { clock: () => now });
    await store.putBytes('s', 'x', bytesOf(100_000));
    const folder = await folderOf(name);
    for (const left of ['17', '17.crswap', '18']) {
      await folder.getFileHandle(left, { create: true });
    }
    // The transaction that makes bytes known fails behind the file.
    const failing = () =>
      having(
        IDBObjectStore.prototype,
        'put',
        (put) =>
          function (row) {
            if (this.name === 'parts') throw new DOMException('', 'UnknownError');
            return put.call(this, row);
          },
        () => store.putBytes('s', 'y', bytesOf(100_000)),
      );
    await fails(failing, /^E_STORE_FAILED .*session "s": the browser failed to read or write it/);
    await fails(() => store.openBytes('s', 'y'), /^E_BYTES_NOT_FOUND /);
    equal((await filesOf(name)).length, 4, 'before');
    equal(await store.collect(), 3, 'collected');
    await whole(store, 'x', 100_000);
    now += 2 * HOUR;
    equal(await store.collect(), 1, 'collected later');
    await store.close();
    equal((await filesOf(name)).length, 0, 'after');
  },

  async 'keys of turns that have committed nothing for a week are forgotten'() {
    let now = Date.now();
    const store = openIndexedDB(named(), {}, { clock: () => now });
    const commit = (turn, id, key = id) => store.commit('s', { deltas: [said(id)], key, turn });
    await commit('crashed', '1');
    await commit('goes on', '2');
    await commit('writes', '3');
    await store.appendJournal('goes on', { epoch: 1, at: 0, entries: [bytesOf(1)] });
    now += 100 * HOUR;
    await commit('writes', '4');
    now += 100 * HOUR;
    await store.collect();
    // Under a key that is known nothing is stored.
    await commit('goes on', 'no', '2');
    await commit('writes', 'no', '3');
    await commit('crashed', '5', '1');
    equal(await messagesOf(store), '1 2 3 4 5', 'messages');
    await store.close();
  },

  async 'a stream that breaks leaves nothing'() {
    const name = named();
    const store = openIndexedDB(name, {});
    await store.putBytes('s', 'x', bytesOf(100_000));
    let left = 5;
    const broken = new ReadableStream({
      pull(controller) {
        if (--left === 0) controller.error(new Error('broken'));
        else controller.enqueue(new Uint8Array(MiB / 2));
      },
    });
    await fails(() => store.putBytes('s', 'x', broken), /^undefined broken/);
    await whole(store, 'x', 100_000);
    equal((await filesOf(name)).length, 1, 'files');
    await store.close();
  },

  async 'a full disk while a file is written fails, and loses nothing'() {
    const name = named();
    const store = openIndexedDB(name, {});
    await store.putBytes('s', 'x', bytesOf(100_000));
    const full = () => () => Promise.reject(new DOMException('', 'QuotaExceededError'));
    for (const method of ['write', 'close']) {
      const put = () => store.putBytes('s', 'x', bytesOf(2 * MiB));
      await fails(
        () => having(FileSystemWritableFileStream.prototype, method, full, put),
        /^E_STORE_FAILED .*session "s": the browser gives it no more space QuotaExceededError/,
      );
      await whole(store, 'x', 100_000);
    }
    await store.putBytes('s', 'x', bytesOf(2 * MiB));
    await whole(store, 'x', 2 * MiB);
    await store.close();
  },

  async 'a platform that gives no files keeps bytes in parts, and says what it cannot read'() {
    const name = named();
    const store = openIndexedDB(name, {});
    await store.putBytes('s', 'filed', bytesOf(100_000));
    const refused = () => () => Promise.reject(new DOMException('', 'SecurityError'));
    await having(StorageManager.prototype, 'getDirectory', refused, async () => {
      await store.putBytes('s', 'plain', bytesOf(2 * MiB));
      await whole(store, 'plain', 2 * MiB);
      const open = async () => (await store.openBytes('s', 'filed')).readAll();
      await fails(open, /^E_STORE_FAILED .*session "s": its bytes are in files.*SecurityError/);
    });
    await whole(store, 'filed', 100_000);
    await whole(store, 'plain', 2 * MiB);
    equal((await filesOf(name)).length, 1, 'files');
    await store.close();
  },
};

/** Cases without files. */
const plain = {
  async 'bytes are whole'() {
    const store = openIndexedDB(named(), {});
    for (const size of [0, 65_536, 2 * MiB + 1]) {
      await store.putBytes('s', `${size}`, bytesOf(size));
      await whole(store, `${size}`, size);
    }
    await store.close();
  },

  async 'a database that another tab holds in an earlier version is told of, and opens later'() {
    const name = named();
    const first = openIndexedDB(name, {});
    await first.commit('s', { deltas: [said('m')] });
    await first.close();
    const holder = await answer(indexedDB.open(name)); // It does not close when it is asked to.
    const store = openIndexedDB(name, {}, { version: 2 });
    const blocked = /^E_STORE_FAILED .*session "s": another tab has an earlier version of it open/;
    await fails(() => store.load('s'), blocked);
    await fails(() => store.commit('s', { deltas: [said('n')] }), blocked);
    holder.close();
    for (let tries = 0; ; tries++) {
      try {
        equal(await messagesOf(store), 'm', 'what was stored');
        break;
      } catch (error) {
        if (tries > 5000 || !blocked.test(`${error.code} ${error.message}`)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
    const old = openIndexedDB(name, {});
    await fails(() => old.load('s'), /^E_STORE_VERSION .*later version than 1/);
    await store.close();
  },

  async 'a database that does not open is told of, and opens later'() {
    const name = named();
    const holder = await answer(indexedDB.open(name));
    const deleted = answer(indexedDB.deleteDatabase(name)); // It waits for the holder, and all others for it.
    const store = openIndexedDB(name, {}, { patience: 50 });
    const late = /^E_STORE_FAILED .*session "s": the browser does not open it/;
    await fails(() => store.load('s'), late);
    await fails(() => store.load('s'), late);
    holder.close();
    await deleted;
    equal(await answered(() => messagesOf(store)), '', 'what was stored');
    await store.close();
  },

  async 'a transaction that gets no answer is told of and stores nothing'() {
    const name = named();
    const store = openIndexedDB(name, {});
    await store.commit('s', { deltas: [said('m')] });
    const hasty = openIndexedDB(name, {}, { patience: 50 });
    equal(await answered(() => messagesOf(hasty)), 'm', 'what it finds');
    // Another transaction goes on and on, and all others wait for it.
    const holder = await answer(indexedDB.open(name));
    const tables = holder.transaction(['sessions'], 'readwrite').objectStore('sessions');
    let held = true;
    const hold = () => held && (tables.get(0).onsuccess = hold);
    hold();
    // The second time it opens the database again, for which a browser that is busy may take longer.
    for (const late of [
      /^E_STORE_FAILED .*session "s": the browser does not answer/,
      /^E_STORE_FAILED .*session "s": the browser does not (answer|open it)/,
    ]) {
      await fails(() => hasty.commit('s', { deltas: [said('late')] }), late);
    }
    held = false;
    equal(await messagesOf(store), 'm', 'what is stored');
    await store.commit('s', { deltas: [said('n')] });
    equal(await messagesOf(store), 'm n', 'what is stored later');
    holder.close();
    await hasty.close();
    await store.close();
  },

  async 'a database that is deleted under a store begins anew'() {
    const name = named();
    const store = openIndexedDB(name, {});
    const revision = await store.commit('s', { deltas: [said('m')] });
    let pieces = 0;
    // It is deleted while bytes are written in parts: those are of no use to the one that follows.
    const stream = new ReadableStream({
      async pull(controller) {
        if (++pieces === 5) await answer(indexedDB.deleteDatabase(name));
        if (pieces === 10) controller.close();
        else controller.enqueue(new Uint8Array(MiB / 2));
      },
    });
    await fails(
      () => store.putBytes('s', 'x', stream),
      /^E_STORE_FAILED .*session "s": it was deleted while the bytes were written/,
    );
    const { after, messages } = await store.load('s', revision);
    equal([after, messages.length], [undefined, 0], 'what is there');
    const stale = { deltas: [said('m', 'x', 'mutate')], revision };
    await store.commit('s', { deltas: [said('other')] });
    await fails(() => store.commit('s', stale), /^E_SESSION_CONFLICT /);
    equal(await messagesOf(store), 'other', 'the fresh start');
    await store.close();
  },

  async 'a read that the browser ends is made again, once'() {
    const store = openIndexedDB(named(), {});
    await store.commit('s', { deltas: [said('m')] });
    const ending = (most) => (get) =>
      function (...args) {
        const request = get.apply(this, args);
        if (most-- > 0) this.objectStore.transaction.abort();
        return request;
      };
    const reading = (most, run) => having(IDBIndex.prototype, 'get', ending(most), run);
    equal(await reading(1, () => messagesOf(store)), 'm', 'what it reads');
    const ended = /^E_STORE_FAILED .*session "s": the browser has ended the transaction/;
    await reading(2, () => fails(() => store.load('s'), ended));
    equal(await messagesOf(store), 'm', 'what it reads later');
    await store.close();
  },

  async 'a full disk fails, and loses nothing'() {
    const name = named();
    const store = openIndexedDB(name, {});
    await store.commit('s', { deltas: [said('m')] });
    for (const table of ['records', 'sessions', 'keys']) {
      const full = (put) =>
        function (row) {
          const request = put.call(this, row);
          if (this.name === table) throw new DOMException('', 'QuotaExceededError');
          return request;
        };
      const commit = { deltas: [said('n')], key: 'k', turn: 't' };
      await fails(
        () => having(IDBObjectStore.prototype, 'put', full, () => store.commit('s', commit)),
        /^E_STORE_FAILED .*session "s": the browser gives it no more space QuotaExceededError/,
      );
      equal(await messagesOf(store), 'm', table);
    }
    const commit = { deltas: [said('n')], key: 'k', turn: 't' };
    equal(await store.commit('s', commit), await store.commit('s', commit), 'the revision');
    equal(await messagesOf(store), 'm n', 'in the end');
    await store.close();
  },

  async 'a browser that refuses the database is told of'() {
    for (const name of ['InvalidStateError', 'SecurityError']) {
      const refused = () => () => {
        throw new DOMException('', name);
      };
      const store = openIndexedDB(named(), {});
      await fails(
        () => having(IDBFactory.prototype, 'open', refused, () => store.load('s')),
        new RegExp(`^E_STORE_FAILED .*session "s": the browser .*refuses.* ${name}`),
      );
      equal(await messagesOf(store), '', 'when it does not');
      await store.close();
    }
  },

  async 'a clock that goes back loses nothing'() {
    let now = Date.now();
    const store = openIndexedDB(named(), {}, { clock: () => (now -= HOUR) });
    const seen = new Set();
    for (let n = 0; n < 5; n++) {
      for (const session of ['a', 'b']) {
        const at = await store.commit(session, { deltas: [said(String(n))] });
        equal(seen.has(session + at), false, at);
        seen.add(session + at);
        const { sessions } = await store.list();
        equal(sessions[0].id, session, 'the list');
      }
    }
    equal(await messagesOf(store, 'a'), '0 1 2 3 4', 'the messages');
    await store.close();
  },
};

/** Runs the cases. @returns for each its name, and what is wrong */
export async function runCases() {
  const results = [];
  for (const [name, run] of Object.entries({ ...plain, ...((await filed()) ? withFiles : {}) })) {
    const wrong = await run().then(
      () => undefined,
      (error) => `${error}\n${error?.stack}`, // the stack alone has no message in Firefox
    );
    results.push({ name, wrong });
  }
  return results;
}

/** What the tests of two pages and of a browser's quota and data call. */
export const calls = {
  async add(name, from, to) {
    const store = openIndexedDB(name, {});
    // As a turn does that has loaded the session before the others wrote.
    const { revision } = await store.load('s');
    for (let n = from; n < to; n++) {
      await store.commit('s', { deltas: [said(`${n}`)], revision, key: `${n}`, turn: 't' });
    }
    await store.close();
  },
  async change(name, revision, text) {
    const store = openIndexedDB(name, {});
    try {
      await store.commit('s', { deltas: [said('shared', text, 'mutate'), said(text)], revision });
      return 'stored';
    } catch (error) {
      return error.code;
    } finally {
      await store.close();
    }
  },
  async begin(name) {
    const store = openIndexedDB(name, {});
    const revision = await store.commit('s', { deltas: [said('shared', 'first')] });
    await store.close();
    return revision;
  },
  async look(name) {
    const store = openIndexedDB(name, {});
    const { messages } = await store.load('s');
    await store.close();
    return messages.map(({ id, content }) => `${id}=${content}`);
  },
  /** Puts bytes. @returns what failed */
  async put(name, id, size, opfs) {
    const store = openIndexedDB(name, { opfs });
    try {
      await store.putBytes('s', id, bytesOf(size));
      await whole(store, id, size);
      return 'stored';
    } catch (error) {
      return `${error.code} ${error.message} ${error.cause?.name}`;
    } finally {
      await store.close();
    }
  },
  async read(name, id, size) {
    const store = openIndexedDB(name, {});
    await whole(store, id, size);
    await store.close();
  },
  /** Commits and puts until it is told to end, also when a call fails. The browser may open it for `patience` ms. */
  write(name, patience) {
    const store = openIndexedDB(name, {}, { patience });
    const state = { store, written: 0, stopped: false, failures: [] };
    this.state = state;
    state.ended = (async () => {
      for (let n = 0; !state.stopped; n++) {
        try {
          await store.commit('s', { deltas: [said(`${n}`)] });
          await store.putBytes('s', `${n}`, bytesOf(100_000));
          state.written++;
        } catch (error) {
          state.failures.push(`${error.code} ${error.message}`);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }
    })();
  },
  /** How many calls there were. */
  calls() {
    return this.state.written + this.state.failures.length;
  },
  /** @returns what failed */
  async end() {
    this.state.stopped = true;
    await this.state.ended;
    return this.state.failures;
  },
  /** Writes once more, with the same store or another one. @returns what messages there were and are */
  async again(name) {
    const store = name === undefined ? this.state.store : openIndexedDB(name, {});
    const left = await messagesOf(store);
    await store.commit('s', { deltas: [said('again')] });
    await store.putBytes('s', 'again', bytesOf(100_000));
    await whole(store, 'again', 100_000);
    const there = await messagesOf(store);
    await store.close();
    return { left, there };
  },
};
