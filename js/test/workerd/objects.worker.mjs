// Conversations in Durable Objects: each call is a method of an object, by its name.
import * as turncore from 'turncore';
import * as records from 'turncore/records';
import { durableObjectStore } from 'turncore/stores/durable-object';

import { compareWithMemory } from '../stores/model.mjs';

const { MemoryReader, Message, SpooledArtifact, Thought, ToolCall } = turncore;
const NOON = Date.UTC(2026, 0, 1, 12);
const dates = { createdAt: NOON, updatedAt: NOON };

const said = (id, content = 'text') => ({
  op: 'store',
  kind: 'message',
  record: new Message({ id, role: 'user', content, ...dates }),
});
const thought = (id) => ({
  op: 'store',
  kind: 'thought',
  record: new Thought({ id, content: 'hm', ...dates }),
});
const spooled = (id, text) => ({
  op: 'store',
  kind: 'toolCall',
  record: new ToolCall({
    id,
    tool: 'tool',
    args: {},
    checksum: turncore.toolCallChecksum('tool', {}),
    results: new SpooledArtifact(new MemoryReader(text)),
    isError: false,
    isComplete: true,
    completedAt: NOON,
    ...dates,
  }),
});

const methods = {
  /** Does at random what one in memory does too. */
  compare: ({ store }, { seed, rounds }) =>
    compareWithMemory({ turncore, records, store: store(), seed, rounds }),

  /** Commits a message and a thought. */
  write: ({ store }, { id }) =>
    store().commit('s', { deltas: [said(id), thought(id)], key: id, turn: 't' }),

  async ids({ store }) {
    const { messages, thoughts } = await store().load('s');
    return [messages, thoughts].map((list) => list.map(({ id }) => id));
  },

  /** Puts bytes of several parts and reads them. */
  async bytes({ store, storage }, { sizes }) {
    for (const size of sizes) {
      const want = new Uint8Array(size).map((_, i) => i % 251);
      for (const content of [want, new Blob([want]).stream()]) {
        await store().putBytes('s', 'id', content);
        const reader = await store().openBytes('s', 'id');
        const got = new Uint8Array(await new Response(await reader.stream()).arrayBuffer());
        if (got.length !== size || got.some((byte, i) => byte !== want[i])) return size;
      }
    }
    await store().delete('s');
    return [...storage.sql.exec('SELECT COUNT(*) FROM turncore_parts').raw()][0][0];
  },

  /** A result that a reader has, behind a new store. */
  async spool({ store }, { text }) {
    await store().commit('s', { deltas: [spooled('c', text)] });
    const { toolCalls } = await store().load('s');
    return toolCalls[0].results.asString();
  },

  long: ({ store }, { size }) => store().commit('s', { deltas: [said('long', 'x'.repeat(size))] }),

  /** Appends an event, a value and a version of an artifact, some of them long. @returns what is there afterwards */
  async append({ store }, { event, value, note, artifact }) {
    const bytes = (size) => new Uint8Array(size);
    await store().putBytes('s', 'bytes', bytes(artifact));
    const artifacts = await store().artifacts('s', '');
    const added = { scope: '', name: 'a', version: artifacts.length, body: bytes(note) };
    await store().append('s', {
      event: { id: `e${artifacts.length}`, body: bytes(event) },
      state: [{ scope: 'user', name: 'v', value: bytes(value) }],
      artifacts: [{ ...added, bytes: 'bytes' }],
    });
  },

  /** How many bytes each event, value and artifact has. */
  async appended({ store }) {
    const artifacts = await store().artifacts('s', '');
    const sizes = artifacts.map(async ({ version }) => {
      const reader = await store().openArtifact('s', '', 'a', version);
      return (await new Response(await reader.stream()).arrayBuffer()).byteLength;
    });
    return {
      events: (await store().events('s')).map(({ body }) => body.length),
      state: (await store().state('s', 'user')).map(({ value }) => value.length),
      artifacts: await Promise.all(sizes),
    };
  },

  /** Writes a journal, and a checkpoint in the place of its entry. */
  async journal({ store }, { entry, checkpoint }) {
    const bytes = (size) => new Uint8Array(size);
    await store().appendJournal('t', { epoch: 1, at: 0, entries: [bytes(entry)] });
    await store().compactJournal('t', { epoch: 1, before: 1, checkpoint: bytes(checkpoint) });
  },

  async journalSizes({ store }) {
    const { entries, checkpoint } = (await store().readJournal('t')) ?? { entries: [] };
    return [entries.map(({ length }) => length), checkpoint?.length ?? 0];
  },

  load: ({ store }) => store().load('s'),

  /** A statement on the tables. */
  sql: ({ storage }, { statement }) => [...storage.sql.exec(statement).raw()],
};

class Conversation {
  #storage;

  constructor({ storage }) {
    this.#storage = storage;
  }

  async fetch(request) {
    const { method, ...argument } = await request.json();
    const storage = this.#storage;
    try {
      const answer = await methods[method](
        { storage, store: () => durableObjectStore(storage) },
        argument,
      );
      return Response.json({ answer: answer ?? null });
    } catch (error) {
      const { code, message, details } = error;
      return Response.json({ error: { code, message, details } });
    }
  }
}

export class WithSql extends Conversation {}
export class Without extends Conversation {}

export default {
  fetch(request, env) {
    const [, name, object] = new URL(request.url).pathname.split('/');
    return env[name].get(env[name].idFromName(object)).fetch(request);
  },
};
