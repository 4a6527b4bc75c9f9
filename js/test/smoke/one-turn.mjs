// A turn with a tool call, made by an executor of the host, for platforms to compare: with a clock that stands still
// and randomness that repeats, every platform must tell the very same events.

/** Words of the answer, one event each. */
const ANSWER = ['It ', 'is ', '4 °C ', 'in ', 'Oslo.'];

/**
 * A runner for that turn. This loads nothing, so it is legal where nothing may be loaded.
 *
 * @param turncore the package
 * @param host settings of the host
 */
export function makeRunner(turncore, host) {
  const { memoryStore, Message, storeCallbacks, Tool, ToolCall, TurnRunner } = turncore;
  const weather = new Tool({
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { enum: ['C', 'F'], default: 'C' } },
      required: ['city'],
    },
    handler: async ({ city, unit }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return `4 °${unit} in ${city}`;
    },
  });

  const callTool = async (ctx, helpers) => {
    const now = new Date(ctx.iteration);
    const args = { city: 'Oslo' };
    helpers.reportThought('t1', 'Ask ');
    helpers.reportThought('t1', 'the tool.', { isComplete: true });
    helpers.reportToolCall('c1', { tool: weather.name, args });
    const results = await weather.executor(ctx)(args);
    helpers.reportToolCall('c1', { results, isComplete: true });
    await ctx.storeToolCall(
      new ToolCall({
        id: 'c1',
        tool: weather.name,
        args,
        checksum: 'abc',
        isComplete: true,
        isError: false,
        results,
        createdAt: now,
        updatedAt: now,
        completedAt: now,
      }),
    );
  };

  const answer = async (ctx, helpers) => {
    const now = new Date(ctx.iteration);
    for (const [i, word] of ANSWER.entries()) {
      helpers.reportMessage('m1', word, { isComplete: i === ANSWER.length - 1 });
      await null;
    }
    await ctx.storeMessage(
      new Message({
        id: 'm1',
        role: 'assistant',
        content: ANSWER.join(''),
        createdAt: now,
        updatedAt: now,
      }),
    );
    ctx.ack();
  };

  return new TurnRunner({
    ...storeCallbacks(memoryStore()),
    tools: [weather],
    executorCallback: (ctx, helpers) =>
      ctx.turnToolCalls.size === 0 ? callTool(ctx, helpers) : answer(ctx, helpers),
    host,
  });
}

/**
 * Runs the turn.
 *
 * @returns its events as lines of JSON, once as the stream gave them and once as listeners heard them, and its result
 */
export async function runTurn(runner) {
  const heard = [];
  const listen = (told, event = told) => heard.push(JSON.stringify(event));
  const functional = ['message', 'thought', 'toolCall'];
  const observable = ['turnStart', 'turnEnd', 'dispatchStart', 'dispatchEnd', 'iterationStart']
    .concat(['iterationEnd', 'toolExecutionStart', 'toolExecutionEnd', 'log', 'warning', 'error'])
    .concat(['generationStats']);
  for (const name of functional) runner.on(name, listen);
  for (const name of observable) runner.observe(name, listen);
  const streamed = [];
  const stream = runner.stream({
    systemPrompt: 'Be brief.',
    message: 'How is the weather in Oslo?',
  });
  for await (const event of stream) streamed.push(JSON.stringify(event));
  const { status, text, iterations, toolCalls } = await stream.result;
  for (const name of functional) runner.off(name, listen);
  for (const name of observable) runner.unobserve(name, listen);
  return { streamed, heard, result: { status, text, iterations, toolCalls } };
}

/** Clock and randomness that make runs comparable. */
export function fixedSeams({ fixedClock, seededEntropy }) {
  return { clock: fixedClock(), entropy: seededEntropy(1) };
}
