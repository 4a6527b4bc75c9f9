// deno run --allow-net --allow-env --allow-read hosts/deno.js
import { createAgent } from '../src/agent.js';

const { fetch } = createAgent(Deno.env.toObject());
Deno.serve(
  {
    hostname: '127.0.0.1',
    port: Number(Deno.env.get('PORT') ?? 8787),
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/`),
  },
  (request) => fetch(request),
);
