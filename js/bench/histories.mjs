/**
 * Turns and iterations on a long history, and messages that are added one by one.
 */
import { loadConversation } from 'turncore';
import { History } from 'turncore/records';
import { Conversation, input, message } from './conversation.mjs';
import { measure, micros, now, once, paired, subject, timedAsync } from './meter.mjs';

export const LONG = 5000;
const ITERATIONS = 100;

export function messages(n) {
  return Array.from({ length: n }, (_, i) =>
    message(
      `h${i}`,
      i % 2 === 0 ? 'user' : 'assistant',
      `Message ${i} says what a message says, in some words.`,
    ),
  );
}

/** Has every turn begin with a history of n messages. */
function withHistory(n) {
  const history = new History('messages', messages(n));
  const load = async (ctx, next) => {
    ctx.turnMessages.addAll(history);
    if (ctx.turnMessages.size !== n + 1) {
      throw new Error(`the turn has ${ctx.turnMessages.size} messages`);
    }
    await next();
  };
  return { turnInputPipeline: [load] };
}

/** Has every turn load a session of n messages, from a store that makes them anew whenever it is asked for them. */
function withStore(n) {
  const revision = '1';
  const rest = { thoughts: [], toolCalls: [], memories: [], retrievables: [], instructions: [] };
  const load = (_session, after) =>
    after === revision
      ? { revision, after, messages: [], ...rest }
      : { revision, messages: messages(n), ...rest };
  const check = async (ctx, next) => {
    if (ctx.turnMessages.size !== n + 1) {
      throw new Error(`the turn has ${ctx.turnMessages.size} messages`);
    }
    await next();
  };
  const store = { load, commit: () => '', putBytes: () => {}, openBytes: () => {} };
  return { turnInputPipeline: [loadConversation(store), check] };
}

/**
 * An iteration in which the executor returns without having signalled: many of them to a turn, whose beginning and end
 * are not counted.
 */
function iterating(figure, n) {
  let begun = 0;
  let took = 0;
  const conversation = new Conversation(0, {
    ...withHistory(n),
    executorCallback: async (ctx) => {
      if (ctx.iteration === 0) begun = now();
      else if (ctx.iteration === ITERATIONS) {
        took = now() - begun;
        ctx.ack();
      }
    },
  });
  return subject(figure, async () => {
    await conversation.other();
    return took / ITERATIONS;
  });
}

const ratio = (a, b) => a / b;

/** A further turn, and a further iteration of a turn, on histories that the module holds. */
export async function measureHistories(pace) {
  const lengths = [0, 50, LONG];
  const turns = lengths.map((n) => {
    const conversation = new Conversation(0, withHistory(n));
    return timedAsync(`history-${n}`, () => conversation.turn());
  });
  await measure(pace, ...turns);
  const stored = [0, LONG].map((n) => {
    const conversation = new Conversation(0, withStore(n));
    return timedAsync(`store-${n}`, () => conversation.turn());
  });
  await measure(pace, ...stored);
  const iterations = lengths.map((n) => iterating(`iteration-${n}`, n));
  await measure(pace, ...iterations);
  return [
    ...turns.map(micros),
    ...iterations.map(micros),
    ...stored.map(micros),
    paired('history-ratio', '×', turns[2], turns[0], ratio),
    paired('iteration-ratio', '×', iterations[2], iterations[0], ratio),
    paired('store-ratio', '×', stored[1], stored[0], ratio),
  ];
}

/** Messages that a turn has not seen, added one by one, and the call that takes them across. */
export async function measureAdding(pace) {
  const list = messages(LONG);
  let took = 0;
  let writes = 0;
  let crossings = 0;
  const executorCallback = async (ctx, helpers) => {
    const before = writes;
    const begun = now();
    for (const m of list) ctx.turnMessages.add(m);
    helpers.reportMessage('m1', 'done', { isComplete: true });
    took = now() - begun;
    crossings = writes - before;
    ctx.ack();
  };
  const conversation = new Conversation(0, { executorCallback });
  const adding = subject('add', async () => {
    await conversation.other();
    return took / LONG;
  });
  await measure(pace, adding);
  // A journal has an entry for each step of its turn.
  const journal = () => ({ write: () => void writes++ });
  const journaled = new Conversation(0, { executorCallback, host: { journal } });
  await journaled.runner.run(input);
  return [micros(adding), once('add-crossings', '', crossings)];
}
