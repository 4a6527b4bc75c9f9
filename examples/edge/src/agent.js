// The agent, as a handler of requests. It is the same on every host.
import { createRunner, Host } from 'turncore';
import { checkBody, createTurnServer } from 'turncore/remote';
import { simulatedFetch } from 'turncore/simulated';

import { modelFrom } from './model.js';
import { transfer, weather } from './tools.js';

const PATH = /^\/conversations\/([\w-]{1,64})\/turns(\/|$)/;

/** The conversation that a request names in its address; undefined for none. */
export function conversationIn(request) {
  return PATH.exec(new URL(request.url).pathname)?.[1];
}

/**
 * Makes the handler. Call `fetch` with what the host gives after the request: turns live by it.
 *
 * @param env the host's settings; the README names them
 * @param store keeps the conversations; without one they are in memory
 */
export function createAgent(env = {}, store) {
  const runner = createRunner({ ...modelOf(env), tools: [weather, transfer], store });
  const server = createTurnServer(runner, {
    onDisconnect: env.ON_DISCONNECT || 'abort',
    input: (body, request) => {
      const { message } = checkBody(body, { message: 'string', turnId: 'string?' });
      return { message, sessionId: conversationIn(request) };
    },
  });
  return {
    async fetch(request, ...platform) {
      if (conversationIn(request) !== undefined) return server.fetch(request, ...platform);
      return new Response('Talk to /conversations/{id}/turns\n', { status: 404 });
    },
  };
}

/** One instance of the module serves all conversations of an isolate. */
let simulated;

function modelOf(env) {
  const { model, pauseMs } = modelFrom(env);
  if (pauseMs === undefined) return { model };
  simulated ??= new Host({ fetch: simulatedFetch({ pauseMs }) });
  return { model, host: simulated };
}
