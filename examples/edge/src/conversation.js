// A conversation: a Durable Object, which outlives the requests that its turns begin in.
import { createAgent } from './agent.js';

export class Conversation {
  #state;
  #agent;

  constructor(state, env) {
    this.#state = state;
    this.#agent = createAgent(env);
  }

  fetch(request) {
    return this.#agent.fetch(request, this.#state);
  }
}
