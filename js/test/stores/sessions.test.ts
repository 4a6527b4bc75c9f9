/**
 * The suite of sessions on the store in memory.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { fullMemoryStore } from '../../src/entries/memory.js';
import { sessionTests } from '../../src/entries/sessionstest.js';
import { memoryStore } from '../../src/index.js';
import { sessionHost } from '../invocations/setup.js';
import { skip } from '../turn/harness.js';

const host = skip === false ? await sessionHost() : undefined;

describe('sessions in memory', { skip }, () => {
  const store = { open: () => fullMemoryStore(), host };
  for (const { name, run } of sessionTests(store)) it(name, run);
});

describe('a store that cannot keep sessions', () => {
  it('is told what it lacks', async () => {
    const [first] = sessionTests({ open: memoryStore });
    await assert.rejects(first!.run(), {
      message: 'the store lacks append, forkAt, events, state, artifacts, openArtifact',
    });
  });
});
