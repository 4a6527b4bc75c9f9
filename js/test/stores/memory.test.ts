/**
 * The suite of stores on the store in memory.
 */
import { describe, it } from 'node:test';
import { storeTests } from '../../src/entries/storetest.js';
import { memoryStore } from '../../src/index.js';

describe('the store in memory', async () => {
  for (const { name, run } of await storeTests({ open: () => memoryStore() })) it(name, run);
});
