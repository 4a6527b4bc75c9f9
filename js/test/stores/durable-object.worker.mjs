// The suite of stores in Durable Objects: each test has an object of its own, and a second store on its storage.
import { durableObjectStore } from 'turncore/stores/durable-object';
import { sessionTests } from 'turncore/sessionstest';
import { storeTests } from 'turncore/storetest';
import { fullMemoryStore } from 'turncore/stores/memory';
import { Host, Message } from 'turncore';
import full from 'turncore/turncore-full.wasm';
import { DurableObject } from 'cloudflare:workers';

export class Stored extends DurableObject {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const { storage } = this.ctx;
    if (pathname === '/test') {
      const maker = {
        // A test opens one store at a time, and again those on the same storage.
        open: () => durableObjectStore(storage),
        again: () => durableObjectStore(storage),
        sessions: 2000,
      };
      try {
        const tests = await testsOf(maker);
        await tests.find(({ name }) => name === searchParams.get('name')).run();
        return Response.json(null);
      } catch (error) {
        return Response.json(`${error?.stack ?? error}`);
      }
    }
    const store = durableObjectStore(storage);
    if (pathname === '/write') {
      const id = searchParams.get('id');
      const times = { createdAt: 1, updatedAt: 1 };
      const deltas = ['a', 'b'].map((half) => ({
        op: 'store',
        kind: 'message',
        record: new Message({ id: `${half}${id}`, role: 'user', content: 'x', ...times }),
      }));
      return Response.json(await store.commit('s', { deltas, key: id, turn: 't' }));
    }
    const { messages } = await store.load('s');
    return Response.json(messages.map(({ id }) => id));
  }
}

/** The tests of stores, and those of sessions on them. */
async function testsOf(maker) {
  const sessions = sessionTests({
    ...maker,
    host: new Host({ module: full, maxMemory: 100 * 1024 * 1024 }),
  });
  return [
    ...(await storeTests(maker)),
    ...sessions.map(({ name, run }) => ({ name: `sessions: ${name}`, run })),
  ];
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/names') {
      const sessions = { open: fullMemoryStore, again: fullMemoryStore };
      return Response.json((await testsOf(sessions)).map(({ name }) => name));
    }
    const name = searchParams.get('object') ?? searchParams.get('name');
    return env.stored.get(env.stored.idFromName(name)).fetch(request);
  },
};
