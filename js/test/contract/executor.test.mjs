// Executors as the published page on the executor seam shapes them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { errors, eventsOf, runnerOf, scriptedClient, skip, turncore } from './setup.mjs';

const { memoryStore, Message, Thought, Tool, ToolCall } = turncore;

const weather = new Tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  handler: async ({ city }) => `4 °C in ${city}`,
});

/**
 * An executor over a streaming client: stream, persist, run tools inside the iteration, signal on purpose.
 *
 * @param seen the checksum of each tool's last call, which toolExecutionStart has as its callId
 */
function executorOver(client, seen) {
  return async (ctx, helpers) => {
    const request = {
      system: String(ctx.systemPrompt),
      instructions: [...ctx.standingInstructions].map(String),
      messages: [...ctx.turnMessages].map((m) => [m.role, String(m.content)]),
      memories: [...ctx.turnMemories].map((m) => String(m.content)),
      documents: [...ctx.turnRetrievables].map((r) => r.id),
      thoughts: [...ctx.turnThoughts].map((t) => String(t.content)),
      toolResults: [...ctx.turnToolCalls].map((c) => [c.tool, String(c.results)]),
      tools: ctx.tools.visible().map((tool) => tool.describe()),
    };
    let text = '';
    let reasoning = '';
    const calls = [];
    for await (const chunk of client.stream(request, { signal: ctx.abortSignal })) {
      if (chunk.text !== undefined) {
        // The delta as it came, not the text so far.
        helpers.reportMessage(`message-${ctx.iteration}`, chunk.text);
        text += chunk.text;
      }
      if (chunk.reasoning !== undefined) {
        helpers.reportThought(`thought-${ctx.iteration}`, chunk.reasoning);
        reasoning += chunk.reasoning;
      }
      if (chunk.call !== undefined) calls.push(chunk.call);
    }
    const now = Date.now();
    if (reasoning !== '') {
      helpers.reportThought(`thought-${ctx.iteration}`, '', { isComplete: true });
      await ctx.storeThought(
        new Thought({
          id: `thought-${ctx.iteration}`,
          content: reasoning,
          createdAt: now,
          updatedAt: now,
        }),
      );
    }
    for (const { id, name, args } of calls) {
      helpers.reportToolCall(id, { tool: name, args });
      const tool = ctx.tools.get(name);
      const results = await tool.executor(ctx)(args);
      helpers.reportToolCall(id, { results, isComplete: true });
      await ctx.storeToolCall(
        new ToolCall({
          id,
          tool: name,
          args,
          checksum: seen.get(name),
          results,
          isComplete: true,
          isError: false,
          createdAt: now,
          updatedAt: now,
          completedAt: now,
        }),
      );
    }
    if (calls.length > 0) return; // the next iteration sees the results
    helpers.reportMessage(`message-${ctx.iteration}`, '', { isComplete: true });
    await ctx.storeMessage(
      new Message({
        id: `message-${ctx.iteration}`,
        role: 'assistant',
        content: text,
        createdAt: now,
        updatedAt: now,
      }),
    );
    helpers.log.info({ kind: 'usage', message: 'answered', payload: { characters: text.length } });
    ctx.ack();
  };
}

describe('the executor seam', { skip }, () => {
  it('proposes, runs the tool, and answers in the next iteration', async () => {
    const client = scriptedClient(
      [
        { reasoning: 'Ask the ' },
        { reasoning: 'tool.' },
        { call: { id: 'c1', name: 'get_weather', args: { city: 'Oslo' } } },
      ],
      [{ text: 'It is ' }, { text: '4 °C.' }],
    );
    const store = memoryStore();
    const seen = new Map();
    const runner = await runnerOf(
      {
        executorCallback: executorOver(client, seen),
        tools: [weather],
        turnInputPipeline: [
          async (ctx, next) => {
            for (const m of await ctx.fetchMessages()) ctx.turnMessages.add(m);
            await next();
          },
        ],
      },
      store,
    );
    runner.observe('toolExecutionStart', (e) => seen.set(e.toolName, e.callId));
    const events = await eventsOf(runner, {
      message: 'Weather in Oslo?',
      standingInstructions: ['Use metric units.'],
    });

    const [first, second] = client.requests;
    assert.equal(first.system, 'You are terse.');
    assert.deepEqual(first.instructions, ['Use metric units.']);
    assert.deepEqual(
      first.tools.map((t) => t.name),
      ['get_weather'],
    );
    assert.deepEqual(second.toolResults, [['get_weather', '4 °C in Oslo']]);
    assert.deepEqual(second.thoughts, ['Ask the tool.']);

    const messages = events.filter((e) => e.event === 'message');
    assert.deepEqual(
      messages.map((e) => [e.aDelta, e.full, e.isComplete]),
      [
        ['It is ', 'It is ', false],
        ['4 °C.', 'It is 4 °C.', false],
        ['', 'It is 4 °C.', true],
      ],
    );
    const calls = events.filter((e) => e.event === 'toolCall');
    const [start] = events.filter((e) => e.event === 'toolExecutionStart');
    assert.deepEqual(
      calls.map((e) => [e.isComplete, e.checksum === start.callId]),
      [
        [false, true],
        [true, true],
      ],
    );
    const end = events.find((e) => e.event === 'dispatchEnd');
    assert.deepEqual([end.status, end.iterations], ['ack', 2]);
  });

  it('an id that is sealed throws a bare Error, which nacks when nobody catches it', async () => {
    const runner = await runnerOf({
      executorCallback: async (ctx, helpers) => {
        helpers.reportMessage('m', 'done', { isComplete: true });
        helpers.reportMessage('m', ' and more');
      },
    });
    const events = await eventsOf(runner);
    const { error } = events.find((e) => e.event === 'error');
    assert.equal(error.code, 'E_LLM_EXECUTION_EXECUTOR_ERROR');
    assert.equal(error.cause.constructor, Error);
    assert.equal(events.find((e) => e.event === 'dispatchEnd').status, 'nack');
  });

  it('a nack reports the very error, a throw is wrapped', async () => {
    class RateLimited extends Error {
      code = 'E_RATE_LIMITED';
    }
    const expected = new RateLimited('slow down');
    const nacked = await eventsOf(
      await runnerOf({ executorCallback: async (ctx) => ctx.nack(expected) }),
    );
    assert.equal(nacked.find((e) => e.event === 'error').error, expected);
    assert.equal(nacked.find((e) => e.event === 'dispatchEnd').error, expected);
    const thrown = await eventsOf(
      await runnerOf({
        executorCallback: async () => {
          throw expected;
        },
      }),
    );
    const { error } = thrown.find((e) => e.event === 'error');
    assert.ok(error instanceof errors.E_LLM_EXECUTION_EXECUTOR_ERROR);
    assert.equal(error.cause, expected);
  });

  it('an abort reaches the client by the context’s signal, and what was stored is discarded', async () => {
    const controller = new AbortController();
    const client = scriptedClient([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
    const store = memoryStore();
    const runner = await runnerOf({ executorCallback: executorOver(client, new Map()) }, store);
    runner.on('message', () => controller.abort());
    const events = await eventsOf(runner, { turnAbortController: controller });
    assert.deepEqual(
      events.map((e) => e.event),
      [
        'turnStart',
        'dispatchStart',
        'iterationStart',
        'message',
        'iterationEnd',
        'dispatchEnd',
        'turnEnd',
      ],
    );
    assert.equal(events.at(-1).status, 'aborted');
  });

  it('what is reported and not stored is a ghost', async () => {
    const heard = [];
    const runner = await runnerOf({
      executorCallback: async (ctx, helpers) => {
        helpers.reportMessage('progress', 'thinking…', { isComplete: true });
        ctx.ack();
      },
      turnOutputPipeline: [
        async (ctx, next) => {
          heard.push([...ctx.turnMessages].length);
          await next();
        },
      ],
    });
    const events = await eventsOf(runner);
    assert.equal(events.filter((e) => e.event === 'message').length, 1);
    assert.deepEqual(heard, [0]);
  });
});
