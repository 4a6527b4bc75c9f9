/**
 * Input that is meant to do harm: names that objects inherit, and brackets without end.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createRunner,
  type DispatchContext,
  MemoryReader,
  Message,
  SpooledArtifact,
  SpooledJsonArtifact,
  Tokenizable,
  Tool,
  ToolCall,
} from '../../src/index.js';
import { codeOf, runTurn, script, skip, testHost } from './harness.js';

const DEEP = 10_000;
const nested = '['.repeat(DEEP) + ']'.repeat(DEEP);
const deep = (): unknown => JSON.parse(nested);

const raw = {
  id: 'c',
  tool: 't',
  args: {},
  checksum: 's',
  isComplete: true,
  isError: false,
  results: 'r',
  createdAt: 1,
  updatedAt: 1,
  completedAt: 1,
};

/** A tool that takes anything and gives back what it got. */
const echo = new Tool({
  name: 'echo',
  description: 'echo',
  inputSchema: { type: 'object' },
  handler: (args) => args,
});

/** The code of what a function throws or rejects with, with those of its causes. */
async function codes(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return cause === undefined ? codeOf(error) : `${codeOf(error)} ${codeOf(cause)}`;
  }
  return 'nothing was thrown';
}

describe('names that objects inherit', { skip }, () => {
  const hostile = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":3,"hasOwnProperty":4}',
  ) as Record<string, unknown>;
  const keys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

  it('are data in arguments, stash, metadata and payloads', async () => {
    const meta = new Tool({
      name: 'meta',
      description: 'meta',
      inputSchema: { type: 'object' },
      meta: hostile,
      handler: (_args, _ctx, own) => own.keys(),
    });
    let seen: unknown;
    const run = await runTurn(
      async (ctx) => {
        assert.deepEqual(Object.keys((await echo.executor(ctx)(hostile)) as object), keys);
        seen = await meta.executor(ctx)({});
        assert.deepEqual(Object.keys(ctx.stash.get('given') as object), keys);
        ctx.stash.set('__proto__.x', 1).set('constructor', hostile);
        assert.equal(ctx.stash.get('__proto__.x'), 1);
        const call = new ToolCall({
          ...raw,
          args: hostile,
          payload: hostile,
          replayCompatibility: 'v',
        });
        await ctx.storeToolCall(call);
        assert.deepEqual(Object.keys(call.args), keys);
        ctx.ack();
      },
      {},
      { stash: { given: hostile, ...{ ['constructor']: 1 } } },
    );
    assert.equal(run.names.at(-1), 'tE(ack)');
    assert.deepEqual(seen, [
      '__proto__.polluted',
      'constructor.prototype',
      'toString',
      'hasOwnProperty',
    ]);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});

describe('10,000 nested brackets', { skip }, () => {
  it('are refused by the constructors', async () => {
    const cases: [string, () => unknown][] = [
      [
        'E_INVALID_INITIAL_TOOL_CALL_VALUE',
        () => new ToolCall({ ...raw, args: `{"a":${nested}}` }),
      ],
      ['E_INVALID_INITIAL_TOOL_CALL_VALUE', () => new ToolCall({ ...raw, args: { a: deep() } })],
      [
        'E_INVALID_INITIAL_TOOL_CALL_VALUE',
        () => new ToolCall({ ...raw, payload: deep(), replayCompatibility: 'v' }),
      ],
      [
        'E_INVALID_INITIAL_TOOL_VALUE',
        () =>
          new Tool({
            name: 't',
            description: 't',
            inputSchema: { type: 'object', default: deep() },
            handler: () => 1,
          }),
      ],
    ];
    for (const [code, run] of cases) assert.ok((await codes(run)).startsWith(code), code);
  });

  it('are refused in a turn, and the turn goes on', async () => {
    const results: string[] = [];
    const json = new SpooledJsonArtifact(new MemoryReader(nested));
    const call = (ctx: DispatchContext, name: string, args: object): Promise<unknown> | undefined =>
      ctx.tools.get(name)?.executor(ctx)(args);
    const run = await runTurn(
      script(
        async (ctx) => {
          results.push(await codes(() => echo.executor(ctx)({ a: deep() })));
          results.push(await codes(() => ctx.stash.set('a', deep())));
          await ctx.storeToolCall(new ToolCall({ ...raw, results: json }));
          const plain = new SpooledArtifact(new MemoryReader('text'));
          await ctx.storeToolCall(new ToolCall({ ...raw, id: 'p', results: plain }));
          await ctx.storeMessage(
            new Message({ id: 'm', role: 'user', content: nested, createdAt: 1, updatedAt: 1 }),
          );
        },
        async (ctx) => {
          assert.ok(ctx.tools.has('artifact_grep'));
          const pattern = '('.repeat(DEEP) + ')'.repeat(DEEP);
          results.push(await codes(() => call(ctx, 'artifact_grep', { callId: 'p', pattern })));
          if (ctx.tools.has('artifact_json_type')) {
            results.push(await codes(() => call(ctx, 'artifact_json_type', { callId: 'c' })));
            const path = `$${'[?(@'.repeat(DEEP)}`;
            results.push(await codes(() => call(ctx, 'artifact_json_get', { callId: 'c', path })));
          }
        },
      ),
    );
    assert.equal(run.names.at(-1), 'tE(ack)', run.names.join(' '));
    assert.ok(results.length >= 3);
    for (const result of results) assert.match(result, /^E_[A-Z_]+/, results.join('; '));
  });

  it('are refused as the arguments of a tool that a model calls', async () => {
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const bodies = [
      chunk({
        tool_calls: [
          { index: 0, id: 'x', function: { name: 'echo', arguments: `{"a":${nested}}` } },
        ],
      }) +
        chunk({}, 'tool_calls') +
        'data: [DONE]\n\n',
      `${chunk({ content: 'done' })}${chunk({}, 'stop')}data: [DONE]\n\n`,
    ];
    const runner = createRunner({
      model: { baseURL: 'https://model.test/v1', model: 'm' },
      tools: [echo],
      host: await testHost({
        fetch: () =>
          Promise.resolve(
            new Response(bodies.shift(), { headers: { 'content-type': 'text/event-stream' } }),
          ),
      }),
    });
    const stream = runner.stream({ message: 'go' });
    const result = await stream.result;
    assert.equal(result.text, 'done');
    assert.equal(result.status, 'ack');
  });

  it('are text like any other in a Tokenizable', () => {
    assert.equal(new Tokenizable(nested).length, 2 * DEEP);
  });
});
