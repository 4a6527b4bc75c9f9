// The agent: the module, and a runner whose conversations a store keeps.
import { createRunner, loadModule, tokenBudget } from '/turncore/turncore.min.js';

import { tools } from './tools.js';

const SYSTEM =
  'You are the assistant of a demo page. Use the tools where they fit. Answer briefly, in plain text without Markdown.';

const utf8 = new TextEncoder();

/** The default module. Engines need the full one, which createRunner finds by itself. */
const core = loadModule();

/** Runs turns in this page. */
export class Agent {
  #runner;
  #outage = false;

  /**
   * @param model of requests to the server
   * @param engine answers in place of the server, with the options
   * @param context what the engine's model can read, if that is little
   * @param store keeps the conversations
   */
  constructor({ model, engine, options, context, store }) {
    const api = { baseURL: `${location.origin}/v1`, model };
    this.#runner = createRunner({
      model: engine === undefined ? api : { engine, ...options },
      store,
      system: SYSTEM,
      tools,
      bounds: { maxIterations: 8 },
      ...(context && within(context, options.max_tokens)),
      host: {
        module: engine === undefined ? core : undefined,
        allowedOrigins: [location.origin],
        fetch: (input, init) => (this.#outage ? outage() : fetch(input, init)),
      },
    });
  }

  /**
   * Loads the module and starts it, so that the first turn need not.
   *
   * @returns milliseconds it took, and bytes of the module on the wire and unpacked (undefined if the browser won't say)
   */
  async start() {
    const begun = performance.now();
    await this.#runner.host.acquire();
    const ms = performance.now() - begun;
    const entry = performance
      .getEntriesByType('resource')
      .findLast(({ name }) => /\/turncore[\w-]*\.wasm$/.test(name));
    return { ms, wireBytes: entry?.encodedBodySize, bytes: entry?.decodedBodySize };
  }

  /**
   * Begins a turn.
   *
   * @param sessionId the conversation
   * @param message what the visitor says
   * @param fails whether the model shall be out of order in this turn
   * @returns a stream of events with a result, which abort() stops
   */
  send(sessionId, message, { fails = false } = {}) {
    this.#outage = fails;
    return this.#runner.stream({ message, sessionId });
  }

  /**
   * Answers a question that a tool waits with.
   *
   * @param id of its gate
   * @param digest of what was shown
   */
  answer(id, approved, digest) {
    this.#runner.gate(id)?.resolve(approved, { digest });
  }
}

/** Bytes that a model's template adds to a request. */
const TEMPLATE = 512;

/** Options that keep a long conversation within a model's context: its oldest part is left out of requests. */
function within({ tokens, bytesPerToken }, answer) {
  const count = (text) => Math.ceil(utf8.encode(text).length / bytesPerToken);
  const reserve = answer + Math.ceil(TEMPLATE / bytesPerToken);
  return {
    tokenizers: { model: (texts) => texts.map(count) },
    dispatchInputPipeline: [tokenBudget({ encoding: 'model', limit: tokens, reserve })],
  };
}

/** What a provider in trouble answers. */
function outage() {
  const error = {
    message: 'the model is overloaded (an outage that this page made up)',
    code: 'overloaded',
  };
  return Promise.resolve(Response.json({ error }, { status: 503 }));
}
