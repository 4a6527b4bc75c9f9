/**
 * What providers get wrong, and what lies between them and a host: each fault of the table in host/internal/faulty ends
 * as the table says. The provider is that of Go's tests.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import {
  createRunner,
  Host,
  memoryStore,
  Tool,
  type TurnEvent,
  type TurnResult,
} from '../../src/index.js';
import {
  type MessageEvent,
  type ThoughtEvent,
  type ToolCallEvent,
} from '../../src/entries/events.js';
import { root } from '../instance/go-guest.js';
import { hear, skip, testHost } from './harness.js';

interface Stored {
  readonly messages?: number;
  readonly thoughts?: number;
  readonly toolCalls?: number;
}

interface Expect {
  readonly status: string;
  readonly error?: string;
  readonly says?: readonly string[];
  readonly text?: string;
  readonly size?: number;
  readonly thoughts?: string;
  readonly interrupted?: boolean;
  readonly calls?: readonly { tool: string; result: string; error?: boolean; times?: number }[];
  readonly requests: number;
  readonly stored: Stored;
  readonly logs?: readonly string[];
}

interface Case {
  readonly name: string;
  readonly about: string;
  readonly baseURL: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly abort?: 'request' | 'text' | 'retry';
  readonly expect: Expect;
  readonly goesOn?: boolean;
}

/** What the provider has seen of a case. */
interface Seen {
  readonly requests: number;
  readonly problems: readonly string[];
}

const GOOD = 'All is well.';
const AT_ONCE = 8;
const TIME_LIMIT = 120_000;

const tools = [
  new Tool({
    name: 'add',
    description: 'add',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      required: ['a', 'b'],
    },
    handler: ({ a, b }: { a: number; b: number }) => String(a + b),
  }),
  new Tool({
    name: 'size',
    description: 'size',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    handler: ({ text }: { text: string }) => String(Array.from(text).length),
  }),
  new Tool({
    name: 'look',
    description: 'look',
    inputSchema: { type: 'object' },
    handler: () => 'seen',
  }),
  new Tool({
    name: 'fail',
    description: 'fail',
    inputSchema: { type: 'object' },
    handler: () => {
      throw new Error('broken');
    },
  }),
];

/** What a turn has shown. */
class Shown {
  text = '';
  thoughts = '';
  readonly calls: ToolCallEvent[] = [];
  readonly logs: string[] = [];
  readonly problems: string[] = [];
  /** A stream said that it was broken off. */
  #marked = false;
  readonly #open = new Map<string, string>();

  hear(event: TurnEvent): void {
    switch (event.event) {
      case 'message':
        this.text += event.aDelta;
        this.#delta(event);
        break;
      case 'thought':
        this.thoughts += event.aDelta;
        this.#delta(event);
        break;
      case 'toolCall':
        if (event.isComplete) this.calls.push(event);
        break;
      case 'log':
        if (event.level !== 'trace' && event.level !== 'debug') this.logs.push(event.kind);
        break;
      case 'dispatchEnd':
        for (const key of this.#open.keys()) this.problems.push(`${key} is not complete`);
        break;
      default:
    }
  }

  #delta(event: MessageEvent | ThoughtEvent): void {
    const key = `${event.event} ${event.id}`;
    const full = (this.#open.get(key) ?? '') + event.aDelta;
    if (event.full !== full) this.problems.push(`${key}: the deltas do not make up the text`);
    if (event.isComplete) this.#open.delete(key);
    else this.#open.set(key, full);
    if (event.isInterrupted !== true) return;
    this.#marked = true;
    if (!event.isComplete) this.problems.push(`${key} is interrupted and not complete`);
  }

  /** All that the case does not expect. */
  compare(want: Expect, result: TurnResult): string[] {
    const wrong = this.problems;
    const same = (what: string, got: unknown, wanted: unknown): void => {
      const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
      if (a !== b) wrong.push(`${what}: ${a.slice(0, 300)}, not ${b.slice(0, 300)}`);
    };
    const failed = result.status === 'nack' || result.status === 'failed';
    const { code, message } = (failed ? result.error : {}) as { code?: string; message?: string };
    same('status', result.status, want.status);
    same('error', code ?? '', want.error ?? '');
    for (const part of want.says ?? []) {
      if (!message?.includes(part)) wrong.push(`${part} is not in ${message?.slice(0, 500) ?? ''}`);
    }
    if (want.size === undefined) same('text', this.text, want.text ?? '');
    else same('size of the text', this.text.length, want.size);
    same('thoughts', this.thoughts, want.thoughts ?? '');
    const broken = want.interrupted ?? false;
    same('a mark', this.#marked, broken);
    same('interrupted', result.interrupted, broken && this.text !== '');
    same('logs', this.logs, want.logs ?? []);
    const calls = (want.calls ?? []).flatMap((call) =>
      Array<typeof call>(call.times ?? 1).fill(call),
    );
    same('calls', this.calls.length, calls.length);
    same('ids', new Set(this.calls.map(({ id }) => id)).size, calls.length);
    for (const [i, call] of calls.entries()) {
      const got = this.calls[i];
      if (got === undefined) break;
      same(`call ${i}`, [got.tool, got.isError], [call.tool, call.error ?? false]);
      if (!String(got.results).includes(call.result)) {
        wrong.push(`call ${i}: ${call.result} is not in ${String(got.results).slice(0, 300)}`);
      }
    }
    return wrong;
  }
}

describe('faults', { skip }, () => {
  let folder: string;
  let provider: ChildProcess;
  let url: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turncore-faulty-'));
    const command = join(folder, 'serve');
    await promisify(execFile)('go', ['build', '-o', command, './host/internal/faulty/serve'], {
      cwd: root,
    });
    provider = spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: provider.stdout! })) {
      url = line;
      break;
    }
  });
  after(async () => {
    provider.stdin!.end(); // its sign to end
    await new Promise((ended) => provider.once('exit', ended));
    await rm(folder, { recursive: true, force: true });
  });

  const ask = async <T>(path: string): Promise<T> => (await fetch(`${url}/${path}`)).json() as T;

  async function play(host: Host, { name, ...c }: Case): Promise<string[]> {
    const store = memoryStore();
    const shown = new Shown();
    const controller = new AbortController();
    const limit = setTimeout(() => controller.abort(new Error('out of time')), TIME_LIMIT);
    const runner = createRunner({
      model: {
        ...c.options,
        model: 'm',
        baseURL: c.baseURL.replace('SESSION', 'node'),
      },
      tools,
      store,
      bounds: { maxIterations: 8 },
      host,
    });
    const stream = runner.stream({ message: 'Hi!', signal: controller.signal });
    if (c.abort === 'request') {
      void ask(`node/${name}/arrived`).then(() => controller.abort());
    }
    try {
      await hear(stream, (event) => {
        shown.hear(event);
        if (c.abort === 'text' && event.event === 'message') controller.abort();
        if (c.abort === 'retry' && event.event === 'log' && event.kind === 'retry-attempt') {
          controller.abort();
        }
      });
    } finally {
      clearTimeout(limit);
    }
    const wrong = shown.compare(c.expect, await stream.result);
    const seen = await ask<Seen>(`node/${name}/seen`);
    if (seen.requests !== c.expect.requests || seen.problems.length > 0) {
      wrong.push(
        `${seen.requests} requests, not ${c.expect.requests}; ${seen.problems.join('; ')}`,
      );
    }
    const { messages, thoughts, toolCalls } = await store.load('default');
    const stored = [
      [...messages].filter(({ role }) => role === 'assistant').length,
      thoughts.length,
      toolCalls.length,
    ];
    const expected = c.expect.stored;
    const wanted = [expected.messages ?? 0, expected.thoughts ?? 0, expected.toolCalls ?? 0];
    if (String(stored) !== String(wanted)) {
      wrong.push(`stored ${String(stored)}, not ${String(wanted)}`);
    }
    // The provider has no more faults in store: the session goes on.
    if (c.goesOn === true) {
      const next = await runner.stream({ message: 'And now?' }).result;
      if (next.status !== 'ack' || next.text !== GOOD) {
        wrong.push(`the next turn: ${next.status} ${next.text} ${String(next.error)}`);
      }
      wrong.push(...(await ask<Seen>(`node/${name}/seen`)).problems);
    }
    return wrong;
  }

  it('end as the table says', async () => {
    const cases = await ask<Case[]>('cases');
    assert.ok(cases.length > 100);
    const host = new Host(await testHost());
    const wrong: string[] = [];
    const todo = cases.values();
    const worker = async (): Promise<void> => {
      for (const c of todo) {
        for (const line of await play(host, c)) wrong.push(`${c.name} (${c.about}): ${line}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    assert.equal(wrong.join('\n'), '');
  });
});
