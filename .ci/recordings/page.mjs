// Plays a recorded conversation in a page: the provider and the answers of tools are behind the page's server.
import { createRunner, loadModule, memoryStore, Tokenizable } from '/package/index.js';
import { endLine } from '/package/cli/lines.js';
import { fixedClock, seededEntropy } from '/package/entropy.js';
import { goOn, historyOf, toolsOf, userMessageOf } from '/package/recording/beginning.js';
import { cutResponse } from '/package/recording/cut.js';
import { fullModuleURL } from '/package/wasm.js';

/**
 * @param what the conversation, options of the chat executor, and names of tools that may be called
 * @param {string} provider address of the server that plays the provider, and answers tool calls at /answer
 * @returns {Promise<string>} the event log, as `turncore run --json` writes it
 */
export async function play({ conversation, options, called }, provider, seed) {
  let over = false;
  let next = [];
  const ask = async (name, args) => {
    const answer = await fetch(`${provider}/answer`, {
      method: 'POST',
      body: JSON.stringify({ name, args }),
    });
    const { result, last, said } = await answer.json();
    next = said;
    over ||= result === null || last;
    return result ?? '';
  };
  const { tools, hidden } = toolsOf(conversation, called, ask);
  const clock = fixedClock();
  const random = seededEntropy(seed);
  const store = memoryStore();
  const runner = createRunner({
    model: options,
    tools,
    store,
    bounds: { maxIterations: false },
    turnInputPipeline: [
      (ctx, next) => {
        ctx.tools.hide(...hidden);
        return next();
      },
    ],
    dispatchOutputPipeline: [
      async (ctx, done) => {
        if (ctx.isSignalled) return done();
        if (over) ctx.ack();
        else await goOn(ctx, next.splice(0), clock());
        return done();
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
    message: userMessageOf(conversation, clock()),
    systemPrompt: new Tokenizable(conversation.system),
  });
  const lines = [];
  for await (const event of stream) lines.push(JSON.stringify(event));
  lines.push(JSON.stringify(endLine(await stream.result, await store.load('default'))));
  return `${lines.join('\n')}\n`;
}
