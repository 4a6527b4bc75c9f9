/**
 * Conversations as documents: the one that Go reads and writes too.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Delta } from '../../src/collections/deltas.js';
import type { Entry } from '../../src/collections/kinds.js';
import { Media } from '../../src/primitives/media.js';
import { Message } from '../../src/primitives/message.js';
import type { ConduitBytes } from '../../src/primitives/readers.js';
import type { SpooledArtifact } from '../../src/primitives/spooled-artifact.js';
import { Tokenizable } from '../../src/primitives/tokenizable.js';
import { MemoryReader } from '../../src/readers/memory-reader.js';
import { storeError } from '../../src/store-errors.js';
import {
  type DocumentStore,
  exportConversation,
  importConversation,
} from '../../src/stored/document.js';
import { collectBytes } from '../../src/store/byte-store.js';
import type { Appender } from '../../src/store/appender.js';
import type { Sessions } from '../../src/store/store.js';
import { fullMemoryStore } from '../../src/stores/memory.js';
import type { Conversation } from '../../src/sessions/conversation.js';
import { root } from '../instance/go-guest.js';

const text = readFileSync(new URL('abi/testdata/records/conversation.json', root), 'utf8');
const data = JSON.parse(text) as Record<string, unknown>;

const lists = {
  standingInstruction: 'instructions',
  memory: 'memories',
  retrievable: 'retrievables',
  message: 'messages',
  thought: 'thoughts',
  toolCall: 'toolCalls',
} as const;

type Appended = Sessions & Appender;

/** A store of the bare minimum. */
class Kept implements DocumentStore {
  readonly sessions = new Map<string, Delta[]>();
  readonly #bytes = new Map<string, MemoryReader>();

  load(session: string): Conversation {
    const loaded: Record<string, Entry[]> = {};
    for (const list of Object.values(lists)) loaded[list] = [];
    for (const delta of this.sessions.get(session) ?? []) {
      if (delta.op === 'store') loaded[lists[delta.kind]]!.push(delta.record);
    }
    return loaded as unknown as Conversation;
  }

  commit(session: string, { deltas }: { readonly deltas: readonly Delta[] }): void {
    this.sessions.set(session, [...(this.sessions.get(session) ?? []), ...deltas]);
  }

  async putBytes(session: string, id: string, content: ConduitBytes): Promise<void> {
    this.#bytes.set(`${session}/${id}`, new MemoryReader(await collectBytes(content)));
  }

  openBytes(session: string, id: string): MemoryReader {
    const reader = this.#bytes.get(`${session}/${id}`);
    if (reader === undefined) throw storeError('E_BYTES_NOT_FOUND', `session ${session}, id ${id}`);
    return reader;
  }
}

/** A store that lists its sessions. */
class Listed extends Kept {
  readonly titles = new Map<string, string>();

  find(session: string): ReturnType<NonNullable<DocumentStore['find']>> {
    if (!this.sessions.has(session)) return undefined;
    const createdAt = new Date('2024-02-29T13:05:09.007Z');
    return { title: this.titles.get(session) ?? '', createdAt };
  }

  setTitle(session: string, title: string): void {
    this.titles.set(session, title);
  }
}

describe('documents', () => {
  it('travel through a store as they are, like in Go', async () => {
    const store = new Listed();
    store.commit('other', { deltas: [] });
    assert.equal(await importConversation(store, text), 'tea');
    assert.equal(await exportConversation(store, 'tea'), text);
    const loaded = store.load('tea');
    const [first, second] = loaded.toolCalls[0]!.results as SpooledArtifact[];
    assert.equal(await first!.asString(), 'one\ntwo');
    assert.equal(await second!.asString(), '');
    assert.deepEqual(
      [...(await loaded.messages[0]!.attachments[0]!.asBytes())],
      [255, 216, 0, 255],
    );
  });

  it('travel from a store that lists nothing, without title and date', async () => {
    const store = new Kept();
    await importConversation(store, JSON.parse(text) as never, 'mine');
    const { title: _title, createdAt: _createdAt, ...bare } = data;
    const exported: unknown = JSON.parse(await exportConversation(store, 'mine'));
    assert.deepEqual(exported, { ...bare, id: 'mine' });
  });

  it('have what only this process can read', async () => {
    const store = new Kept();
    const parts = { id: 'i', kind: 'image', mimeType: 'image/png', filename: 'a' } as const;
    const attachments = [
      Media.userAttachment({ ...parts, reader: new MemoryReader('text') }),
      Media.userAttachment({ ...parts, reader: new MemoryReader(Uint8Array.of(255)) }),
    ];
    const at = new Date(5);
    const message = new Message({
      id: 'm',
      role: 'user',
      attachments,
      createdAt: at,
      updatedAt: at,
    });
    store.commit('a', { deltas: [{ op: 'store', kind: 'message', record: message }] });
    const exported = await exportConversation(store, 'a');
    assert.match(exported, /"text": "text"[^]*"base64": "\/w=="/);
    await importConversation(store, exported, 'b');
    const [again] = store.load('b').messages;
    assert.equal(await again!.attachments[0]!.asBase64(), 'dGV4dA==');
    assert.equal(await again!.attachments[1]!.asBase64(), '/w==');
  });

  it('are refused by name if they are none', async () => {
    const changed = (from: string, to: string): string => {
      assert.ok(text.includes(from), from);
      return text.replace(from, to);
    };
    const cases: readonly (readonly [string, string])[] = [
      ['{', 'it is not JSON: '],
      ['{"v": 1}', 'its format is'],
      ['{"format": "turncore.conversation", "v": 1, "id": "x", "title": "y"}', 'it has no records'],
      [changed('"v": 1,', '"v": 2,'), 'version 2: a document of a later version'],
      [changed('"v": 1,', '"v": 0,'), 'it has no version'],
      [changed('"title"', '"titel"'), 'titel'],
      [changed('"createdAt": "2', '"createdAt": "x2'), 'createdAt: it is not a time'],
      [changed('"role": "user"', '"role": "boss"'), 'session "new", message "q1": '],
      [changed('"Answer in French."', '""'), 'instructions[0]: it is empty'],
      [changed('"b-text": {', '"b-other": {'), 'bytes "b-text" are missing'],
      [changed('"base64": "', '"base64": "!'), 'bytes "b-image": '],
      [changed('"text": "one', '"texts": "one'), 'bytes "b-text": '],
      [changed('"text": "one', '"base64": "", "text": "'), 'one of text and base64 is required'],
    ];
    for (const [document, want] of cases) {
      const store = new Kept();
      await assert.rejects(importConversation(store, document, 'new'), (error: Error) => {
        assert.equal((error as Error & { code: string }).code, 'E_STORED_RECORD_INVALID');
        assert.ok(error.message.includes(want), `${error.message}, want ${want}`);
        return true;
      });
      assert.equal(store.sessions.size, 0, want);
    }
    const store = new Kept();
    await importConversation(store, text);
    await assert.rejects(importConversation(store, text), { code: 'E_SESSION_EXISTS' });
    await assert.rejects(exportConversation(store, 'none'), { code: 'E_SESSION_NOT_FOUND' });
    const dynamic = new Tokenizable(() => 'now');
    store.commit('d', { deltas: [{ op: 'store', kind: 'standingInstruction', record: dynamic }] });
    await assert.rejects(exportConversation(store, 'd'), { code: 'E_RECORD_UNSTORABLE' });
  });

  it('are refused in the words of Go, and leave nothing', async () => {
    const file = new URL('abi/testdata/records/documents.json', root);
    const cases = JSON.parse(readFileSync(file, 'utf8')) as { document: object; says?: string }[];
    assert.ok(cases.length >= 50, String(cases.length));
    for (const { document, says } of cases) {
      const store = fullMemoryStore();
      const imported = importConversation(store, JSON.stringify(document));
      if (says === undefined) {
        await imported;
        continue;
      }
      await assert.rejects(imported, (error: Error & { code?: string }) => {
        assert.equal(error.code, 'E_STORED_RECORD_INVALID');
        assert.ok(
          error.message.endsWith(`: the document: ${says}`),
          `${error.message}, not ${says}`,
        );
        return true;
      });
      assert.deepEqual((await store.list()).sessions, [], says);
    }
  });

  it('name no artifacts of the user, neither written nor read, like in Go', async () => {
    const file = new URL('abi/testdata/records/own-events.json', root);
    interface Case {
      readonly title: string;
      readonly body: string;
      readonly own: string;
    }
    const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[];
    assert.ok(cases.length >= 8, String(cases.length));
    for (const { title, body, own } of cases) {
      const store = fullMemoryStore();
      await store.append('s', { event: { id: 'e1', body: Buffer.from(body, 'base64') } });
      const events = [{ id: 'e1', body: { base64: body } }];
      const written = await exportConversation(store, 's');
      const read = JSON.stringify({ format: 'turncore.conversation', v: 1, id: 's', events });
      for (const document of [written, read]) {
        const other = fullMemoryStore();
        await importConversation(other, document);
        const [event] = await other.events('s');
        assert.equal(Buffer.from(event!.body).toString('base64'), own, title);
      }
      if (body !== own) assert.ok(!written.includes(body), title);
    }
  });

  it('leave nothing of a session that was not there, whichever write fails', async () => {
    let writes = 0;
    for (let n = 1; ; n++) {
      const store = fullMemoryStore();
      const failing = failingAt(store, n);
      const failed: unknown = await importConversation(failing, whole(), 's').then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failed === undefined) break;
      writes = n;
      assert.match((failed as Error).message, /the disk is full/, String(n));
      assert.deepEqual((await store.list()).sessions, [], `write ${n}`);
      await importConversation(failing, whole(), 's');
    }
    assert.ok(writes >= 12, String(writes));
  });

  it('keep what another writer stores meanwhile', async () => {
    for (let n = 1; n <= 6; n++) {
      const store = fullMemoryStore();
      const theirs = { event: { id: 'theirs', body: Uint8Array.of(0x80) } };
      let left = n;
      const meeting = wrapped(store, async (method) => {
        if (method === 'append' && --left === 0) await store.append('s', theirs);
      });
      await assert.rejects(importConversation(meeting, whole(), 's'), {
        code: 'E_SESSION_CONFLICT',
      });
      const [last] = await store.events('s', { limit: 1, newest: true });
      assert.equal(last!.id, 'theirs', `append ${n}`);
    }
  });
});

/** A store whose writes do something before. */
function wrapped(store: Appended, before: (method: string) => void | Promise<void>): Appended {
  return new Proxy(store, {
    get: (of, name) => {
      const method = Reflect.get(of, name, of) as (...args: unknown[]) => unknown;
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        await before(String(name));
        return method.apply(of, args);
      };
    },
  });
}

/** A store whose n-th write fails. */
function failingAt(store: Appended, n: number): Appended {
  let left = n;
  return wrapped(store, (method) => {
    if (!['putBytes', 'commit', 'append', 'setTitle', 'fork'].includes(method)) return;
    if (--left === 0) throw new Error('the disk is full');
  });
}

/** A document with records, bytes, events, state and artifacts. */
function whole(): string {
  const appended = readFileSync(new URL('abi/testdata/records/appended.json', root), 'utf8');
  return JSON.stringify({ ...(JSON.parse(appended) as object), ...data });
}
