// Plays a recorded conversation on a platform of JavaScript. The command, which started this, is the provider, answers
// the tool calls and compares the requests: nothing here knows the recording.

/**
 * Plays the conversation.
 *
 * @param modules of the package: its index, `cli/lines.js` and `entropy.js`
 * @param {string} stage address of the command
 * @param host where the core's module is, and where the journal goes
 * @returns {Promise<string>} the event log, as `turncore run --json` writes it
 */
export async function play({ index, lines, entropy }, stage, host) {
  const { createRunner, memoryStore, Message, Thought, Tokenizable, Tool, ToolCall } = index;
  const ask = async (path, question) => {
    const response = await fetch(`${stage}/-/${path}`, {
      method: 'POST',
      body: JSON.stringify(question),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const beginning = await ask('beginning', null);
  const { seed, partsSeed, fixedClock, hidden, systemPrompt } = beginning;
  const parts = entropy.seededEntropy(partsSeed);

  const messageOf = ({ attachments, ...message }) =>
    new Message({
      ...message,
      ...(attachments && { attachments: attachments.map((media) => mediaOf(index, media)) }),
    });
  const records = {
    message: messageOf,
    thought: (record) => new Thought(record),
    toolCall: (record) => new ToolCall(record),
  };
  const store = memoryStore();
  await store.commit('default', {
    deltas: beginning.records.map(({ kind, record }) => ({
      op: 'store',
      kind,
      record: records[kind](record),
    })),
  });

  /** Ends the turn with the recording. Otherwise the user says what the recorded client goes on with. */
  const afterIteration = async (ctx, next) => {
    if (!ctx.isSignalled) {
      const all = [...ctx.turnMessages, ...ctx.turnToolCalls];
      const latest = Math.max(0, ...all.map(({ createdAt }) => createdAt.getTime()));
      const { over, said } = await ask('next', { latest });
      if (over) ctx.ack();
      else for (const message of said) await ctx.storeMessage(messageOf(message));
    }
    await next();
  };

  const runner = createRunner({
    model: beginning.model,
    tools: beginning.tools.map(
      (tool) =>
        new Tool({
          ...tool,
          inputSchema: ANYTHING,
          handler: (args) => ask('answer', { tool: tool.name, args }),
        }),
    ),
    store,
    bounds: { maxIterations: beginning.maxIterations },
    turnInputPipeline: [
      (ctx, next) => {
        ctx.tools.hide(...hidden);
        return next();
      },
    ],
    dispatchOutputPipeline: [afterIteration],
    host: {
      ...host(beginning),
      clock: fixedClock ? entropy.fixedClock() : entropy.systemClock,
      entropy: seed === null ? undefined : entropy.seededEntropy(seed),
      fetch: async (input, init) => {
        const { pathname, search } = new URL(input instanceof Request ? input.url : input);
        const response = await fetch(stage + pathname + search, init);
        // A turn whose clock stands still must not depend on how long the network takes.
        const body = new Uint8Array(await response.arrayBuffer());
        return new Response(cut(body, parts), response);
      },
    },
  });
  const { message } = beginning;
  const stream = runner.stream({
    message:
      typeof message === 'string' ? message : message === null ? undefined : messageOf(message),
    systemPrompt: new Tokenizable(systemPrompt),
  });
  const log = [];
  try {
    for await (const event of stream) log.push(JSON.stringify(event));
  } catch (error) {
    if (error !== (await stream.result).error) throw error; // else the last line tells of it
  }
  log.push(JSON.stringify(lines.endLine(await stream.result, await store.load('default'))));
  return `${log.join('\n')}\n`;
}

/** Takes arguments as they are: the recorded client has judged them. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'recording', validate: (value) => ({ value }) },
};

function mediaOf({ Media, MemoryReader }, { data, source, ...what }) {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  return Media.userAttachment({
    ...what,
    ...(source === '' ? {} : { source }),
    reader: new MemoryReader(bytes),
  });
}

/** Bytes of the longest part. */
const MAX_PART = 48;

/** A body in parts cut at random bytes: those of the command's own engines. */
function cut(body, random) {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        const size = 1 + (random(1)[0] % MAX_PART);
        if (at >= body.length) return controller.close();
        controller.enqueue(body.slice(at, at + size));
        at += size;
      },
    },
    { highWaterMark: 0 },
  );
}
