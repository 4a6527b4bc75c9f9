// Turns in a Worker without Durable Objects, where a turn ends with the request that began it.
import { createRunner } from 'turncore';
import { createTurnServer } from 'turncore/remote';
import { simulatedFetch } from 'turncore/simulated';

const runner = createRunner({
  model: { baseURL: 'http://simulated/v1', model: 'simulated' },
  host: { fetch: simulatedFetch({ pauseMs: 20 }) },
});
const servers = {
  abort: createTurnServer(runner, { onDisconnect: 'abort' }),
  continue: createTurnServer(runner, { onDisconnect: 'continue' }),
};

/** By the first part of the path. */
const routes = {
  /** A turn server that gets what the platform gives. */
  served: (request, [mode], env, ctx) => servers[mode].fetch(request, env, ctx),

  /** The same, but without. */
  bare: (request, [mode]) => servers[mode].fetch(request),

  /** A turn of the runner itself, as a response. */
  stream: async (request, [onDisconnect]) => {
    const { signal } = request;
    return runner.stream(await request.json()).toResponse({ signal, onDisconnect });
  },

  /** A turn of the runner itself, to its end. */
  run: async (request) => {
    try {
      await runner.run(await request.json());
      return Response.json({ ended: true });
    } catch ({ code, message }) {
      return Response.json({ code, message });
    }
  },

  /** The result of a turn. */
  result: async (request) => Response.json(await runner.stream(await request.json()).result),
};

export default {
  async fetch(request, env, ctx) {
    const [, route, ...rest] = new URL(request.url).pathname.split('/');
    const answer = routes[route];
    if (answer === undefined) return new Response(null, { status: 404 });
    return answer(request, rest, env, ctx);
  },
};
