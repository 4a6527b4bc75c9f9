// The agent of examples/edge, and turns that hold much, in an isolate, and what memory it takes.
import { memoryBytes } from './memories.mjs';
import { createRunner, Message } from 'turncore';
import { createTurnServer } from 'turncore/remote';

import { createAgent } from '../../../examples/edge/src/agent.js';

const agent = createAgent({ PAUSE_MS: '0.001' });

/** Turns that hold records of 500 kB in the module, as many as the message says, and wait. */
const holders = createTurnServer(
  createRunner({
    async executor(ctx) {
      const content = 'x'.repeat(500_000);
      const { content: count } = [...ctx.turnMessages].at(-1);
      for (let i = 0; i < Number(count); i++) {
        const id = `m${i}`;
        await ctx.storeMessage(
          new Message({ id, role: 'assistant', content, createdAt: 1, updatedAt: 1 }),
        );
      }
      await ctx.waitFor({ id: 'go', reason: 'Go on?', payload: null, createdAt: Date.now() });
      ctx.ack();
    },
  }),
);

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === '/memory') return Response.json(memoryBytes());
    if (pathname.startsWith('/holders/')) return holders.fetch(request, ctx);
    return agent.fetch(request, ctx);
  },
};
