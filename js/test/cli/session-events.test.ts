import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { countEvents } from '../../src/cli/session-events.js';
import { fullMemoryStore } from '../../src/entries/memory.js';
import { SessionService, storedId } from '../../src/entries/sessions.js';
import type { EventQuery } from '../../src/store/appender.js';
import { skip } from '../turn/harness.js';
import { KEY, sessionHost } from '../invocations/setup.js';

describe('the events of a session', { skip }, () => {
  it('are counted without being read', async () => {
    const store = fullMemoryStore();
    const service = new SessionService({ store, host: await sessionHost() });
    const session = await service.createSession(KEY);
    let read = 0;
    const counting = {
      countEvents: async (id: string) => (await store.events(id)).length,
      async events(id: string, query?: EventQuery) {
        const events = await store.events(id, query);
        read += events.length;
        return events;
      },
    };
    assert.equal(await countEvents(counting, storedId(KEY)), 0);
    for (let n = 1; n <= 10; n++) await service.appendEvent(session, { author: 'user' });
    read = 0;
    assert.equal(await countEvents(counting, storedId(KEY)), 10);
    assert.equal(read, 1);
    assert.equal(await countEvents(counting, 'nobody'), 0);
  });
});
