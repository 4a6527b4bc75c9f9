/**
 * Tools within a turn, and the helpers that tell of them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DispatchContext, Tool } from '../../src/index.js';
import { type AnyTool } from '../../src/entries/tools.js';
import { runTurn, script, skip } from './harness.js';

const add = new Tool<{ a: number; b?: number }, unknown>({
  name: 'add',
  description: 'adds',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number', default: 2 } },
    required: ['a'],
    additionalProperties: false,
  },
  meta: { unit: 'apples' },
  handler: (args, ctx, meta) => ({ sum: args.a + args.b!, ctx, unit: meta.get('unit') }),
});

describe('tools', { skip }, () => {
  it('get validated arguments, the context and their meta, and give back what they return', async () => {
    let result: unknown;
    let context: DispatchContext | undefined;
    const { events } = await runTurn(async (ctx) => {
      context = ctx;
      result = await add.executor(ctx)({ a: 1 });
      ctx.ack();
    });
    const { ctx, ...rest } = result as { ctx: DispatchContext };
    assert.deepEqual(rest, { sum: 3, unit: 'apples' });
    assert.ok(ctx instanceof DispatchContext);
    assert.equal(ctx.turnMessages, context?.turnMessages);
    const [start] = events.filter((e) => e.event === 'toolExecutionStart');
    assert.deepEqual(start?.args, { a: 1, b: 2 });
    assert.match(start?.callId ?? '', /^[0-9a-f]{64}$/);
  });

  it('bad arguments are refused without events', async () => {
    let ran = 0;
    const tool = new Tool({
      name: 'n',
      description: 'n',
      inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
      handler: () => ran++,
    });
    const { names } = await runTurn(async (ctx) => {
      await assert.rejects(tool.executor(ctx)({ n: '5' }), (error) => {
        assert.equal((error as { code: string }).code, 'E_INVALID_TOOL_ARGS');
        assert.equal((error as { status: number }).status, 422);
        return true;
      });
      ctx.ack();
    });
    assert.equal(ran, 0);
    assert.ok(!names.some((n) => n.startsWith('x')), names.join(' '));
  });

  it('a handler that throws is wrapped, with its error as the cause', async () => {
    const cause = new Error('down');
    const tool = new Tool({
      name: 'n',
      description: 'n',
      inputSchema: { type: 'object' },
      handler: () => Promise.reject(cause),
    });
    const { names } = await runTurn(async (ctx) => {
      await assert.rejects(tool.executor(ctx)({}), (error) => {
        assert.equal((error as { code: string }).code, 'E_TOOL_DOWNSTREAM_ERROR');
        assert.equal((error as { cause: unknown }).cause, cause);
        return true;
      });
      ctx.ack();
    });
    assert.ok(names.includes('xE(true)'), names.join(' '));
  });

  it('many run at once', async () => {
    const slow = new Tool<{ n: number }, number>({
      name: 'slow',
      description: 'slow',
      inputSchema: { type: 'object' },
      handler: async ({ n }) => {
        await new Promise((resolve) => setTimeout(resolve, 20 - n));
        return n * n;
      },
    });
    let results: number[] = [];
    await runTurn(async (ctx) => {
      const call = slow.executor(ctx);
      results = await Promise.all(Array.from({ length: 10 }, (_, n) => call({ n })));
      ctx.ack();
    });
    assert.deepEqual(
      results,
      Array.from({ length: 10 }, (_, n) => n * n),
    );
  });

  it('registries are copied into the dispatch, hidden names too', async () => {
    const names: string[] = [];
    const list = (tools: readonly AnyTool[]): string => tools.map((t) => t.name).join();
    const extra = new Tool({
      name: 'extra',
      description: 'x',
      inputSchema: { type: 'object' },
      handler: () => 'ran',
    });
    await runTurn(
      async (ctx) => {
        names.push(list(ctx.tools.all()), list(ctx.tools.visible()), list(ctx.tools.hidden()));
        assert.equal(await extra.executor(ctx)({}), 'ran');
        ctx.tools.unregister('extra');
        ctx.ack();
      },
      {
        tools: [add],
        turnInputPipeline: [
          (ctx, next) => {
            ctx.tools.register(extra).hide('add');
            return next();
          },
        ],
        turnOutputPipeline: [
          (ctx, next) => {
            names.push(list(ctx.tools.all()));
            return next();
          },
        ],
      },
    );
    assert.deepEqual(names, ['add,extra', 'extra', 'add', 'add,extra']);
  });

  it('a schema that the module does not support is refused where the tool is registered', async () => {
    const tool = new Tool({
      name: 'x',
      description: 'x',
      inputSchema: { type: 'object', $ref: 'https://example.com/schema' },
      handler: () => 1,
    });
    await runTurn((ctx) => {
      assert.throws(() => ctx.tools.register(tool), { code: 'E_INVALID_INITIAL_TOOL_VALUE' });
      assert.equal(ctx.tools.has('x'), false);
      ctx.ack();
    });
  });
});

describe('helpers', { skip }, () => {
  it('put streams together across iterations, and seal them', async () => {
    let sealed: unknown;
    const { events } = await runTurn(
      script(
        (_ctx, h) => {
          h.reportMessage('a', 'He');
          h.reportThought('a', 'hm', { isComplete: true });
        },
        (ctx, { reportMessage }) => {
          reportMessage('a', 'llo', { isComplete: true });
          try {
            reportMessage('a', 'x');
          } catch (error) {
            sealed = error;
          }
          ctx.ack();
        },
      ),
    );
    const messages = events.filter((e) => e.event === 'message');
    assert.deepEqual(
      messages.map((e) => [e.full, e.aDelta, e.isComplete, 'completedAt' in e, e.length]),
      [
        ['He', 'He', false, false, 2],
        ['Hello', 'llo', true, true, 5],
      ],
    );
    assert.ok(sealed instanceof Error);
    assert.equal(sealed.constructor, Error);
    assert.equal('code' in sealed, false);
  });

  it('tell of tool calls; results stay what they are', async () => {
    const results = { big: new Map() };
    const { events } = await runTurn(
      script((ctx, h) => {
        h.reportToolCall('t', { tool: 'search' });
        h.reportToolCall('t', { args: { query: 'hello' } });
        h.reportToolCall('t', { results, isComplete: true });
        ctx.ack();
      }),
    );
    const calls = events.filter((e) => e.event === 'toolCall');
    const sum = 'e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e';
    assert.deepEqual(
      calls.map((e) => e.checksum),
      ['', sum, sum],
    );
    assert.deepEqual(
      calls.map((e) => 'results' in e),
      [false, false, true],
    );
    assert.equal('args' in calls[0]!, false);
    assert.equal(calls[2]!.results, results);
    assert.equal(calls[2]!.completedAt, calls[2]!.updatedAt);
  });

  it('log at every level, with and without a payload', async () => {
    const { events } = await runTurn(
      script((ctx, { log }) => {
        log.trace({ kind: 'k', message: 'a' });
        log.debug({ kind: 'k', message: 'b' });
        log.info({ kind: 'k', message: 'c', payload: { deep: [1, 2.5, 'x'] } });
        log.warn({ kind: 'k', message: 'd', payload: null });
        log.error({ kind: 'k', message: 'e' });
        ctx.ack();
      }),
    );
    const lines = events.filter((e) => e.event === 'log');
    assert.deepEqual(
      lines.map((e) => e.level),
      ['trace', 'debug', 'info', 'warn', 'error'],
    );
    assert.deepEqual(
      lines.map((e) => 'payload' in e),
      [false, false, true, true, false],
    );
    assert.deepEqual(lines[2]!.payload, { deep: [1, 2.5, 'x'] });
    assert.equal(lines[0]!.iteration, 0);
  });

  it('tell what a model call cost; the event keeps its own fields', async () => {
    const { events } = await runTurn(
      script((ctx, h) => {
        h.reportGenerationStats({ promptTokens: 3, seq: 99, finishReason: 'stop' });
        ctx.ack();
      }),
    );
    const [stats] = events.filter((e) => e.event === 'generationStats');
    assert.equal(stats?.['promptTokens'], 3);
    assert.equal(stats?.['finishReason'], 'stop');
    assert.notEqual(stats?.seq, 99);
  });

  it('what cannot cross is refused with the name of its field', async () => {
    await runTurn(
      script((ctx, h) => {
        assert.throws(
          () => h.log.info({ kind: 'k', message: 'm', payload: { f: () => 1 } }),
          /payload\.f/,
        );
        assert.throws(() => h.reportToolCall('t', { args: { n: 2n ** 60n } }), /args\.n/);
        h.reportMessage('m', 'still works');
        ctx.ack();
      }),
    );
  });

  it('emit shows content that host code put together', async () => {
    const { events } = await runTurn(
      script((ctx) => {
        ctx.emitMessage({ id: 'm', full: 'whole text', aDelta: 'text', isComplete: true });
        ctx.emitToolCall({ id: 't', tool: 'x', isComplete: true, results: [1] });
        ctx.emitToolExecutionStart({ toolName: 'x', callId: 'c', args: {} });
        ctx.emitToolExecutionEnd({ toolName: 'x', callId: 'c', isError: false });
        ctx.ack();
      }),
    );
    const [m] = events.filter((e) => e.event === 'message');
    assert.deepEqual([m?.full, m?.aDelta, m?.length], ['whole text', 'text', 10]);
    const [call] = events.filter((e) => e.event === 'toolCall');
    assert.deepEqual(call?.results, [1]);
    assert.equal(events.filter((e) => e.event.startsWith('toolExecution')).length, 2);
  });
});
