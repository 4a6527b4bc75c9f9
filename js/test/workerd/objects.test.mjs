// Conversations in the storage of Durable Objects, which workerd keeps on disk.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { startWorkerd } from './start.mjs';

const MiB = 1 << 20;

describe('conversations in Durable Objects', () => {
  let disk;
  let workerd;
  const start = async () => {
    const objects = { WithSql: { sql: true }, Without: { sql: false } };
    workerd = await startWorkerd('127.0.0.1:9', { worker: 'objects.worker.mjs', disk, objects });
  };
  before(async () => {
    disk = await mkdtemp(join(tmpdir(), 'turncore-objects-'));
    await start();
  });
  after(async () => {
    await workerd?.stop();
    await rm(disk, { recursive: true, force: true });
  });

  /** Calls a method of an object. @returns its answer, or its error */
  const ask = async (object, method, argument = {}, className = 'WithSql') => {
    const response = await fetch(`${workerd.address}/${className}/${object}`, {
      method: 'POST',
      body: JSON.stringify({ method, ...argument }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text);
  };
  const answer = async (...args) => {
    const { answer, error } = await ask(...args);
    assert.equal(error, undefined, JSON.stringify(error));
    return answer;
  };

  for (const seed of [0, 1, 2]) {
    it(`are what they are in memory, with seed ${seed}`, async () => {
      const counts = await answer(`model ${seed}`, 'compare', { seed, rounds: 200 });
      for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, what);
    });
  }

  it('keep bytes in parts', async () => {
    const sizes = [0, 1, MiB - 1, MiB, MiB + 1, 3 * MiB + 5];
    assert.equal(await answer('bytes', 'bytes', { sizes }), 0);
  });

  it('keep long results behind readers, and name a record that is too long for a row', async () => {
    const text = 'line\n'.repeat(MiB / 2);
    assert.equal(await answer('long', 'spool', { text }), text);
    await answer('long', 'long', { size: 1_900_000 });
    const { error } = await ask('long', 'long', { size: 3_000_000 });
    assert.equal(error.code, 'E_RECORD_UNSTORABLE');
    const { session, kind, id } = error.details;
    assert.deepEqual([session, kind, id], ['s', 'message', 'long']);
    assert.match(error.message, /has 30000\d\d bytes, and a row of the database takes 2000000$/);
  });

  it('store an event, a value and what an artifact says of itself up to a row, or nothing', async () => {
    const sizes = { event: 1, value: 1, note: 1, artifact: 5 * MiB };
    const there = { events: [1], state: [1], artifacts: [5 * MiB] };
    await answer('rows', 'append', sizes);
    assert.deepEqual(await answer('rows', 'appended'), there);
    for (const [kind, id, name] of [
      ['event', 'e1', 'event'],
      ['state', 'v', 'value'],
      ['artifact', 'a', 'note'],
    ]) {
      for (const size of [1_999_900, 2_100_000, 5_000_000]) {
        const { error } = await ask('rows', 'append', { ...sizes, [name]: size });
        assert.equal(error.code, 'E_RECORD_UNSTORABLE', `${kind} of ${size} bytes`);
        assert.deepEqual(error.details, { session: 's', kind, id });
        assert.match(error.message, new RegExp(`has ${size} bytes, and a row of the database`));
        assert.deepEqual(await answer('rows', 'appended'), there);
      }
    }
    await answer('rows', 'append', {
      ...sizes,
      event: 1_999_800,
      value: 1_999_800,
      note: 1_999_800,
    });
    assert.deepEqual(await answer('rows', 'appended'), {
      events: [1, 1_999_800],
      state: [1_999_800],
      artifacts: [5 * MiB, 5 * MiB],
    });
  });

  it('name an entry and a checkpoint of a journal that are too long for a row', async () => {
    const { error } = await ask('journal', 'journal', { entry: 2_100_000, checkpoint: 1 });
    assert.equal(error.code, 'E_RECORD_UNSTORABLE');
    assert.deepEqual(error.details, { turn: 't', entry: 0 });
    const { error: other } = await ask('journal', 'journal', { entry: 10, checkpoint: 2_100_000 });
    assert.match(
      `${other.code} ${other.message}`,
      /^E_RECORD_UNSTORABLE .*turn "t", the checkpoint: /,
    );
    assert.deepEqual(await answer('journal', 'journalSizes'), [[10], 0]);
  });

  it('are told apart from damaged ones', async () => {
    await answer('damaged', 'write', { id: 'm1' });
    const statement =
      'UPDATE turncore_records SET place = place | 4611686018427387904 WHERE kind = 3';
    await answer('damaged', 'sql', { statement });
    for (const method of ['load', 'write']) {
      const { error } = await ask('damaged', method, { id: 'm1' });
      if (method === 'write')
        assert.equal(error, undefined); // its key is known
      else assert.match(error.message, /session "s", message "m1": its checksum is wrong$/);
    }
    const { error } = await ask('damaged', 'write', { id: 'm2' });
    assert.equal(error.code, 'E_STORED_RECORD_INVALID');
  });

  it('are refused where a later version has written, or half of one', async () => {
    await answer('later', 'write', { id: 'm1' });
    for (const [statement, told] of [
      ['UPDATE turncore_meta SET value = 99', /version 99/],
      ['DELETE FROM turncore_meta', /halfway/],
    ]) {
      await answer('later', 'sql', { statement });
      const { error } = await ask('later', 'load');
      assert.match(`${error.code} ${error.message}`, told);
      assert.equal(error.code, 'E_STORE_VERSION');
    }
  });

  it('are refused by name where a class has no SQL', async () => {
    const { error } = await ask('none', 'load', {}, 'Without');
    assert.match(`${error.code} ${error.message}`, /^E_STORE_FAILED .*new_sqlite_classes/);
  });

  it('are there after kill -9, each commit whole and once', async () => {
    let n = 0;
    for (let round = 0; round < 20; round++) {
      const told = n;
      let stopped = false;
      const writing = (async () => {
        // The one that is under way may have been stored: then its key says so.
        for (; !stopped; n++) await answer('killed', 'write', { id: String(n) });
      })().catch(() => undefined);
      while (n < told + 1 + ((round * 7) % 5))
        await new Promise((resolve) => setTimeout(resolve, 1));
      await workerd.stop();
      stopped = true;
      await writing;
      await start();
      const [messages, thoughts] = await answer('killed', 'ids');
      assert.ok(messages.length >= n, `${messages.length} commits are there of ${n}`);
      const whole = Array.from({ length: messages.length }, (_, i) => String(i));
      assert.deepEqual([messages, thoughts], [whole, whole]);
    }
  });
});
