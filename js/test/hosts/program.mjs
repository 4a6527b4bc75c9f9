// What every host plays: the parts of a small agent. Each part throws unless it sees what it should.
import { createRunner, Tool } from 'turncore';
import { simulatedFetch } from 'turncore/simulated';

import { hello } from './hello.mjs';

const weather = new Tool({
  name: 'get_weather',
  description: 'Weather in a city',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  handler: ({ city }) => `4 degrees in ${city}`,
});
const transfer = new Tool({
  name: 'transfer',
  description: 'Transfers money to a person',
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

const model = { baseURL: 'http://simulated/v1', model: 'simulated' };
const agent = createRunner({
  model,
  tools: [weather, transfer],
  host: { fetch: simulatedFetch() },
});
const slow = createRunner({ model, host: { fetch: simulatedFetch({ pauseMs: 5 }) } });

const parts = {
  /** The README's first program, as it stands. */
  async hello() {
    const lines = [];
    await hello((line) => lines.push(line));
    equal(lines, ['You said: hello', 'ack']);
  },

  async stream() {
    const stream = agent.stream({ message: 'one two three four', sessionId: 'stream' });
    const deltas = [];
    for await (const event of stream) if (event.event === 'message') deltas.push(event.aDelta);
    const { status, text } = await stream.result;
    equal([status, deltas.join('')], ['ack', text]);
    holds(deltas.length > 3 && text.includes('one two three four'), `${deltas.length}: ${text}`);
  },

  async tool() {
    const message = 'How is the weather in Oslo?';
    const { status, text, toolCalls } = await agent.stream({ message, sessionId: 'tool' }).result;
    equal([status, toolCalls.map(({ tool }) => tool)], ['ack', ['get_weather']]);
    holds(text.includes('4 degrees in Oslo'), text);
  },

  async gate() {
    const answer = ({ id, digest }) => void agent.gate(id).resolve(true, { digest });
    agent.observe('turnGateOpen', answer);
    const message = 'Please transfer money to Grace.';
    const { status, text } = await agent.stream({ message, sessionId: 'gate' }).result;
    agent.unobserve('turnGateOpen', answer);
    equal(status, 'ack');
    holds(text.includes('Grace has the money'), text);
  },

  async abort() {
    const controller = new AbortController();
    const message = 'word '.repeat(200);
    const stream = slow.stream({ message, signal: controller.signal });
    let deltas = 0;
    for await (const event of stream) {
      if (event.event === 'message' && ++deltas === 3) controller.abort();
    }
    equal((await stream.result).status, 'aborted');
    holds(deltas < 100, `${deltas} deltas after the abort`);
    equal((await slow.stream({ message: 'next', sessionId: 'next' }).result).status, 'ack');
  },
};

/**
 * Plays parts of the program.
 *
 * @param names of the parts; all of them if there are none
 * @returns the names of those that passed, what is wrong with the others, and how long the first one took
 */
export async function play(names = []) {
  const passed = [];
  const failures = [];
  let ms;
  for (const name of names.length > 0 ? names : Object.keys(parts)) {
    const from = performance.now();
    try {
      await parts[name]();
      passed.push(name);
      ms ??= performance.now() - from;
    } catch (error) {
      failures.push(`${name}: ${error.stack ?? error}`);
    }
  }
  return { passed, failures, ms };
}

function equal(actual, expected) {
  const [is, should] = [actual, expected].map((value) => JSON.stringify(value));
  holds(is === should, `${is} instead of ${should}`);
}

function holds(condition, message) {
  if (!condition) throw new Error(message);
}
