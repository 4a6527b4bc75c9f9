// An agent in a worker of the page: what its turns do the message says.
import { createRunner } from '../package/turncore.min.js';
import { simulatedFetch } from '../package/simulated.min.js';
import { serveRunner } from '../package/worker.min.js';

/** Deltas of the long answer. */
const DELTAS = 5000;
/** Deltas between two tasks. */
const TOGETHER = 10;

const tasks = {
  /** A long answer, as fast as the page could get it from a model on the same machine. */
  async stream(ctx, helpers) {
    for (let i = 0; i < DELTAS; i++) {
      helpers.reportMessage('m', `word ${i} `);
      if (i % TOGETHER === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    helpers.reportMessage('m', '', { isComplete: true });
    ctx.ack();
  },
  async gate(ctx, helpers) {
    const at = Date.now();
    const said = await ctx.waitFor({ id: 'g', reason: 'Go on?', payload: 1, createdAt: at });
    helpers.reportMessage('m', `said ${said}`, { isComplete: true });
    ctx.ack();
  },
  async title(ctx, helpers) {
    const title = await ctx.tools.get('title').executor(ctx)({});
    helpers.reportMessage('m', title, { isComplete: true });
    ctx.ack();
  },
  wait: (ctx, helpers) => {
    helpers.reportMessage('m', 'waiting');
    return new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
  },
  close: (ctx, helpers) => {
    helpers.reportMessage('m', 'closing');
    setTimeout(() => self.close(), 50);
    return new Promise(() => undefined);
  },
};

serveRunner((tools) => {
  if (self.name === 'model') {
    const model = { baseURL: 'http://simulated/v1', model: 'simulated' };
    return createRunner({ model, tools, host: { fetch: simulatedFetch() } });
  }
  const executor = (ctx, helpers) =>
    tasks[[...ctx.turnMessages].at(-1).content.toString()](ctx, helpers);
  return createRunner({ executor, tools });
});
