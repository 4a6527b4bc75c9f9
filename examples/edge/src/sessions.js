// Sessions over HTTP: an agent that answers in events, and keeps them with a state. It is the same on every host.
import { Host } from 'turncore';
import { LlmAgent, pendingCalls, Runner, SessionService } from 'turncore/sessions';
import { simulatedFetch } from 'turncore/simulated';

import { modelFrom } from './model.js';
import { confirmedTransfer, weather } from './tools.js';

const PATH = /^\/users\/([\w-]{1,64})\/sessions(?:\/([\w-]{1,64})(?:\/(\w+))?)?$/;
const APP = 'edge';

/** One instance of the module serves all sessions of an isolate. */
let shared;

/** The user whose sessions a request is about, by its address; undefined for none. */
export function userIn(request) {
  return PATH.exec(new URL(request.url).pathname)?.[1];
}

/**
 * Makes the handler.
 *
 * @param env the host's settings; the README names them
 * @param options `store` keeps the sessions, by default in memory; `module` is the full module, on hosts that import it
 */
export function createSessions(env = {}, { store, module } = {}) {
  const { model, pauseMs } = modelFrom(env);
  const settings = { fetch: pauseMs === undefined ? undefined : simulatedFetch({ pauseMs }) };
  // Hosts that read files find the full module by themselves.
  if (module !== undefined) shared ??= new Host({ ...settings, module });
  const service = new SessionService({ store, host: shared ?? settings });
  const agent = new LlmAgent({
    name: 'clerk',
    model,
    instruction: 'Answer briefly.',
    tools: [weather, confirmedTransfer],
  });
  const runner = new Runner({ appName: APP, agent, sessionService: service });

  /** What a request asks for, by method and what stands behind the session in its address. */
  const answers = {
    'GET list': async ({ userId }) =>
      Response.json(await service.listSessions({ appName: APP, userId })),
    'POST list': async ({ userId }, { id, state }) => {
      const session = await service.createSession({ appName: APP, userId, sessionId: id, state });
      return Response.json({ id: session.id }, { status: 201 });
    },
    'GET session': async (key) => {
      const session = await found(service, key);
      return json({ id: session.id, state: session.state, pending: pendingCalls(session.events) });
    },
    'DELETE session': async (key) => {
      await service.deleteSession(key);
      return new Response(null, { status: 204 });
    },
    'POST fork': async (key, { upTo }) => {
      const fork = await service.forkSession(key, upTo === undefined ? {} : { upTo });
      return Response.json({ id: fork.id }, { status: 201 });
    },
    'GET events': async (key, _body, request) => {
      const { events } = await found(service, key);
      const last = request.headers.get('last-event-id');
      const from = last === null ? 0 : events.findIndex(({ id }) => id === last) + 1;
      return stream(events.slice(from), () => waiting(service, key));
    },
    'POST run': (key, { message }, request) => run(key, message, request),
    'POST confirm': async (key, { id, confirmed }, request) => {
      const call = (await waiting(service, key)).find((each) => each.id === id);
      // The runner refuses what nobody has asked, or what is no answer.
      const answer = { id: String(id), name: call?.name ?? 'unknown', response: { confirmed } };
      return run(key, { role: 'user', parts: [{ functionResponse: answer }] }, request);
    },
  };

  async function run({ userId, sessionId }, newMessage, request) {
    const key = { appName: APP, userId, sessionId };
    const controller = new AbortController();
    request.signal?.addEventListener('abort', () => controller.abort(request.signal.reason));
    const { signal } = controller;
    const events = runner.runAsync({ userId, sessionId, newMessage, signal });
    // What is refused has no first event: it is answered by a status.
    const first = await events.next();
    return stream(following(first, events), () => waiting(service, key), controller);
  }

  return {
    async fetch(request) {
      const [, userId, sessionId, action] = PATH.exec(new URL(request.url).pathname) ?? [];
      const place = sessionId === undefined ? 'list' : (action ?? 'session');
      const answer = userId && answers[`${request.method} ${place}`];
      if (!answer) return new Response('There is nothing here.\n', { status: 404 });
      try {
        const text = request.method === 'POST' ? await request.text() : '';
        const body = text === '' ? {} : JSON.parse(text);
        return await answer({ appName: APP, userId, sessionId }, body, request);
      } catch (error) {
        return Response.json({ error: plain(error) }, { status: statusOf(error) });
      }
    },
  };
}

async function found(service, key) {
  const session = await service.getSession(key);
  if (session !== undefined) return session;
  throw Object.assign(new Error(`There is no session ${key.sessionId}.`), {
    code: 'E_SESSION_NOT_FOUND',
    status: 404,
  });
}

async function waiting(service, key) {
  return pendingCalls((await found(service, key)).events);
}

/** A generator from its first value on. */
async function* following({ done, value }, others) {
  if (done) return;
  yield value;
  yield* others;
}

/**
 * Events as server-sent events: each as JSON with its id, and at the end one of the kind `end` that has the calls which
 * wait, and why it failed. The agent goes on when the client has taken an event.
 */
function stream(events, pending, controller) {
  const iterator = events[Symbol.asyncIterator]?.() ?? events[Symbol.iterator]();
  const utf8 = new TextEncoder();
  const body = new ReadableStream(
    {
      async pull(sink) {
        let error;
        try {
          const { done, value } = await iterator.next();
          if (!done) {
            // A partial event is nothing to go on behind.
            const id = value.partial ? '' : `id: ${value.id}\n`;
            sink.enqueue(utf8.encode(`${id}data: ${textOf(value)}\n\n`));
            return;
          }
        } catch (reason) {
          error = plain(reason);
        }
        const end = textOf({ pending: await pending(), error });
        sink.enqueue(utf8.encode(`event: end\ndata: ${end}\n\n`));
        sink.close();
      },
      async cancel() {
        controller?.abort();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}

const json = (value) =>
  new Response(textOf(value), { headers: { 'content-type': 'application/json' } });

/** A value as JSON, bytes in base64. */
function textOf(value) {
  return JSON.stringify(value, (_name, each) =>
    each instanceof Uint8Array
      ? globalThis.btoa(Array.from(each, (b) => String.fromCharCode(b)).join(''))
      : each,
  );
}

function plain({ code, name, message }) {
  return { code: code ?? name, message };
}

/** @returns the status of an error of the library; 400 for a body that is no JSON */
function statusOf(error) {
  if (error instanceof SyntaxError) return 400;
  return error.status ?? 500;
}
