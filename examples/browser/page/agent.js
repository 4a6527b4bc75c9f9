// The agent that answers: this page's own, or one that somebody else wrote.
import { createRunner, loadModule, memoryStore, tokenBudget } from '/turncore/turncore.min.js';

import { tools } from './tools.js';

const SYSTEM =
  'You are the assistant of a demo page. Use the tools where they fit. Answer briefly, in plain text without Markdown.';

const utf8 = new TextEncoder();

/** The default module. Engines need the full one, which createRunner finds by itself. */
const core = loadModule();

/** Runs turns in this page. */
export class Agent {
  #runner;
  #make;
  #foreign;
  #outage = false;

  /**
   * @param model of requests to the server
   * @param engine answers in place of the server, with the options
   * @param context what the engine's model can read, if that is little
   * @param store keeps the conversations
   * @param foreign somebody else's agent, in place of the page's own
   */
  constructor({ model, engine, options, context, store, foreign }) {
    const api = { baseURL: `${location.origin}/v1`, model };
    const answering = engine === undefined ? api : { engine, ...options };
    const settings = {
      system: SYSTEM,
      bounds: { maxIterations: 8 },
      ...(context && within(context)),
    };
    const send = (input, init) => (this.#outage ? outage() : fetch(input, init));
    this.#foreign = foreign;
    this.#make =
      foreign === undefined
        ? () =>
            createRunner({
              ...settings,
              model: answering,
              store,
              tools,
              host: {
                module: engine === undefined ? core : undefined,
                allowedOrigins: [location.origin],
                fetch: send,
              },
            })
        : async () => {
            // The grant names a model; the visitor has chosen which one that is.
            const agent = await foreign.load({ model: () => answering, host: { fetch: send } });
            // The grant has no store: what is said to the agent lasts as long as the page.
            return agent.createRunner({ ...settings, store: memoryStore() });
          };
  }

  /**
   * Loads the module and starts it, so that the first turn need not.
   *
   * @returns milliseconds it took, and bytes of the module on the wire and unpacked (undefined if the browser won't say)
   */
  async start() {
    const begun = performance.now();
    this.#runner = await this.#make();
    await this.#runner.host.acquire();
    const ms = performance.now() - begun;
    const file = this.#foreign === undefined ? /\/turncore[\w-]*\.wasm$/ : /\/agents\/\w+\.wasm$/;
    const entry = performance.getEntriesByType('resource').findLast(({ name }) => file.test(name));
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
    const value = this.#foreign === undefined ? approved : this.#foreign.decision(approved);
    this.#runner.gate(id)?.resolve(value, { digest });
  }
}

/** Bytes that a model's template adds to a request. */
const TEMPLATE = 512;

/** Options that keep a long conversation within a model's context: its oldest part is left out of requests. */
function within({ tokens, bytesPerToken, answer }) {
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
