// The agent of examples/edge in an isolate, and what memory it takes.
import { memoryBytes } from './memories.mjs';
import { createAgent } from '../../../examples/edge/src/agent.js';

const agent = createAgent({ PAUSE_MS: '0.001' });

export default {
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname === '/memory') return Response.json(memoryBytes());
    return agent.fetch(request, ctx);
  },
};
