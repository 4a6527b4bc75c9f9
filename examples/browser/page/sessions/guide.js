// The agent of this page, and the runner that answers in its sessions.
import { LlmAgent, pendingCalls, Runner, SessionService } from '/turncore/sessions.min.js';

import { calculator, clock, weather } from '../tools.js';

/** Whose sessions they are. */
export const OWNER = { appName: 'turncore-demo', userId: 'visitor' };

const INSTRUCTION =
  'You are the assistant of a demo page. Use the tools where they fit. Answer briefly, in plain text without Markdown. ' +
  'What the visitor asked you to remember: {remembered?}';

const text = { type: 'string', minLength: 1, maxLength: 200 };
const inputSchema = {
  type: 'object',
  properties: { text },
  required: ['text'],
  additionalProperties: false,
};

/** Puts something into the session's state, which the event of its result carries. */
const remember = {
  name: 'remember',
  description: 'Remembers something for the visitor.',
  inputSchema,
  runAsync({ text }, ctx) {
    ctx.state['remembered'] = [...(ctx.state['remembered'] ?? []), text];
    return { remembered: ctx.state['remembered'].length };
  },
};

/** Does not run before the visitor has confirmed the call. */
const forget = {
  name: 'forget',
  description: 'Forgets something that was remembered. The visitor is asked first.',
  inputSchema,
  requireConfirmation: ({ text }) => ({ hint: `Forget ${JSON.stringify(text)}?` }),
  runAsync({ text }, ctx) {
    const known = ctx.state['remembered'] ?? [];
    if (!known.includes(text)) return { found: false };
    const left = known.filter((each) => each !== text);
    ctx.state['remembered'] = left.length === 0 ? null : left;
    return { forgotten: text };
  },
};

/** Runs the agent in sessions. */
export class Guide {
  /** Lists, makes, loads, forks and deletes the sessions. */
  sessions;
  #store;
  #runner;

  /** @param store keeps the sessions */
  constructor(store) {
    this.#store = store;
    this.sessions = new SessionService({
      store,
      host: { allowedOrigins: [location.origin], fetch: (input, init) => fetch(input, init) },
    });
  }

  /** The store, for documents and titles. */
  get store() {
    return this.#store;
  }

  /** Takes a model. @param model options of a model behind an API, or of an engine */
  use(model) {
    const agent = new LlmAgent({
      name: 'guide',
      description: 'Answers visitors of the demo page.',
      model,
      instruction: INSTRUCTION,
      tools: [remember, forget, weather, calculator, clock],
    });
    this.#runner = new Runner({ appName: OWNER.appName, agent, sessionService: this.sessions });
  }

  /** Answers a message in a session: gives the events as they come. */
  answer(sessionId, newMessage, signal) {
    return this.#runner.runAsync({ userId: OWNER.userId, sessionId, newMessage, signal });
  }

  /** Takes a session back to before an invocation. */
  rewind(sessionId, rewindBeforeInvocationId) {
    return this.#runner.rewind({ userId: OWNER.userId, sessionId, rewindBeforeInvocationId });
  }

  /** A session; undefined if there is none. */
  load(sessionId) {
    return this.sessions.getSession({ ...OWNER, sessionId });
  }
}

export { pendingCalls };
