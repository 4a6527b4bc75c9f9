// bun run hosts/bun.js
import { createAgent } from '../src/agent.js';

const { fetch } = createAgent(Bun.env);
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(Bun.env.PORT ?? 8787),
  idleTimeout: 0, // A gate may wait long.
  fetch: (request) => fetch(request),
});
console.log(`http://127.0.0.1:${server.port}/`);
