// Plays a recorded conversation in a page: the provider and the answers of tools are behind the page's server.
import { createRunner, loadModule, memoryStore, Tokenizable, Tool } from '/package/index.js';
import { endLine } from '/package/cli/lines.js';
import { fixedClock, seededEntropy } from '/package/entropy.js';
import { chatOptionsOf, historyOf } from '/package/recording/beginning.js';
import { cutResponse } from '/package/recording/cut.js';
import { fullModuleURL } from '/package/wasm.js';

/**
 * @param {string} provider address of the server that plays the provider, and answers tool calls at /answer
 * @returns {Promise<string>} the event log, as `turncore run --json` writes it
 */
export async function play(conversation, provider, seed) {
  let over = false;
  const ask = async (name, args) => {
    const answer = await fetch(`${provider}/answer`, {
      method: 'POST',
      body: JSON.stringify({ name, args }),
    });
    const { result } = await answer.json();
    over ||= result === null;
    return result ?? '';
  };
  const clock = fixedClock();
  const random = seededEntropy(seed);
  const store = memoryStore();
  const runner = createRunner({
    model: chatOptionsOf(conversation),
    tools: conversation.tools.map(
      ({ name, description, parameters }) =>
        new Tool({
          name,
          description: description || name,
          inputSchema: parameters ?? { type: 'object' },
          handler: (args) => ask(name, args),
        }),
    ),
    store,
    bounds: { maxIterations: false },
    dispatchOutputPipeline: [
      (ctx, next) => {
        if (over && !ctx.isSignalled) ctx.ack();
        return next();
      },
    ],
    host: {
      module: loadModule(fullModuleURL),
      clock,
      entropy: seededEntropy(seed),
      fetch: async (input, init) => {
        const { pathname } = new URL(input instanceof Request ? input.url : input);
        const response = await fetch(provider + pathname, init);
        return cutResponse(new Response(await response.arrayBuffer(), response), random);
      },
    },
  });
  await store.commit('default', historyOf(conversation, clock()));
  const stream = runner.stream({
    message: conversation.user,
    systemPrompt: new Tokenizable(conversation.system),
  });
  const lines = [];
  for await (const event of stream) lines.push(JSON.stringify(event));
  lines.push(JSON.stringify(endLine(await stream.result, await store.load('default'))));
  return `${lines.join('\n')}\n`;
}
