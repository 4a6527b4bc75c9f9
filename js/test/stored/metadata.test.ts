/**
 * The application's own fields in turns: they are stored, loaded, forked and exported, and no model gets them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunner, memoryStore, Message, Retrievable } from '../../src/index.js';
import { exportConversation, importConversation } from '../../src/entries/records.js';
import { skip, testHost } from '../turn/harness.js';

describe('metadata', { skip }, () => {
  it('stays with its record', async () => {
    const store = memoryStore();
    const times = { createdAt: 1_800_000_000_000, updatedAt: 1_800_000_000_000 };
    const metadata = { thread: 't-7', stars: 5 };
    const seen: unknown[] = [];
    const runner = createRunner({
      store,
      host: await testHost(),
      executor: async (ctx) => {
        for (const message of ctx.turnMessages) seen.push(message.metadata);
        for (const document of ctx.turnRetrievables) seen.push(document.metadata);
        const id = `a${seen.length}`;
        const parts = { id, role: 'assistant', content: 'Tea.', metadata, ...times } as const;
        await ctx.storeMessage(new Message(parts));
        const document = { id: `d${id}`, content: 'a\nb', trustTier: 'first-party' } as const;
        await ctx.storeRetrievable(new Retrievable({ ...document, metadata, ...times }));
        ctx.ack();
      },
    });
    const parts = { id: 'q', role: 'user', content: 'Which?', metadata, ...times } as const;
    await runner.run({ message: new Message(parts), sessionId: 's' });
    await runner.run({ message: 'And now?', sessionId: 's' });
    assert.deepEqual(seen, [metadata, metadata, metadata, undefined, metadata]);

    await store.fork('s', 'copy');
    const other = memoryStore();
    await importConversation(other, await exportConversation(store, 'copy'));
    const { messages, retrievables } = await other.load('copy');
    const kept = [...messages, ...retrievables].map((record) => record.metadata);
    assert.deepEqual(kept, [metadata, metadata, undefined, metadata, metadata, metadata]);
  });
});
