/**
 * The suite of stores on the stores in memory.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullMemoryStore } from '../../src/entries/memory.js';
import { storeTests } from '../../src/entries/storetest.js';
import { memoryStore } from '../../src/index.js';

describe('the store in memory', async () => {
  for (const { name, run } of await storeTests({ open: () => memoryStore() })) it(name, run);
});

describe('the store in memory with events, state, artifacts and journals', async () => {
  const tests = await storeTests({ open: () => fullMemoryStore() });
  for (const { name, run } of tests) it(name, run);

  it('has more tests than the one without', async () => {
    const few = await storeTests({ open: () => memoryStore() });
    assert.ok(tests.length > few.length + 25, `${tests.length} and ${few.length}`);
  });
});
