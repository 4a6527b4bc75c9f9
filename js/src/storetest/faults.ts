/**
 * What a store must do when calls fail, or their answers are lost, or its process ends, at any point of a conversation.
 */
import type { Appender } from '../store/appender.js';
import type { Journal } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { bytesIn, equal, type Opened, type Run } from './opened.js';
import {
  instruction,
  message,
  mutate,
  oneOfEach,
  remove,
  replace,
  store as put,
  toolCall,
} from './records.js';

/** A call of a store. It can be asked for again. */
type Call = (store: Store) => Promise<unknown>;

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** The calls of a conversation, in a session, with all that a store may have. */
function calls(store: Store, session: string): Call[] {
  const by = { turn: session };
  const commit =
    (key: string, ...deltas: ReturnType<typeof put>[]): Call =>
    async (s) =>
      s.commit(session, { deltas, key, ...by });
  const list: Call[] = [
    commit('k0', ...oneOfEach().map(([kind, record]) => ({ op: 'store' as const, kind, record }))),
    commit('k1', put(message('a')), put(message('b')), put(toolCall('x')), put(toolCall('y'))),
    async (s) => s.putBytes(session, 'bytes', 'of the conversation'),
    commit('k2', mutate(message('a', 'changed')), remove('b'), instruction.store('Be brief.')),
    commit('k3', replace(['x', 'y'], toolCall('z'), toolCall('w')), put(message('c'))),
  ];
  if (typeof (store as Partial<Appender>).append === 'function') {
    const append =
      (n: number): Call =>
      async (s) =>
        (s as Appender).append(session, {
          event: { id: `e${n}`, body: utf8.encode(`event ${n}`) },
          state: [
            { scope: '', name: 'n', value: utf8.encode(`${n}`) },
            { scope: session, name: `n${n}`, value: utf8.encode('there') },
          ],
          artifacts: [
            { scope: '', name: 'art', version: n, bytes: 'bytes', body: utf8.encode(`v${n}`) },
          ],
          key: `a${n}`,
          ...by,
        });
    list.push(append(0), append(1));
  }
  if (typeof (store as Partial<Journal>).appendJournal === 'function') {
    const entry =
      (at: number): Call =>
      async (s) => {
        const entries = [utf8.encode(`entry ${at}`), utf8.encode(`entry ${at + 1}`)];
        await (s as Journal).appendJournal(session, { epoch: 1, at, entries });
      };
    const compact: Call = async (s) => {
      const checkpoint = utf8.encode('before 2');
      await (s as Journal).compactJournal(session, { epoch: 1, before: 2, checkpoint });
    };
    list.push(entry(0), entry(2), compact);
  }
  // Behind it no key is known.
  list.push(async (s) =>
    s.commit(session, { deltas: [put(message('last'))], key: 'k4', turn: 'two' }),
  );
  return list;
}

/** All that a store has of the conversation. */
async function told(store: Store, session: string): Promise<unknown> {
  const c = await store.load(session);
  const ids = [c.memories, c.retrievables, c.thoughts, c.toolCalls].map((list) =>
    list.map(({ id }) => id),
  );
  const messages = c.messages.map(({ id, content }) => `${id}=${String(content)}`);
  const attached = [];
  for (const { attachments } of c.messages) {
    for (const { reader } of attachments) attached.push(await bytesIn(reader));
  }
  const bytes: unknown[] = [];
  try {
    bytes.push(await (await store.openBytes(session, 'bytes')).readAll());
  } catch {
    // They are not there yet.
  }
  const events = hasEvents(store) ? await happened(store, session) : [];
  const journal = hasJournal(store) ? await store.readJournal(session) : undefined;
  const entries = journal?.entries.map((entry) => [...entry]);
  return [String(c.instructions), ids, messages, attached, bytes, events, entries, journal?.first];
}

/** What a store has of events, state and artifacts, in words. */
async function happened(store: Appender, session: string): Promise<string[]> {
  const words = (await store.events(session)).map(({ id, body }) => `${id}: ${text.decode(body)}`);
  for (const scope of ['', session]) {
    for (const { name, value } of await store.state(session, scope)) {
      words.push(`${name}=${text.decode(value)}`);
    }
  }
  for (const { name, version } of await store.artifacts(session, '')) {
    const reader = await store.openArtifact(session, '', name, version);
    words.push(`${name} ${version}: ${await reader.readAll()}`);
  }
  return words;
}

function hasEvents(store: Store): store is Appender {
  return typeof (store as Partial<Appender>).append === 'function';
}

function hasJournal(store: Store): store is Journal {
  return typeof (store as Partial<Journal>).appendJournal === 'function';
}

/** Plays the conversation once for each of its calls, to which something happens, each time in another session. */
async function played(
  opened: Opened,
  happens: (call: Call, store: Store, session: string) => Promise<Store>,
): Promise<void> {
  let store = await opened.open();
  const want: unknown[] = [];
  for (const call of calls(store, 'whole')) {
    await call(store);
    want.push(await told(store, 'whole'));
  }
  for (const met of want.keys()) {
    const session = `call ${met}`;
    for (const [n, call] of calls(store, session).entries()) {
      if (n === met) store = await happens(call, store, session);
      else await call(store);
      equal(await told(store, session), want[n], `after call ${n}, when call ${met} met it`);
    }
  }
}

/** Makes a commit that the store refuses on the way, since one of its writes is none. */
async function fail(store: Store, session: string): Promise<void> {
  const deltas = [put(message('never')), { op: 'store', kind: 'nothing' } as never];
  try {
    await store.commit(session, { deltas, key: 'broken', turn: session });
  } catch {
    return;
  }
  throw new Error('a commit with a write of an unknown kind succeeds');
}

export const faults: Record<string, Run> = {
  'a call whose answer is lost is asked for again': async (opened) =>
    played(opened, async (call, store) => {
      await call(store);
      await call(store);
      return store;
    }),

  'a call that is made twice at once': async (opened) =>
    played(opened, async (call, store) => {
      await Promise.all([call(store), call(store)]);
      return store;
    }),

  'a commit that fails stores nothing, at any point': async (opened) =>
    played(opened, async (call, store, session) => {
      await fail(store, session);
      await call(store);
      return store;
    }),
};

export const faultsOfTwo: Record<string, Run> = {
  'a process that ends at any point loses nothing that was answered': async (opened) =>
    played(opened, async (call, store) => {
      await call(store);
      return opened.again(store);
    }),

  'a call whose answer was lost with its process is asked for by the next': async (opened) =>
    played(opened, async (call, store) => {
      await call(store);
      const next = await opened.again(store);
      await call(next);
      return next;
    }),

  'a call that two processes make at once': async (opened) =>
    played(opened, async (call, store) => {
      const other = await opened.again(store);
      await Promise.all([call(store), call(other)]);
      return store;
    }),
};
