/**
 * How the chat executor runs the tool calls of an answer. Go's tests play the same turns.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AnyTool,
  ChatExecutor,
  type DispatchContext,
  MemoryJournal,
  replay,
  Tool,
  type ToolCallEvent,
} from '../../src/index.js';
import { coreModule, makeRun, skip, testHost } from './harness.js';

/** An answer that calls the tool `work` once for each n. */
const works = (...ns: readonly number[]): object => ({
  message: {
    content: null,
    tool_calls: ns.map((n, i) => ({
      id: `c${i}`,
      type: 'function',
      function: { name: 'work', arguments: JSON.stringify({ n }) },
    })),
  },
  finish_reason: 'tool_calls',
});

const done = { message: { content: 'done' }, finish_reason: 'stop' };

/** Something that is waited for. */
interface Signalled {
  readonly happened: Promise<void>;
  tell(): void;
}

function signalled(): Signalled {
  let tell = (): void => undefined;
  const happened = new Promise<void>((resolve) => (tell = resolve));
  return { happened, tell: () => tell() };
}

const workTool = (
  handler: (n: number, ctx: DispatchContext) => Promise<unknown>,
): Tool<{ n: number }> =>
  new Tool<{ n: number }>({
    name: 'work',
    description: 'works',
    inputSchema: { type: 'object' },
    handler: ({ n }, ctx) => handler(n, ctx),
  });

interface Request {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly tool_call_id?: string;
  }[];
}

/** Runs a turn of a model with these answers; gives what was asked of it, stored and told, and checks that it replays. */
async function converse(
  tool: AnyTool,
  options: Readonly<Record<string, unknown>>,
  answers: readonly object[],
) {
  const requests: Request[] = [];
  const answer: typeof fetch = (_input, init) => {
    const body = init?.body as Uint8Array<ArrayBuffer>;
    requests.push(JSON.parse(new TextDecoder().decode(body)) as Request);
    return Promise.resolve(Response.json({ choices: [answers[requests.length - 1]] }));
  };
  const journal = new MemoryJournal();
  const run = await makeRun(() => undefined, {
    executorCallback: new ChatExecutor({
      baseURL: 'http://127.0.0.1/v1',
      model: 'm',
      trust: 'off',
      ...options,
    }),
    tools: [tool],
    host: await testHost({ fetch: answer, journal: () => journal }),
  });
  await run.runner.run({ systemPrompt: 'test', message: 'work' });
  const report = await replay(journal.bytes(), await coreModule());
  assert.equal(report.difference, undefined);
  const told = (n: number): string[] =>
    requests[n]!.messages.filter((m) => m.role === 'tool').map(
      (m) => `${m.tool_call_id} ${m.content}`,
    );
  const stored = run.writes.filter((w) => w.startsWith('storeToolCall'));
  const ends = run.events
    .filter((e): e is ToolCallEvent => e.event === 'toolCall' && e.isComplete)
    .map((e) => e.id);
  return { ...run, requests, told, stored, ends };
}

describe('tool calls of the chat executor', { skip }, () => {
  it('in parallel: they begin, are stored and are told in order, whatever order they end in', async () => {
    let running = 0;
    let most = 0;
    const ended = Array.from({ length: 4 }, () => signalled());
    const all = signalled();
    const tool = workTool(async (n) => {
      running += 1;
      most = Math.max(most, running);
      if (running === 3) all.tell();
      await all.happened;
      if (n < 2) await ended[n + 1]!.happened;
      running -= 1;
      ended[n]!.tell();
      if (n === 1) throw new Error('no network');
      return `result ${n}`;
    });
    const run = await converse(tool, { parallel: 3 }, [works(0, 1, 2, 3), done]);
    assert.equal(most, 3);
    assert.deepEqual(run.told(1), [
      'c0 result 0',
      "c1 The tool's handler failed: no network",
      'c2 result 2',
      'c3 result 3',
    ]);
    assert.deepEqual(
      run.stored,
      ['c0', 'c1', 'c2', 'c3'].map((id) => `storeToolCall ${id}`),
    );
    assert.ok(run.ends.indexOf('c2') < run.ends.indexOf('c1'), run.ends.join(' '));
    assert.ok(run.ends.indexOf('c1') < run.ends.indexOf('c0'), run.ends.join(' '));
    assert.ok(run.names.includes('tE(ack)'), run.names.join(' '));
  });

  it('an abort tells all calls that run, and no other begins', async () => {
    let begun = 0;
    const both = signalled();
    const tool = workTool(async (n, ctx) => {
      begun += 1;
      if (begun === 2) both.tell();
      await both.happened;
      if (n === 0) ctx.abort();
      const { abortSignal } = ctx;
      if (!abortSignal.aborted) {
        await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
      }
      throw abortSignal.reason;
    });
    const run = await converse(tool, { parallel: 2 }, [works(0, 1, 2, 3)]);
    assert.equal(begun, 2);
    assert.equal(run.requests.length, 1);
    assert.deepEqual(run.stored, []);
  });
});
