// The agent of a worker, for thread-program.mjs.
import { createRunner, Tool } from 'turncore';
import { simulatedFetch } from 'turncore/simulated';
import { serveRunner } from 'turncore/worker';

const ask = new Tool({
  name: 'transfer',
  description: 'Transfers money to a person',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  handler: async ({ to }, ctx) => {
    const question = {
      id: 'transfer',
      reason: `Pay ${to}?`,
      payload: { to },
      createdAt: Date.now(),
    };
    return (await ctx.waitFor(question)) ? `${to} has the money` : 'the visitor refused';
  },
});

/** Says what is attached to the message. */
const look = async (ctx, helpers) => {
  const [media] = [...ctx.turnMessages].at(-1).attachments;
  const bytes = await media.asBytes();
  const text = `${media.filename}: ${bytes.length} bytes, the last ${bytes.at(-1)}`;
  helpers.reportMessage('m', text, { isComplete: true });
  ctx.ack();
};

serveRunner((pageTools) => {
  const agent = createRunner({
    model: { baseURL: 'http://simulated/v1', model: 'simulated' },
    tools: [ask, ...pageTools],
    host: { fetch: simulatedFetch({ pauseMs: 2 }) },
  });
  const looker = createRunner({ executor: look });
  return {
    stream: (input) => (input.attachments === undefined ? agent : looker).stream(input),
  };
});
