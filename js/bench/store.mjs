/**
 * What a further turn of a long conversation costs with a store, and a page of a long list, as ratios of what the same
 * costs with little: host/store/internal/storebench measures the same in Go. It runs in Node and in pages.
 */

/** How much is measured: messages of the long conversation, samples of each figure, sessions of the long list. */
export const full = { messages: 5000, samples: 100, sessions: 100_000 };
export const quick = { messages: 500, samples: 5, sessions: 2000 };

/** How many sessions a page has. */
const PAGE = 50;

/**
 * @param name the store's, for the table
 * @param turncore what the package's entry point gives
 * @param store is empty
 * @param addSessions stores sessions of one message, from a number on up to another
 * @returns a row of a table in Markdown for each figure
 */
export async function measureStore(name, { createRunner, Message }, store, size, addSessions) {
  const said = (id, role, content) => {
    const at = Date.now();
    return new Message({ id, role, content, createdAt: at, updatedAt: at });
  };
  const runner = createRunner({
    store,
    async executor(ctx) {
      await ctx.storeMessage(said(`${ctx.id}.answer`, 'assistant', 'An answer of some words.'));
      ctx.ack();
    },
  });
  const turn = async (sessionId) => {
    const begun = performance.now();
    await runner.run({ message: 'Some words.', sessionId });
    return performance.now() - begun;
  };
  const deltas = Array.from({ length: size.messages }, (_, n) => ({
    op: 'store',
    kind: 'message',
    record: said(`${n}`, 'user', 'What a message says, in some words.'),
  }));
  await store.commit('long', { deltas });
  await turn('long'); // which loads it
  const first = [];
  const further = [];
  for (let n = 0; n < size.samples; n++) {
    // In turns, so that both meet the same machine.
    first.push(await turn(`first ${n}`));
    further.push(await turn('long'));
  }
  const { length } = (await store.load('long')).messages;
  if (length !== size.messages + 2 * (size.samples + 1)) {
    throw new Error(`there are ${length} messages`);
  }
  const last = further.slice(-10);
  const row = (what, took, of) =>
    `| ${name} | ${what} | ${short(took)} | ${of === undefined ? '' : `${(took / of).toFixed(2)} `}|`;
  const rows = [
    row('first turn of a conversation', median(first)),
    row(`further turn on ${size.messages} messages`, median(further), median(first)),
    row(
      `the same, turns ${size.samples - last.length + 1} to ${size.samples}`,
      median(last),
      median(first),
    ),
  ];
  await addSessions(0, 2 * PAGE);
  const few = await page(store);
  await addSessions(2 * PAGE, size.sessions);
  const many = await page(store);
  const what = `page of ${PAGE} in a list of ${size.sessions} sessions, of one of ${2 * PAGE}`;
  return [...rows, row(what, many, few)];
}

/** What a page of the list takes. */
async function page(store) {
  const took = [];
  for (let n = 0; n < 50; n++) {
    const begun = performance.now();
    const { sessions } = await store.list({ limit: PAGE });
    took.push(performance.now() - begun);
    if (sessions.length !== PAGE) throw new Error(`a page has ${sessions.length} sessions`);
  }
  return median(took);
}

/** Stores sessions of one message by commits, some at a time. */
export function committing({ Message }, store) {
  const record = new Message({ id: 'm', role: 'user', content: 'x', createdAt: 1, updatedAt: 1 });
  const deltas = [{ op: 'store', kind: 'message', record }];
  return async (from, to) => {
    for (let n = from; n < to; n += 256) {
      const some = Array.from({ length: Math.min(256, to - n) }, (_, i) =>
        store.commit(`session ${n + i}`, { deltas }),
      );
      await Promise.all(some);
    }
  };
}

const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
const short = (ms) => `${(1000 * ms).toFixed(0)} µs`;
