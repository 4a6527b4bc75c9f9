/**
 * The turn that is measured: a tool call in its first iteration, an answer in its second. Nothing is stored and no
 * model is asked, so that what is left is Turncore. The Go half measures the same one.
 */
import { Host, Message, Tool, ToolCall, TurnRunner } from 'turncore';

const instant = 1767225600000;

const names = [
  'StandingInstruction',
  'Memory',
  'Retrievable',
  'Message',
  'Thought',
  'ToolCall',
].flatMap((kind) => [`store${kind}`, `mutate${kind}`, `delete${kind}`]);
const fetches = ['Memories', 'Messages', 'Thoughts', 'ToolCalls', 'Tools', 'Retrievables'];

/** Callbacks that keep nothing and find nothing; asynchronous, as those of a real store are. */
export const noStorage = Object.fromEntries([
  ...names.map((name) => [`${name}Callback`, async () => {}]),
  ...fetches.map((name) => [`fetch${name}Callback`, async () => []]),
  ['refreshStandingInstructionsCallback', async () => []],
  ['storeMediaBytesCallback', async () => {}],
  ['storeRetrievableBytesCallback', async () => {}],
]);

const functional = ['message', 'thought', 'toolCall'];
const observability = [
  'turnStart',
  'turnEnd',
  'dispatchStart',
  'dispatchEnd',
  'iterationStart',
  'iterationEnd',
  'toolExecutionStart',
  'toolExecutionEnd',
  'error',
];

/** Events of a turn without deltas. */
const QUIET = 10;

/** What measured turns are started with. */
export const input = { systemPrompt: 'Answer briefly.', message: 'What is 1 + 2?' };

/** The record of a call that adds 1 and 2. */
export function sumCall(id, tool, results) {
  return new ToolCall({
    id,
    tool,
    args: { a: 1, b: 2 },
    checksum: 'none',
    isComplete: true,
    isError: false,
    results,
    createdAt: instant,
    updatedAt: instant,
    completedAt: instant,
  });
}

/** A runner with a listener of all events. */
export class Conversation {
  #events = 0;
  #status = '';
  /** What a turn is started with. */
  input = input;

  /**
   * @param deltas how many an answer is streamed in
   * @param config what differs from the usual runner
   */
  constructor(deltas, config = {}) {
    this.deltas = deltas;
    this.add = new Tool({
      name: 'add',
      description: 'Adds two numbers.',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      handler: async ({ a, b }) => a + b,
    });
    this.runner = new TurnRunner({
      ...noStorage,
      // An instance of its own, which no other measurement has grown.
      ...(config.module === undefined && { host: new Host() }),
      tools: [this.add],
      executorCallback: (ctx, helpers) =>
        ctx.iteration === 0 ? this.#callTool(ctx) : this.#answer(ctx, helpers),
      ...config,
    });
    const listener = () => void this.#events++;
    for (const name of functional) this.runner.on(name, listener);
    for (const name of observability) this.runner.observe(name, listener);
    this.runner.observe('turnEnd', (event) => (this.#status = event.status));
  }

  async #callTool(ctx) {
    const sum = await this.add.executor(ctx)({ a: 1, b: 2 });
    await ctx.storeToolCall(sumCall('c1', 'add', String(sum)));
  }

  async #answer(ctx, helpers) {
    for (let i = 0; i < this.deltas; i++) {
      // As the chunks of a model's stream come: each in a microtask of its own.
      await null;
      helpers.reportMessage('m1', 'a word ', { isComplete: i === this.deltas - 1 });
    }
    await ctx.storeMessage(message('m1', 'assistant', '1 and 2 make 3'));
    ctx.ack();
  }

  /** Runs a turn and checks that it was one. */
  async turn() {
    this.#events = 0;
    await this.runner.run(this.input);
    if (this.#status !== 'ack' || this.#events !== QUIET + this.deltas) {
      throw new Error(`the turn ended ${this.#status} after ${this.#events} events`);
    }
  }

  /** Runs a turn whose answer a provider streams: it tells more than the deltas. */
  async ask() {
    this.#events = 0;
    await this.runner.run(this.input);
    if (this.#status !== 'ack' || this.#events < QUIET + this.deltas) {
      throw new Error(`the turn ended ${this.#status} after ${this.#events} events`);
    }
  }

  /** Runs a turn whose events are not those of a conversation. */
  async other() {
    await this.runner.run(this.input);
    if (this.#status !== 'ack') throw new Error(`the turn ended ${this.#status}`);
  }
}

/** A message as a store would give it. */
export function message(id, role, content) {
  return new Message({ id, role, content, createdAt: instant, updatedAt: instant });
}
