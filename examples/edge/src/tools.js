// What the agent can do.
import { Tool } from 'turncore';

export const weather = new Tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  handler: ({ city }) => `4 degrees in ${city}`,
});

/** Asks before it acts. The approval is in the tool, so that no call gets around it. */
export const transfer = new Tool({
  name: 'transfer',
  description: 'Transfers money to a person.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  handler: async ({ to }, ctx) => {
    const approved = await ctx.waitFor({
      id: 'transfer',
      reason: `Transfer money to ${to}?`,
      payload: { to },
      createdAt: Date.now(),
      schema: { type: 'boolean' },
    });
    return approved ? `${to} has the money` : 'the visitor refused';
  },
});

/** The same in sessions: the runner asks before the tool runs, and the answer may come in a later request. */
export const confirmedTransfer = {
  name: 'transfer',
  description: 'Transfers money to a person.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  requireConfirmation: ({ to }) => ({ hint: `Transfer money to ${to}?` }),
  runAsync({ to }, ctx) {
    ctx.state['transfers'] = [...(ctx.state['transfers'] ?? []), to];
    return `${to} has the money`;
  },
};
