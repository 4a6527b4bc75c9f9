// Sessions over HTTP: an agent that answers in events, and keeps them with a state. It is the same on every host.
import { Host } from 'turncore';
import { errorJSON } from 'turncore/errors';
import { eventStream, jsonBody } from 'turncore/remote';
import { LlmAgent, pendingCalls, Runner, SessionService } from 'turncore/sessions';
import { simulatedFetch } from 'turncore/simulated';

import { modelFrom } from './model.js';
import { confirmedTransfer, weather } from './tools.js';

const PATH = /^\/users\/([\w-]{1,64})\/sessions(?:\/([\w-]{1,64})(?:\/(\w+))?)?$/;
const ID = /^[\w-]{1,64}$/;
const APP = 'edge';
/** The members of the bodies. */
const MEMBERS = {
  list: { id: 'string?', state: 'object?' },
  fork: { upTo: 'string?' },
  run: { message: 'any?' },
  confirm: { id: 'string', confirmed: 'boolean' },
};

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
  const silenceMs = Number(env.SILENCE_MS || 15_000);
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
      if (id !== undefined && !ID.test(id)) {
        const why = '`id` must be 1 to 64 letters, digits, - or _: it is a part of addresses';
        throw failure(400, 'E_TURN_REQUEST_INVALID', why);
      }
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
      return stream(key, events.slice(from), request);
    },
    // Without a message it takes up what a process that was killed had begun.
    'POST run': (key, { message }, request) => run(key, message, request),
    'POST confirm': async (key, { id, confirmed }, request) => {
      const call = (await waiting(service, key)).find((each) => each.id === id);
      // The runner refuses what nobody has asked, or what is no answer.
      const answer = { id, name: call?.name ?? 'unknown', response: { confirmed } };
      return run(key, { role: 'user', parts: [{ functionResponse: answer }] }, request);
    },
  };

  async function run({ userId, sessionId }, newMessage, request) {
    const key = { appName: APP, userId, sessionId };
    const controller = new AbortController();
    const { signal } = controller;
    const events = runner.runAsync({ userId, sessionId, newMessage, signal });
    const leave = () => {
      controller.abort();
      events.return().catch(() => undefined);
    };
    request.signal?.addEventListener('abort', leave);
    // What is refused has no first event: it is answered by a status. A silent model has one later, in the response.
    const first = events.next();
    first.catch(() => undefined);
    await Promise.race([first, new Promise((resolve) => setTimeout(resolve, silenceMs))]);
    return stream(key, following(first, events), request, leave);
  }

  /** The response with events. The agent goes on when the client has taken one, and ends when the client goes away. */
  function stream(key, events, { signal }, onGone) {
    return eventStream(
      blocks(events, () => waiting(service, key)),
      { signal, onGone, silenceMs },
    );
  }

  return {
    async fetch(request) {
      const [, userId, sessionId, action] = PATH.exec(new URL(request.url).pathname) ?? [];
      const place = sessionId === undefined ? 'list' : (action ?? 'session');
      const answer = userId && answers[`${request.method} ${place}`];
      if (!answer) return new Response('There is nothing here.\n', { status: 404 });
      try {
        const body = request.method === 'POST' ? await jsonBody(request, MEMBERS[place]) : {};
        return await answer({ appName: APP, userId, sessionId }, body, request);
      } catch (error) {
        return Response.json({ error: errorJSON(error) }, { status: error.status ?? 500 });
      }
    },
  };
}

async function found(service, key) {
  const session = await service.getSession(key);
  if (session !== undefined) return session;
  throw failure(404, 'E_SESSION_NOT_FOUND', `There is no session ${key.sessionId}.`);
}

/** An error that is answered with a status. */
function failure(status, code, message) {
  return Object.assign(new Error(message), { code, status });
}

async function waiting(service, key) {
  return pendingCalls((await found(service, key)).events);
}

/** A generator whose first value has been asked for. */
async function* following(first, others) {
  const { done, value } = await first;
  if (done) return;
  yield value;
  yield* others;
}

/**
 * Events as server-sent events: each as JSON with its id, and at the end one of the kind `end` that has the calls which
 * wait, and why it failed.
 */
async function* blocks(events, pending) {
  let error;
  try {
    for await (const event of events) {
      // A partial event is nothing to go on behind.
      yield { id: event.partial ? undefined : event.id, data: textOf(event) };
    }
  } catch (reason) {
    error = errorJSON(reason);
  }
  yield { event: 'end', data: textOf({ pending: await pending(), error }) };
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
