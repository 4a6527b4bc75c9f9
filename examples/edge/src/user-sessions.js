// The sessions of a user: a Durable Object, whose storage has their events, their state and what the user shares.
import module from 'turncore/turncore-full.wasm';
import { durableObjectStore } from 'turncore/stores/durable-object';

import { createSessions } from './sessions.js';

export class UserSessions {
  #sessions;

  constructor(state, env) {
    this.#sessions = createSessions(env, { store: durableObjectStore(state.storage), module });
  }

  fetch(request) {
    return this.#sessions.fetch(request);
  }
}
