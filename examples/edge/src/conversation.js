// A conversation: a Durable Object, which outlives the requests that its turns begin in. What was said is in its storage.
import { durableObjectStore } from 'turncore/stores/durable-object';

import { createAgent } from './agent.js';

export class Conversation {
  #state;
  #agent;

  constructor(state, env) {
    this.#state = state;
    this.#agent = createAgent(env, durableObjectStore(state.storage));
  }

  fetch(request) {
    return this.#agent.fetch(request, this.#state);
  }
}
