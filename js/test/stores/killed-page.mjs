// A page whose conversation says what it stores, until its tab is killed; and what another page finds then.
import {
  createRunner,
  MemoryReader,
  Message,
  SpooledArtifact,
  Thought,
  Tool,
  ToolCall,
  toolCallChecksum,
} from '/package/turncore.min.js';
import { indexedDBStore } from '/package/stores/indexeddb.min.js';

const TURNS = 3;
/** What each of its iterations stores, and the user's message before them. */
const STEPS = ['user', 'thought call', 'answer'];
/** The text of a call, which is long enough for a file. */
const textOf = (turn) => `line of ${turn}\n`.repeat(10_000);
const question = {
  id: 'g',
  reason: 'Go on?',
  payload: {},
  createdAt: 1767225600000,
  schema: { type: 'boolean' },
};

/** A store that says what it does. */
function saying(store) {
  for (const name of ['commit', 'putBytes']) {
    const call = store[name].bind(store);
    store[name] = async (...args) => {
      console.log(name);
      const result = await call(...args);
      console.log(`${name} done`);
      return result;
    };
  }
  return store;
}

/** Runs turns of a session. */
async function converse(store, session, turns) {
  let turn;
  let status;
  const ask = new Tool({
    name: 'ask',
    description: 'Asks.',
    inputSchema: { type: 'object' },
    handler: (_args, ctx) => ctx.waitFor(question),
  });
  const runner = createRunner({
    store,
    tools: [ask],
    async executor(ctx, helpers) {
      const at = Date.now();
      const dates = { createdAt: at, updatedAt: at };
      for (let n = 0; n < 5; n++) {
        helpers.reportMessage(`${turn}.${ctx.iteration}`, 'a word ', { isComplete: n === 4 });
        await new Promise((resolve) => setTimeout(resolve));
      }
      if (ctx.iteration > 0) {
        const message = { id: `${turn}.answer`, role: 'assistant', content: 'Done.', ...dates };
        await ctx.storeMessage(new Message(message));
        ctx.ack();
        return;
      }
      await ctx.storeThought(new Thought({ id: `${turn}.thought`, content: 'Hm.', ...dates }));
      await ask.executor(ctx)({});
      const call = {
        ...{ id: `${turn}.call`, tool: 'ask', args: {}, checksum: toolCallChecksum('ask', {}) },
        ...{ isComplete: true, isError: false, completedAt: at, ...dates },
        results: new SpooledArtifact(new MemoryReader(textOf(turn))),
      };
      await ctx.storeToolCall(new ToolCall(call));
    },
  });
  runner.observe('turnEnd', (event) => (status = event.status));
  runner.observe('turnGateOpen', (gate) => {
    console.log('gate');
    gate.resolve(true);
  });
  for (turn of turns) {
    await runner.run({ message: 'Hi!', turnId: turn, sessionId: session });
    if (status !== 'ack') throw new Error(`the turn ended ${status}`);
  }
}

const allTurns = Array.from({ length: TURNS }, (_, n) => `t${n}`);

/** Says what it does until it is killed. */
globalThis.runUntilKilled = async (session) => {
  await converse(saying(indexedDBStore('killed')), session, allTurns).catch((error) =>
    console.log(`failed: ${error.stack}`),
  );
  console.log('ended');
};

/** The steps of a session that are there, each as TURN STEP. @throws Error if part of one is */
async function stepsOf(store, session) {
  const c = await store.load(session);
  const ids = [...c.messages, ...c.thoughts, ...c.toolCalls].map(({ id }) => id);
  if (new Set(ids).size !== ids.length) throw new Error(`twice: ${ids}`);
  for (const call of c.toolCalls) {
    const text = await call.results.asString();
    if (text !== textOf(call.id.split('.')[0]))
      throw new Error(`the text of ${call.id} is another`);
  }
  const there = [];
  for (const turn of [...allTurns, 'further']) {
    for (const step of STEPS) {
      const parts = step.split(' ').filter((part) => ids.includes(`${turn}.${part}`));
      if (parts.join(' ') === step) there.push(`${turn} ${step}`);
      else if (parts.length > 0) throw new Error(`of ${turn} ${step} there is ${parts}`);
    }
  }
  if (there.flatMap((step) => step.split(' ').slice(1)).length !== ids.length) {
    throw new Error(`there is more: ${ids}`);
  }
  return there;
}

/**
 * Looks at the session of a page that was killed, and goes on with it.
 *
 * @param committed how many commits the page had said were done
 * @returns what is wrong
 */
globalThis.survived = async (session, committed) => {
  const store = indexedDBStore('killed');
  try {
    const all = allTurns.flatMap((turn) => STEPS.map((step) => `${turn} ${step}`));
    const there = await stepsOf(store, session);
    if (String(there) !== String(all.slice(0, there.length))) return `not the beginning: ${there}`;
    if (there.length < committed || there.length > committed + 1) {
      return `${there.length} commits, and ${committed} were done`;
    }
    await converse(store, session, ['further']);
    const after = (await stepsOf(store, session)).slice(there.length);
    if (after.length !== STEPS.length) return `went on with ${after}`;
  } catch (error) {
    return error.stack;
  } finally {
    await store.close();
  }
};
