/**
 * The suite of sessions on the store in memory.
 */
import { describe, it } from 'node:test';

import { fullMemoryStore } from '../../src/entries/memory.js';
import { sessionTests } from '../../src/entries/sessionstest.js';
import { sessionHost } from '../invocations/setup.js';
import { skip } from '../turn/harness.js';

const host = skip === false ? await sessionHost() : undefined;

describe('sessions in memory', { skip }, () => {
  const store = { open: () => fullMemoryStore(), host };
  for (const { name, run } of sessionTests(store)) it(name, run);
});
