/**
 * How the chat executor runs the tool calls of an answer. Go's tests play the same turns.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ChatExecutor,
  DispatchContext,
  MemoryReader,
  SpooledArtifact,
  Tokenizable,
  Tool,
  type ToolCall,
  type TurncoreError,
} from '../../src/index.js';
import { type ToolCallEvent } from '../../src/entries/events.js';
import { MemoryJournal, replay } from '../../src/entries/replay.js';
import { type AnyTool } from '../../src/entries/tools.js';
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
  readonly model: string;
  readonly temperature?: number;
  readonly tool_choice?: string;
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
  const records: ToolCall[] = [];
  const run = await makeRun(() => undefined, {
    executorCallback: new ChatExecutor({
      baseURL: 'http://127.0.0.1/v1',
      model: 'm',
      trust: 'off',
      ...options,
    }),
    tools: [tool],
    storeToolCallCallback: (_ctx, record) => {
      run.writes.push(`storeToolCall ${record.id}`);
      records.push(record);
    },
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
  return { ...run, requests, told, stored, records, ends };
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

  it('equal calls that run at once are told apart by their executionId', async () => {
    let begun = 0;
    const second = signalled();
    const tool = workTool(async () => {
      begun += 1;
      const n = begun;
      if (n === 1) await second.happened;
      else second.tell();
      return `handler ${n}`;
    });
    const run = await converse(tool, { parallel: 2 }, [works(7, 7), done]);
    const starts = run.events.filter((e) => e.event === 'toolExecutionStart');
    const ends = run.events.filter((e) => e.event === 'toolExecutionEnd');
    assert.equal(new Set([...starts, ...ends].map((e) => e.callId)).size, 1);
    assert.deepEqual(
      starts.map((e) => e.providerCallId),
      ['c0', 'c1'],
    );
    const [first, other] = starts.map((e) => e.executionId);
    assert.notEqual(first, other);
    assert.deepEqual(
      ends.map((e) => [e.executionId, e.providerCallId]),
      [
        [other, 'c1'],
        [first, 'c0'],
      ],
    );
    for (const e of run.events) {
      if (e.event !== 'toolCall') continue;
      assert.equal(e.providerCallId, e.id);
      if (e.isComplete) assert.equal(e.executionId, e.id === 'c0' ? first : other);
    }
    assert.deepEqual(
      run.records.map((r) => [r.id, r.executionId, r.providerCallId]),
      [
        ['c0', first, 'c0'],
        ['c1', other, 'c1'],
      ],
    );
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

  for (const ends of ['never', 'by its signal', 'late', 'late, with an artifact'] as const) {
    it(`a call that takes too long is given up; its handler ends ${ends}`, async () => {
      const release = signalled();
      let reason: unknown;
      let aborted = 0;
      const tool = workTool(async (n, ctx) => {
        if (n === 2) return ctx.aborted;
        const { abortSignal } = ctx;
        const fired = new Promise<void>((resolve) => {
          abortSignal.addEventListener('abort', () => {
            aborted += 1;
            resolve();
          });
        });
        if (ends === 'never') await release.happened;
        await fired;
        reason = abortSignal.reason;
        assert.ok(ctx.aborted);
        assert.ok(ctx.id !== '' && ctx instanceof DispatchContext);
        if (ends === 'by its signal') throw reason;
        return ends === 'late' ? 'late' : new SpooledArtifact(new MemoryReader('late'));
      });
      const run = await converse(tool, { toolTimeoutMs: 20 }, [works(1), works(2), done]);
      release.tell();
      assert.ok(run.names.includes('tE(ack)'), run.names.join(' '));
      const late = 'c0 The tool exceeded its time limit: more than 20 ms';
      assert.deepEqual(run.told(1), [late]);
      assert.equal(run.told(2).length, 2);
      assert.equal(run.names.filter((name) => name.startsWith('xE')).length, 2);
      assert.equal(aborted, 1);
      if (ends !== 'never') assert.equal((reason as TurncoreError).code, 'E_CHAT_TOOL_TIMEOUT');
    });
  }

  it('a time limit that is not reached changes nothing, and leaves no listeners', async () => {
    const seen: unknown[] = [];
    const tool = workTool((n, ctx) => {
      if (n < 2) {
        ctx.stash.set(`s${n}`, n);
        return Promise.resolve(ctx.iteration);
      }
      ctx.abort(new Error('enough'));
      seen.push(ctx.aborted, ctx.abortSignal.reason, ctx.stash.get('s1'));
      return Promise.resolve('');
    });
    const options = { toolTimeoutMs: 600_000, parallel: 2 };
    const run = await converse(tool, options, [works(0, 1), works(2)]);
    assert.deepEqual(run.told(1), ['c0 0', 'c1 0']);
    assert.deepEqual(seen, [true, new Error('enough'), 1]);
    assert.deepEqual(run.stored, ['storeToolCall c0', 'storeToolCall c1']);
  });

  it('a turn that was aborted ends although a handler heeds nothing', async () => {
    const release = signalled();
    const tool = workTool(async (_n, ctx) => {
      ctx.abort();
      await release.happened;
    });
    const run = await converse(tool, { toolTimeoutMs: 20 }, [works(0, 1)]);
    release.tell();
    assert.equal(run.requests.length, 1);
    assert.ok(run.names.includes('dE(aborted,1)'), run.names.join(' '));
  });

  const long = '0123456789abcde\n'.repeat(64); // 1024 bytes
  const zeros = new Array<number>(200).fill(0); // 401 bytes of JSON
  const handle = (size: number, className: string): string =>
    `Artifact c0 (${className}, ${size} bytes,`;
  const spoolings: readonly (readonly [
    name: string,
    over: number | undefined,
    result: unknown,
    told: string,
  ])[] = [
    ['text', 1023, long, handle(1024, 'SpooledArtifact')],
    ['text of that length', 1024, long, long],
    ['never', 0, long.repeat(100), long],
    ['by default', undefined, long.repeat(33), handle(33 << 10, 'SpooledArtifact')],
    ['up to the default', undefined, long.repeat(32), long],
    ['bytes', 1023, new TextEncoder().encode(long), handle(1024, 'SpooledArtifact')],
    ['rendered text', 1023, new Tokenizable(() => long), handle(1024, 'SpooledArtifact')],
    ['a value', 400, zeros, handle(401, 'SpooledJsonArtifact')],
    ['a value of that length', 401, zeros, '[0,0,'],
    ['an object', 10, { key: 'value\n' }, handle(17, 'SpooledJsonArtifact')],
    [
      'bytes that are no text',
      10,
      Uint8Array.of(0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9),
      handle(14, 'SpooledJsonArtifact'),
    ],
    ['a number', 1, 12345, '12345'],
  ];
  for (const [name, over, result, told] of spoolings) {
    it(`results that are longer than spoolResultsOver become artifacts: ${name}`, async () => {
      const tool = workTool(() => Promise.resolve(result));
      const options = over === undefined ? {} : { spoolResultsOver: over };
      const run = await converse(tool, options, [works(0), done]);
      assert.ok(run.told(1)[0]!.startsWith(`c0 ${told}`), run.told(1)[0]!.slice(0, 200));
    });
  }

  it('the stash changes options for the iterations that have it', async () => {
    const tool = workTool((n, ctx) => {
      if (n === 0) {
        const other = { model: 'other', temperature: 1, tool_choice: 'required', stop: undefined };
        ctx.stash.set('chatExecutor', other);
      } else if (n === 1) ctx.stash.delete('chatExecutor');
      else ctx.stash.set('chatExecutor', { temperature: 'warm', spoolResultsOver: -1 });
      return Promise.resolve('');
    });
    const answers = [works(0), works(1), works(2)];
    const run = await converse(tool, { temperature: 0 }, answers);
    assert.deepEqual(
      run.requests.map(({ model, temperature, tool_choice: choice }) => [
        model,
        temperature,
        choice,
      ]),
      [
        ['m', 0, undefined],
        ['other', 1, 'required'],
        ['m', 0, undefined],
      ],
    );
    const errors = run.events.filter((e) => e.event === 'error').map((e) => e.error as Error);
    assert.equal((errors[0] as TurncoreError).code, 'E_CHAT_INVALID_OPTIONS');
    assert.match(errors[0]!.message, /`stash\.chatExecutor\.temperature`/);
    assert.match(errors[0]!.message, /`stash\.chatExecutor\.spoolResultsOver`/);
  });
});
