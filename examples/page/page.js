// A chat in a page: the answer appears as it comes, and a transfer waits for the visitor's approval.
import { createRunner, Tool } from 'turncore';

const transfer = new Tool({
  name: 'transfer',
  description: 'Transfers money to a person',
  inputSchema: {
    type: 'object',
    properties: {
      to: { type: 'string', description: 'the name of the person' },
      amount: { type: 'integer', description: 'the amount in euros' },
    },
    required: ['to', 'amount'],
  },
  handler: async ({ to, amount }, ctx) => {
    const approved = await ctx.waitFor({
      id: 'transfer',
      reason: `Transfer ${amount} euros to ${to}?`,
      payload: { to, amount },
      createdAt: Date.now(),
      schema: { type: 'boolean' },
    });
    return approved ? `${amount} euros are with ${to}` : 'the visitor refused';
  },
});

const runner = createRunner({
  model: { model: 'simulated', baseURL: new URL('v1', location.href).href },
  tools: [transfer],
  host: { module: new URL('turncore.wasm', location.href) },
});

const ask = document.querySelector('#ask');
const gate = document.querySelector('#gate');
const conversation = document.querySelector('#conversation');

/** Adds a line to the conversation and returns it. */
function line(who, text) {
  const item = document.createElement('li');
  item.className = who;
  item.textContent = text;
  conversation.append(item);
  return item;
}

ask.addEventListener('submit', async (event) => {
  event.preventDefault();
  const message = new FormData(ask).get('message');
  ask.reset();
  line('visitor', message);
  const answer = line('agent', '');
  try {
    const stream = runner.stream({ message });
    for await (const event of stream) {
      if (event.event === 'message') answer.textContent += event.aDelta;
    }
    const { status, text } = await stream.result;
    answer.textContent = text;
    answer.dataset.status = status;
  } catch (error) {
    answer.textContent = error.message;
    answer.dataset.status = 'failed';
  }
});

runner.observe('turnGateOpen', ({ id, reason, digest }) => {
  gate.querySelector('p').textContent = reason;
  gate.hidden = false;
  gate.onsubmit = (event) => {
    event.preventDefault();
    gate.hidden = true;
    runner.gate(id)?.resolve(event.submitter.value === 'yes', { digest });
  };
});
