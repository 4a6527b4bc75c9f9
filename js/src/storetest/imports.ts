/**
 * What a store must do when the process ends that imports a session.
 */
import type { Appender } from '../store/appender.js';
import type { Sessions } from '../store/store.js';
import { exportConversation, importConversation } from '../stored/document.js';
import { code, equal, failureOf, type Run } from './opened.js';
import { oneOfEach } from './records.js';

/** What writes in a store. */
const WRITES = ['commit', 'putBytes', 'append', 'setTitle', 'fork', 'delete'];

/** The encoding of an event that has an id alone. */
function eventOf(id: string): Uint8Array {
  const text = new TextEncoder().encode(id);
  return Uint8Array.of(0x81, 0xa2, 0x69, 0x64, 0xa0 + text.length, ...text);
}

export const imports: Record<string, Run> = {
  'an import whose process ends at any point leaves no part of a session': async (opened) => {
    let store = await opened.sessions();
    const document = await written(store);
    for (let n = 1; ; n++) {
      const id = `import ${n}`;
      const dies = dying(store, n);
      const cut = await failureOf(() => importConversation(dies.store, document, id));
      if (opened.maker.again !== undefined) store = (await opened.again(store)) as Sessions;
      const there = (await store.find(id)) !== undefined;
      if (there) equal(await exported(store, id), document, `it ends before write ${n}`);
      // The same import is done again, by somebody who does not know how far the first one came.
      const again = await code(() => importConversation(store, document, id));
      equal(again, there ? 'E_SESSION_EXISTS' : '', `again, after write ${n}`);
      equal(await exported(store, id), document, `what it makes after write ${n}`);
      const left = (await store.list({ prefix: '%import/' })).sessions.length;
      equal(left, 0, `what is left after write ${n}`);
      if (cut === undefined && !dies.dead()) return;
    }
  },
};

/** A store whose process ends before its n-th write: nothing is done from then on. */
function dying(store: Sessions, n: number): { store: Sessions; dead: () => boolean } {
  let left = n;
  const get = (of: Sessions, name: string | symbol): unknown => {
    const method: unknown = Reflect.get(of, name, of);
    if (typeof method !== 'function') return method;
    return async (...args: unknown[]): Promise<unknown> => {
      if (WRITES.includes(String(name)) && --left <= 0) throw new Error('the process has ended');
      return (method as (...args: unknown[]) => unknown).apply(of, args);
    };
  };
  return { store: new Proxy(store, { get }), dead: () => left <= 0 };
}

/** A session of a store that has what it can keep, as a document. */
async function written(store: Sessions): Promise<string> {
  const id = 'to travel';
  const deltas = oneOfEach().map(([kind, record]) => ({ op: 'store' as const, kind, record }));
  await store.commit(id, { deltas });
  const appender = store as Partial<Appender>;
  for (const n of appender.append === undefined ? [] : [0, 1]) {
    await store.putBytes(id, `b${n}`, `bytes ${n}`);
    await appender.append!(id, {
      event: { id: `e${n}`, body: eventOf(`e${n}`) },
      state: [{ scope: '', name: 'n', value: Uint8Array.of(n) }],
      artifacts: [{ scope: '', name: 'a', version: n, bytes: `b${n}`, body: Uint8Array.of(0x80) }],
    });
  }
  await store.setTitle(id, 'Title');
  return exported(store, id);
}

/** The document of a session, without its id and its date. */
async function exported(store: Sessions, id: string): Promise<string> {
  const document = JSON.parse(await exportConversation(store, id)) as Record<string, unknown>;
  const { createdAt: _createdAt, ...rest } = document;
  return JSON.stringify({ ...rest, id: 's' });
}
