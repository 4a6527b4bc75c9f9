/**
 * What every store must do.
 */
import type { Delta } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import { isTurncoreError } from '../errors.js';
import type { Message } from '../primitives/message.js';
import { Media } from '../primitives/media.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import { ToolCall } from '../primitives/tool-call.js';
import { SpooledArtifact } from '../primitives/spooled-artifact.js';
import { MemoryReader } from '../readers/memory-reader.js';
import type { Conversation } from '../sessions/conversation.js';
import type { Appender } from '../store/appender.js';
import type { Journal } from '../store/journal.js';
import type { Commit, SessionInfo, Sessions, Store } from '../store/store.js';
import { appends } from './appends.js';
import { faults, faultsOfTwo } from './faults.js';
import { imports } from './imports.js';
import { journals } from './journals.js';
import {
  bytesIn,
  code,
  equal,
  failureOf,
  IDS,
  Opened,
  type Run,
  same,
  type StoreMaker,
} from './opened.js';
import {
  instruction,
  message,
  mutate,
  oneOfEach,
  remove,
  replace,
  store as put,
  TIME,
  toolCall,
} from './records.js';

/** A test of the suite. */
export interface StoreTest {
  readonly name: string;
  /** Rejects with an Error that says what the store did wrong. */
  readonly run: () => Promise<void>;
}

/**
 * The tests of a kind of store: of the required part; of the list of sessions, of events, state and artifacts, and of
 * journals, if it has them; and of a second opening of a database.
 *
 * @example
 * import { test } from 'node:test';
 * import { storeTests } from 'turncore/storetest';
 * for (const { name, run } of await storeTests({ open: () => new MyStore() })) test(name, run);
 */
export async function storeTests(maker: StoreMaker): Promise<StoreTest[]> {
  const probe = await maker.open();
  const lists = typeof (probe as Partial<Sessions>).list === 'function';
  const appending = typeof (probe as Partial<Appender>).append === 'function' && lists;
  const journaling = typeof (probe as Partial<Journal>).appendJournal === 'function' && appending;
  await maker.close?.(probe);
  const tests = {
    ...required,
    ...(lists ? { ...ofSessions, ...imports } : {}),
    ...(appending ? appends : {}),
    ...(journaling ? journals : {}),
    ...faults,
    ...(maker.again === undefined ? {} : { ...ofTwo, ...faultsOfTwo }),
  };
  return Object.entries(tests).map(([name, test]) => ({
    name,
    run: async () => {
      const opened = new Opened(maker);
      try {
        await test(opened);
      } finally {
        await opened.close();
      }
    },
  }));
}

const required: Record<string, Run> = {
  'a record of each kind comes back': async (opened) => {
    const store = await opened.open();
    const written = oneOfEach();
    await store.commit('s', {
      deltas: written.map(([kind, record]) => ({ op: 'store', kind, record })),
    });
    const c = await store.load('s');
    const read = [c.instructions, c.memories, c.retrievables, c.messages, c.thoughts, c.toolCalls];
    for (const [i, [kind, record]] of written.entries()) {
      equal(read[i]!.length, 1, kind);
      equal(plain(read[i]![0]!), plain(record), kind);
    }
    const [picture] = c.messages[0]!.attachments;
    const was = (written[3]![1] as Message).attachments[0]!;
    equal(await bytesIn(picture!.reader), await bytesIn(was.reader), 'the attachment');
  },

  'an unknown session is empty': async (opened) => {
    const store = await opened.open();
    const c = await store.load('nobody');
    equal(told(c), '', 'its messages');
    equal(await code(() => store.openBytes('nobody', 'x')), 'E_BYTES_NOT_FOUND', 'its bytes');
  },

  'records are in the order of storing, and keep their place': async (opened) => {
    const store = await opened.open();
    await write(store, put(message('a')), put(message('b')), put(message('c')));
    await write(
      store,
      mutate(message('a', 'changed')),
      put(message('d')),
      put(message('b', 'over')),
    );
    equal(told(await store.load('s')), 'a=changed b=over c=c d=d', 'changed');
    await write(store, remove('c'), remove('nothing'), put(message('c', 'again')));
    equal(told(await store.load('s')), 'a=changed b=over d=d c=again', 'deleted and stored');
  },

  'a group is replaced where it was': async (opened) => {
    const store = await opened.open();
    const calls = async (): Promise<string> =>
      (await store.load('s')).toolCalls.map(({ id }) => id).join(' ');
    await write(store, ...['a', 'b', 'c', 'd'].map((id) => put(toolCall(id))));
    await write(store, replace(['b', 'c'], toolCall('x'), toolCall('y'), toolCall('z')));
    equal(await calls(), 'a x y z d', 'in the middle');
    await write(store, replace(['z', 'd'], toolCall('e')), put(toolCall('f')));
    equal(await calls(), 'a x y e f', 'at the end');
    await write(store, replace(['nothing'], toolCall('g')), replace(['a'], toolCall('f')));
    equal(await calls(), 'f x y e g', 'by one that was there');
    for (let i = 0; i < 30; i++) {
      await write(
        store,
        replace([i === 0 ? 'x' : `r${i - 1}`], toolCall(`r${i}`), toolCall(`s${i}`)),
      );
    }
    const want = ['f', 'r29', ...Array.from({ length: 30 }, (_, i) => `s${29 - i}`), 'y', 'e', 'g'];
    equal(await calls(), want.join(' '), 'again and again in one place');
  },

  'instructions are a set of texts': async (opened) => {
    const store = await opened.open();
    const texts = async (): Promise<string> => (await store.load('s')).instructions.join(' ');
    await write(store, ...['a', 'b', 'a', 'c'].map(instruction.store));
    equal(await texts(), 'a b c', 'stored');
    await write(store, instruction.mutate('b', 'x'), instruction.mutate('a', 'c'));
    equal(await texts(), 'c x', 'changed');
    await write(
      store,
      instruction.remove('c'),
      instruction.remove('?'),
      instruction.mutate('?', 'y'),
    );
    equal(await texts(), 'x y', 'deleted');
  },

  'a revision gives what was added since': async (opened) => {
    const store = await opened.open();
    const first = await write(store, put(message('a')), instruction.store('i'));
    if (first === '') return; // It has no revisions.
    const second = await write(store, put(message('b')), put(toolCall('t')));
    const c = await store.load('s', first);
    equal([c.after, c.revision], [first, second], 'the revisions');
    equal([told(c), c.toolCalls.length, c.instructions.length], ['b=b', 1, 1], 'what was added');
    const none = await store.load('s', second);
    equal([none.after, told(none)], [second, ''], 'nothing was added');
    const third = await write(store, mutate(message('a', 'x')));
    const all = await store.load('s', second);
    equal([all.after ?? '', told(all)], ['', 'a=x b=b'], 'a change');
    equal(told(await store.load('s', third)), '', 'after the change');
    await write(store, remove('b'));
    equal(told(await store.load('s', third)), 'a=x', 'a deletion');
    for (const foreign of ['no revision', '-1', `${third}0`]) {
      equal((await store.load('s', foreign)).after ?? '', '', `after ${foreign}`);
    }
  },

  'a commit is stored once under a key': async (opened) => {
    const store = await opened.open();
    const commit = { deltas: [put(message('a'))], key: 'k1', turn: 'one' };
    const first = await store.commit('s', commit);
    await write(store, remove('a'));
    equal(await store.commit('s', commit), first, 'the answer of the second');
    equal(told(await store.load('s')), '', 'after the second');
    await store.commit('other', commit);
    equal(told(await store.load('other')), 'a=a', 'in another session');
    await store.commit('s', {
      deltas: [put(message('b'))],
      key: 'k2',
      turn: 'two',
      ended: ['one'],
    });
    equal(told(await store.load('s')), 'b=b', 'another key');
    await store.commit('s', commit);
    equal(told(await store.load('s')), 'b=b a=a', 'after the turn has ended');
    await store.commit('s', { deltas: [put(message('c'))], key: 'k2', turn: 'two' });
    equal(told(await store.load('s')), 'b=b a=a', 'the other turn has not ended');
  },

  'of two writers of a record the second loses, and stores nothing': async (opened) => {
    const store = await opened.open();
    const seen = await write(
      store,
      ...['a', 'b', 'c'].map((id) => put(message(id))),
      put(toolCall('t')),
    );
    if (seen === '') return; // It has no revisions.
    await write(store, mutate(message('a', 'theirs')), remove('b'), replace(['t'], toolCall('u')));
    const mine = put(message('mine'));
    for (const [id, delta] of [
      ['a', mutate(message('a', 'x'))],
      ['a', put(message('a', 'x'))],
      ['a', remove('a')],
      ['b', remove('b')],
      ['b', mutate(message('b', 'x'))],
      ['t', replace(['t'], toolCall('v'))],
      ['u', replace(['u'], toolCall('v'))],
    ] as const) {
      const error: unknown = await failureOf(() =>
        store.commit('s', { deltas: [mine, delta], revision: seen }),
      );
      equal(
        isTurncoreError(error, 'E_SESSION_CONFLICT'),
        true,
        `${delta.op} ${id}: ${String(error)}`,
      );
      const details = (error as { details?: { session?: string; id?: string } }).details ?? {};
      equal([details.session, details.id], ['s', id], 'what the error names');
    }
    equal(told(await store.load('s')), 'a=theirs c=c', 'after the conflicts');
    await store.commit('s', { deltas: [mine, mutate(message('c', 'x'))], revision: seen });
    equal(told(await store.load('s')), 'a=theirs c=x mine=mine', 'what does not touch the changes');
  },

  'a writer’s own revisions are no conflict': async (opened) => {
    const store = await opened.open();
    const revision = await write(store, put(message('a')), put(message('b')));
    if (revision === '') return; // It has no revisions.
    let commits = 0;
    const own = (deltas: Delta[], by: Partial<Commit> = {}) =>
      store.commit('s', { deltas, turn: 't', key: `k${++commits}`, revision, ...by });
    await own([mutate(message('a', '1')), remove('b')]);
    await own([mutate(message('a', '2')), remove('b')]);
    await write(store, put(message('theirs')));
    await own([mutate(message('a', '3'))]);
    equal(told(await store.load('s')), 'a=3 theirs=theirs', 'after all');
    const late = () => own([mutate(message('theirs', 'x'))]);
    equal(await code(late), 'E_SESSION_CONFLICT', 'a record that another writer added');
    for (const by of [{ turn: 'other' }, { turn: '' }, { turn: undefined }]) {
      const theirs = () => own([mutate(message('a', 'x'))], by);
      equal(await code(theirs), 'E_SESSION_CONFLICT', `another turn: ${by.turn}`);
    }
    await own([mutate(message('a', '4'))], { key: '' });
    const keyless = () => own([mutate(message('a', '5'))]);
    equal(await code(keyless), 'E_SESSION_CONFLICT', 'a commit without a key is nobody’s');
    equal(told(await store.load('s')), 'a=4 theirs=theirs', 'after the conflicts');
  },

  'what lies between a writer’s own revisions is not its own': async (opened) => {
    const store = await opened.open();
    const revision = await write(store, put(message('a')), put(message('b')));
    if (revision === '') return; // It has no revisions.
    const by = { turn: 't', revision };
    await store.commit('s', { deltas: [put(message('m'))], key: 'k1', ...by });
    await write(store, mutate(message('a', 'theirs')));
    await store.commit('s', { deltas: [put(message('n'))], key: 'k2', ...by });
    const over = () => store.commit('s', { deltas: [mutate(message('a', 'x'))], key: 'k3', ...by });
    equal(await code(over), 'E_SESSION_CONFLICT', 'their change');
    const mine = [mutate(message('b', 'x')), mutate(message('m', 'x'))];
    await store.commit('s', { deltas: mine, key: 'k4', ...by });
    equal(told(await store.load('s')), 'a=theirs b=x m=x n=n', 'what is its own');
  },

  'bytes are kept, opened and replaced': async (opened) => {
    const store = await opened.open();
    const long = new Uint8Array(2_500_000).map((_, i) => (i * 7) % 251);
    const pieces = new ReadableStream<Uint8Array>({
      start(to) {
        for (let at = 0; at < long.length; at += 300_000)
          to.enqueue(long.subarray(at, at + 300_000));
        to.close();
      },
    });
    await store.putBytes('s', 'text', 'one\ntwo — ü\n');
    await store.putBytes('s', 'empty', new Uint8Array(0));
    await store.putBytes('s', 'long', long);
    await store.putBytes('s', 'stream', pieces);
    const text = await store.openBytes('s', 'text');
    equal(await text.readAll(), 'one\ntwo — ü\n', 'the text');
    equal([await text.line(1), await text.lineCount()], ['two — ü', 3], 'its lines');
    for (const id of ['long', 'stream']) {
      const reader = await store.openBytes('s', id);
      equal(await reader.byteLength(), long.length, `the length of ${id}`);
      equal(same(await bytesIn(reader), long), true, `the bytes of ${id}`);
    }
    equal(await bytesIn(await store.openBytes('s', 'empty')), [], 'no bytes');
    const content = `sha256-${'0'.repeat(64)}`; // an id that says what the bytes are
    await store.putBytes('s', content, long);
    const reading = await store.openBytes('s', content);
    await store.putBytes('s', content, long);
    equal(
      same(await bytesIn(reading), long),
      true,
      'bytes that were put again before they were read',
    );
    await store.putBytes('s', 'text', 'other');
    equal(await (await store.openBytes('s', 'text')).readAll(), 'other', 'replaced');
    equal(
      await code(() => store.openBytes('t', 'text')),
      'E_BYTES_NOT_FOUND',
      'of another session',
    );
  },

  'an artifact’s text comes back with its record': async (opened) => {
    const store = await opened.open();
    const { id, tool, args, checksum, createdAt, completedAt, updatedAt } = toolCall('t');
    const text = Array.from({ length: 3000 }, (_, i) => `line ${i} ü`).join('\n');
    const results = new SpooledArtifact(new MemoryReader(text));
    const done = { isComplete: true, isError: false, results };
    const call = new ToolCall({
      id,
      tool,
      args,
      checksum,
      createdAt,
      completedAt,
      updatedAt,
      ...done,
    });
    await write(store, put(call));
    const [read] = (await store.load('s')).toolCalls;
    const artifact = read!.results as SpooledArtifact;
    equal(await artifact.asString(), text, 'the text');
    await write(store, mutate(read!));
    const [again] = (await store.load('s')).toolCalls;
    equal(await (again!.results as SpooledArtifact).asString(), text, 'stored again');
  },

  'any text is an id': async (opened) => {
    const store = await opened.open();
    for (const id of IDS) {
      await store.commit(id, {
        deltas: IDS.map((each) => put(message(each, `${id} ${each}`))),
        key: id,
      });
      await store.putBytes(id, id, id);
    }
    for (const id of IDS) {
      const c = await store.load(id);
      equal(
        c.messages.map((m) => m.id),
        IDS,
        `of ${id}`,
      );
      equal(String(c.messages[0]!.content), `${id} ${IDS[0]}`, `of ${id}`);
      equal(await (await store.openBytes(id, id)).readAll(), id, `the bytes of ${id}`);
    }
  },

  'commits at the same time are all stored, each whole': async (opened) => {
    const store = await opened.open();
    const commits = Array.from({ length: 64 }, (_, i) =>
      store.commit(`s${i % 8}`, {
        deltas: [put(message(`a${i}`)), put(message(`b${i}`))],
        key: `k${i}`,
        turn: 't',
      }),
    );
    const revisions = await Promise.all(commits.map((each) => Promise.resolve(each)));
    if (revisions[0] !== '') equal(new Set(revisions).size, 64, 'different revisions');
    for (let s = 0; s < 8; s++) {
      const ids = (await store.load(`s${s}`)).messages.map(({ id }) => id);
      const want = Array.from({ length: 8 }, (_, n) => [`a${s + 8 * n}`, `b${s + 8 * n}`]).flat();
      equal(ids.toSorted(), want.toSorted(), `s${s}`);
      for (let i = 0; i < ids.length; i += 2) equal(ids[i + 1], ids[i]!.replace('a', 'b'), 'pairs');
    }
  },

  'five thousand messages are loaded whole, and then what is added': async (opened) => {
    const store = await opened.open();
    const ids = Array.from({ length: 5000 }, (_, i) => `m${i}`);
    const revision = await write(
      store,
      ...ids.map((id) => put(message(id, 'What a message says.'))),
    );
    const c = await store.load('s');
    equal(
      c.messages.map(({ id }) => id),
      ids,
      'all',
    );
    await write(store, put(message('last')));
    if (revision !== '') equal(told(await store.load('s', revision)), 'last=last', 'the last');
  },
};

const ofSessions: Record<string, Run> = {
  'sessions are listed, those updated last first': async (opened) => {
    const store = await opened.sessions();
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await store.commit(id, { deltas: [put(message(id))] });
    await store.commit('b', { deltas: [put(message('x'))] });
    const all = await pages(store, 2);
    equal(
      all.map(({ id }) => id),
      ['b', 'e', 'd', 'c', 'a'],
      'the ids',
    );
    const [b] = all;
    equal([b!.title, b!.messages], ['', 2], 'what is told');
    equal(b!.revision, (await store.load('b')).revision, 'the revision');
    equal(b!.createdAt <= b!.updatedAt, true, 'the times');
    equal((await store.list()).sessions.length, 5, 'without options');
  },

  'a session is found': async (opened) => {
    const store = await opened.sessions();
    equal(await store.find('s'), undefined, 'before its first write');
    for (let i = 0; i < 30; i++) await store.commit(`${i}`, { deltas: [put(message('a'))] });
    await store.commit('s', { deltas: [put(message('a')), put(message('b'))] });
    await store.setTitle('s', 'Tea — ü');
    await store.putBytes('bytes', 'x', 'y');
    const { sessions } = await store.list();
    for (const id of ['s', '0', '17', 'bytes']) {
      equal(
        await store.find(id),
        sessions.find((each) => each.id === id),
        `what is told of ${id}`,
      );
    }
    const { title, messages, revision } = (await store.find('s'))!;
    const loaded = (await store.load('s')).revision;
    equal([title, messages, revision], ['Tea — ü', 2, loaded], 'what is told');
    await store.delete('s');
    equal(await store.find('s'), undefined, 'after it was deleted');
  },

  'a session is given a title': async (opened) => {
    const store = await opened.sessions();
    const revision = await store.commit('s', { deltas: [put(message('a'))] });
    await store.commit('later', { deltas: [put(message('a'))] });
    await store.setTitle('s', 'Tea — ü');
    const [, s] = (await store.list()).sessions;
    equal([s!.id, s!.title, s!.revision], ['s', 'Tea — ü', revision], 'the title');
    await store.commit('s', { deltas: [put(message('b'))] });
    equal((await store.list()).sessions[0]!.title, 'Tea — ü', 'after a commit');
    equal(await code(() => store.setTitle('nobody', 'x')), 'E_SESSION_NOT_FOUND', 'of no session');
  },

  'a fork begins with what the session has': async (opened) => {
    const store = await opened.sessions();
    await store.putBytes('s', 'x', 'bytes');
    await store.commit('s', {
      deltas: oneOfEach().map(([kind, record]) => ({ op: 'store', kind, record })),
    });
    await store.setTitle('s', 'title');
    await store.fork('s', 'f');
    await store.commit('s', { deltas: [remove('message')] });
    await store.delete('s');
    const c = await store.load('f');
    const counts = [
      c.instructions,
      c.memories,
      c.retrievables,
      c.messages,
      c.thoughts,
      c.toolCalls,
    ];
    equal(
      counts.map(({ length }) => length),
      [1, 1, 1, 1, 1, 1],
      'its records',
    );
    const [picture] = c.messages[0]!.attachments;
    equal(await bytesIn(picture!.reader), [137, 80, 78, 71, 0, 255], 'its attachment');
    equal(await (await store.openBytes('f', 'x')).readAll(), 'bytes', 'its bytes');
    equal(await store.newest('f'), TIME, 'its newest time');
    const { sessions } = await store.list();
    equal(
      sessions.map(({ id, title }) => `${id} ${title}`),
      ['f title'],
      'the list',
    );
    await store.commit('f', { deltas: [put(message('new')), mutate(message('message', 'x'))] });
    equal(told(await store.load('f')), 'message=x new=new', 'written');
    equal(await code(() => store.fork('nobody', 'g')), 'E_SESSION_NOT_FOUND', 'of no session');
    equal(await code(() => store.fork('f', 'f')), 'E_SESSION_EXISTS', 'to one that is there');
  },

  'a deleted session is gone, and begins anew': async (opened) => {
    const store = await opened.sessions();
    await store.delete('nobody');
    const commit = { deltas: [put(message('a'))], key: 'k', turn: 't' };
    const revision = await store.commit('s', commit);
    await store.putBytes('s', 'x', 'bytes');
    await store.delete('s');
    equal(told(await store.load('s', revision)), '', 'its messages');
    equal(await code(() => store.openBytes('s', 'x')), 'E_BYTES_NOT_FOUND', 'its bytes');
    equal(await store.newest('s'), undefined, 'its newest time');
    equal((await store.list()).sessions.length, 0, 'the list');
    const again = await store.commit('s', commit);
    equal(again === revision, false, 'its revision is another');
    const c = await store.load('s', revision);
    equal([c.after ?? '', told(c)], ['', 'a=a'], 'after the old revision');
    const stale = () => store.commit('s', { deltas: [mutate(message('a', 'x'))], revision });
    equal(await code(stale), 'E_SESSION_CONFLICT', 'a writer of the old one');
  },

  'the newest time does not go back': async (opened) => {
    const store = await opened.sessions();
    equal(await store.newest('s'), undefined, 'of no session');
    await store.commit('s', { deltas: [put(message('a', 'a', TIME + 5)), put(message('b'))] });
    equal(await store.newest('s'), TIME + 5, 'stored');
    await store.commit('s', { deltas: [put(toolCall('t', TIME + 9)), remove('a')] });
    await store.commit('s', { deltas: [{ op: 'delete', kind: 'toolCall', id: 't' }] });
    equal(await store.newest('s'), TIME + 9, 'deleted');
  },

  'ten thousand sessions are listed page by page': async (opened) => {
    const store = await opened.sessions();
    const count = opened.maker.sessions ?? 10_000;
    for (let from = 0; from < count; from += 500) {
      const some = Array.from({ length: Math.min(500, count - from) }, (_, i) =>
        store.commit(`s${from + i}`, { deltas: [put(message('m'))] }),
      );
      await Promise.all(some.map((each) => Promise.resolve(each)));
    }
    const ids = (await pages(store, 997)).map(({ id }) => id);
    equal([ids.length, new Set(ids).size], [count, count], 'each once');
  },
};

const ofTwo: Record<string, Run> = {
  'what was committed is there when the database is opened again': async (opened) => {
    const store = await opened.open();
    const revision = await write(
      store,
      put(message('a')),
      put(toolCall('t')),
      instruction.store('i'),
    );
    await store.putBytes('s', 'x', 'bytes');
    const other = await opened.again(store);
    const c = await other.load('s');
    equal([told(c), c.toolCalls.length, String(c.instructions)], ['a=a', 1, 'i'], 'the records');
    equal(await (await other.openBytes('s', 'x')).readAll(), 'bytes', 'the bytes');
    await other.commit('s', { deltas: [put(message('b'))] });
    equal(told(await store.load('s', revision)), 'b=b', 'what the other has written');
  },

  'a key holds for every writer': async (opened) => {
    const store = await opened.open();
    const commit = { deltas: [put(message('a'))], key: 'k', turn: 't' };
    const first = await store.commit('s', commit);
    await write(store, remove('a'));
    const other = await opened.again(store);
    equal(await other.commit('s', commit), first, 'the answer');
    equal(told(await other.load('s')), '', 'the messages');
  },

  'of two processes each loses what the other changed first': async (opened) => {
    const store = await opened.open();
    const other = await opened.again(store);
    const revision = await write(store, put(message('a')));
    const [one, two] = await Promise.all(
      [store, other].map((each, i) =>
        code(() =>
          each.commit('s', {
            deltas: [mutate(message('a', `${i}`)), put(message(`m${i}`))],
            revision,
          }),
        ),
      ),
    );
    equal([one, two].toSorted(), ['', 'E_SESSION_CONFLICT'], 'the outcomes');
    const winner = one === '' ? 0 : 1;
    equal(told(await store.load('s')), `a=${winner} m${winner}=m${winner}`, 'the messages');
  },
};

/** Commits writes without a revision. */
async function write(store: Store, ...deltas: Delta[]): Promise<string> {
  return (await store.commit('s', { deltas })) ?? '';
}

/** The messages of a conversation. */
function told(c: Conversation): string {
  return c.messages.map(({ id, content }) => `${id}=${String(content)}`).join(' ');
}

/** The data of a record without its readers. */
function plain(record: Entry): unknown {
  if (record instanceof Tokenizable) return record.toString();
  const data: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(record))) {
    const value: unknown = name === 'constructor' ? undefined : Reflect.get(record, name);
    if (value instanceof Tokenizable) data[name] = value.toString();
    else if (typeof value !== 'function' && !isReadable(value)) data[name] = value;
  }
  for (const [name, value] of Object.entries(record)) {
    data[name] = value instanceof Tokenizable ? value.toString() : isReadable(value) ? 0 : value;
  }
  return data;
}

/** Whether a value is, or has, what is read by a reader. */
function isReadable(value: unknown): boolean {
  return Array.isArray(value) && value.some((each) => each instanceof Media);
}

/** All sessions, page by page. */
async function pages(store: Sessions, limit: number): Promise<SessionInfo[]> {
  const all: SessionInfo[] = [];
  for (let cursor = ''; ;) {
    const page = await store.list({ cursor, limit });
    if (page.sessions.length > limit)
      throw new Error(`a page has ${page.sessions.length} sessions`);
    all.push(...page.sessions);
    if (page.next === '') return all;
    cursor = page.next;
  }
}
