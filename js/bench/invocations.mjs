/**
 * Invocations of an agent whose model asks for one tool call, which writes a value of the state: in a session of their
 * own, and in one that has had others.
 */
import { Host } from 'turncore';
import { LlmAgent, Runner, SessionService } from 'turncore/sessions';
import { fullModuleURL } from '../dist/wasm.js';
import { provider } from './chat.mjs';
import { LONG } from './histories.mjs';
import { measure, micros, now, paired, subject, timedAsync } from './meter.mjs';

export async function measureInvocations(pace) {
  const plain = new Geography(lookUp, capitalOf);
  const chat = new Geography({ model: 'm', baseURL: 'http://provider/v1' }, add, provider(20));
  const alone = [
    timedAsync('invocation', () => plain.alone()),
    timedAsync('invocation-chat', () => chat.alone()),
  ];
  await measure(pace, ...alone);
  const further = [0, 50, LONG].map((before) => plain.further(`invocation-${before}`, before));
  await measure(pace, ...further);
  const ratio = (a, b) => a / b;
  return [
    ...[...alone, ...further].map(micros),
    paired('invocation-ratio-50', '×', further[1], further[0], ratio),
    paired('invocation-ratio-5000', '×', further[2], further[0], ratio),
  ];
}

const schemaOf = (type, ...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type }])),
  required: names,
});

export const capitalOf = {
  name: 'capital_of',
  description: 'Returns the capital of a country.',
  inputSchema: schemaOf('string', 'country'),
  runAsync: ({ country }, ctx) => {
    ctx.state.last_country = country;
    return { result: 'Paris' };
  },
};

export const add = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: schemaOf('number', 'a', 'b'),
  runAsync: ({ a, b }, ctx) => {
    ctx.state.last = a;
    return { sum: a + b };
  },
};

/** A model that asks for the tool, and answers when it has the result. */
export function lookUp({ lastContent }) {
  const [part] = lastContent.parts;
  const answer = part.functionResponse
    ? { text: 'The capital of France is Paris.' }
    : { functionCall: { name: 'capital_of', args: { country: 'France' } } };
  return { content: { role: 'model', parts: [answer] }, turnComplete: true };
}

/** A runner whose agent looks something up. */
export class Geography {
  #service;
  #runner;
  #made = 0;

  constructor(model, tool, fetch, module = fullModuleURL) {
    const host = new Host({ fetch, module });
    this.#service = new SessionService({ host });
    const agent = new LlmAgent({
      name: 'root',
      description: 'Answers questions about geography.',
      instruction: 'Answer briefly.',
      model,
      tools: [tool],
    });
    this.#runner = new Runner({ appName: 'bench', agent, sessionService: this.#service });
  }

  #key(sessionId) {
    return { appName: 'bench', userId: 'user', sessionId };
  }

  async #create() {
    const id = `s${++this.#made}`;
    await this.#service.createSession(this.#key(id));
    return id;
  }

  async #ask(sessionId) {
    let events = 0;
    const input = { userId: 'user', sessionId, newMessage: 'What is the capital of France?' };
    for await (const { partial } of this.#runner.runAsync(input)) if (!partial) events++;
    if (events !== 3) throw new Error(`an invocation of ${events} events is not what is measured`);
  }

  #delete(id) {
    return this.#service.deleteSession(this.#key(id));
  }

  /** An invocation in a session of its own. */
  async alone() {
    const id = await this.#create();
    await this.#ask(id);
    await this.#delete(id);
  }

  /** An invocation in a session that has had so many. A session serves until it has had half as many again. */
  further(figure, before) {
    let id;
    let had = 0;
    return subject(figure, async () => {
      if (id === undefined || had > before * 1.5) {
        if (id !== undefined) await this.#delete(id);
        id = await this.#create();
        for (had = 0; had < before; had++) await this.#ask(id);
      }
      had++;
      const start = now();
      await this.#ask(id);
      return now() - start;
    });
  }
}
