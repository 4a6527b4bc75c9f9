// Turns in workerd: runners are made at global scope, where neither randomness nor I/O is allowed, and run in requests.
import * as turncore from 'turncore';
import * as hosts from 'turncore/host';
import { simulatedFetch } from 'turncore/simulated';
import { fixedSeams, makeRunner, runTurn } from '../smoke/one-turn.mjs';

const { createRunner, Host, Tool } = turncore;

// Where workerd is deployed, clocks stand still but for I/O. Locally they do not, so they are replaced by ones that do.
let elapsed = 0;
Date.now = () => hosts.FIXED_INSTANT + elapsed;
performance.now = () => 1000 + elapsed;

const comparable = makeRunner(turncore, fixedSeams(hosts));
const shared = new Host({
  fetch: async (input, init) => {
    const response = await fetch(input, init);
    elapsed++;
    return response;
  },
});
const own = makeRunner(turncore, shared);
const weather = new Tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  handler: ({ city }) => `4 °C in ${city}`,
});
const agent = createRunner({
  model: { baseURL: 'http://provider/v1', model: 'simulated' },
  tools: [weather],
  host: shared,
});
const alone = createRunner({
  model: { baseURL: 'http://simulated/v1', model: 'simulated' },
  tools: [weather],
  host: { fetch: simulatedFetch() },
});

const routes = {
  /** The turn that every platform tells the same way. */
  '/comparable': async () => Response.json(await runTurn(comparable)),

  /** The same with randomness of the platform, in the instance that requests share. */
  '/turn': async () => Response.json(await runTurn(own)),

  /** A turn whose provider is in the worker itself. */
  '/simulated': async ({ searchParams }) => {
    const turn = { message: searchParams.get('say'), sessionId: crypto.randomUUID() };
    return Response.json(await alone.stream(turn).result);
  },

  /** A turn with the executor in the module, streamed as lines while it runs. */
  '/chat': ({ searchParams }) => {
    const { readable, writable } = new TransformStream();
    const write = async () => {
      const writer = writable.getWriter();
      const encoder = new TextEncoder();
      const turn = { message: searchParams.get('say'), sessionId: searchParams.get('session') };
      for await (const event of agent.stream(turn)) {
        await writer.write(encoder.encode(`${JSON.stringify(event)}\n`));
      }
      await writer.close();
    };
    return { body: readable, work: write() };
  },
};

export default {
  async fetch(request, _env, ctx) {
    elapsed++;
    const url = new URL(request.url);
    const route = routes[url.pathname];
    if (route === undefined) return new Response(null, { status: 404 });
    try {
      const answer = await route(url);
      if (answer instanceof Response) return answer;
      ctx.waitUntil(answer.work);
      return new Response(answer.body, { headers: { 'content-type': 'application/x-ndjson' } });
    } catch (error) {
      return new Response(`${error.name}: ${error.message}\n${error.stack}`, { status: 500 });
    }
  },
};
