/**
 * Clients in JavaScript of a server in Go, and the other way round. `host/internal/peer` is the Go side.
 */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';

import {
  createRunner,
  type DispatchExecutorFn,
  TurncoreError,
  type TurnEvent,
  type TurnStream,
} from '../../src/index.js';
import { connect, createTurnServer, nodeListener } from '../../src/entries/remote.js';
import { root } from '../instance/go-guest.js';
import { testHost } from '../turn/harness.js';

const KINDS = 'turnStart dispatchStart iterationStart message iterationEnd dispatchEnd turnEnd';

/** The Go program, in a process of its own. */
function peer(...args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn('go', ['run', './host/internal/peer', ...args], { cwd: root });
  child.stderr.pipe(process.stderr);
  return child;
}

/** Does what the user's message says, like the executor of the Go side. */
function executor(): DispatchExecutorFn {
  let runs = 0;
  return async (ctx, helpers) => {
    switch ([...ctx.turnMessages].at(-1)?.content?.toString()) {
      case 'plain':
        for (const word of ['One ', 'two ', 'three']) helpers.reportMessage('m', word);
        break;
      case 'tool': {
        const call = { tool: 'add', args: { a: 1, b: 2 }, results: 3, isError: false };
        helpers.reportToolCall('c', { ...call, isComplete: true });
        break;
      }
      case 'gate': {
        const schema = { type: 'string' };
        const question = { id: 'may/I', reason: 'May I?', payload: { n: 1 }, createdAt: 0, schema };
        helpers.reportMessage('m', String(await ctx.waitFor(question)));
        break;
      }
      case 'abort':
        helpers.reportMessage('m', 'word');
        await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
        return;
      case 'count':
        helpers.reportMessage('m', String(++runs));
        break;
      case 'error':
        ctx.nack(TurncoreError.of('E_LLM_EXECUTION_EXECUTOR_ERROR', 'no luck'));
        return;
      default:
    }
    helpers.reportMessage('m', '', { isComplete: true });
    ctx.ack();
  };
}

/** The names of a turn's events; a message that comes in more pieces is the same message. */
async function namesOf(
  stream: TurnStream,
  each: (event: TurnEvent) => unknown = () => undefined,
): Promise<string> {
  const names: string[] = [];
  try {
    for await (const event of stream) {
      if (names.at(-1) !== event.event) names.push(event.event);
      await each(event);
    }
  } catch {
    // The result has it.
  }
  return names.join(' ');
}

describe('a client in JavaScript of a server in Go', () => {
  let go: ChildProcessWithoutNullStreams;
  let url: string;
  before(async () => {
    go = peer('serve');
    const [line] = (await once(go.stdout, 'data')) as [Buffer];
    url = line.toString().trim();
  });
  after(async () => {
    go.stdin.end();
    if (go.exitCode === null) await once(go, 'exit');
    assert.equal(go.exitCode, 0);
  });

  it('sees a turn', async () => {
    const stream = connect(url).stream({ message: 'plain', sessionId: 'js' });
    assert.equal(await namesOf(stream), KINDS);
    const { status, text, iterations } = await stream.result;
    assert.deepEqual([status, text, iterations], ['ack', 'One two three', 1]);
  });

  it('sees a tool call', async () => {
    const { toolCalls } = await connect(url).stream({ message: 'tool' }).result;
    assert.deepEqual(toolCalls, [
      { id: 'c', tool: 'add', args: { a: 1, b: 2 }, isError: false, results: 3 },
    ]);
  });

  it('settles a gate', async () => {
    const client = connect(url);
    const stream = client.stream({ message: 'gate' });
    await namesOf(stream, async (event) => {
      if (event.event !== 'turnGateOpen') return;
      const gate = client.gate(event.id)!;
      await assert.rejects(gate.resolve(7), { code: 'E_INVALID_TURN_GATE_RESOLUTION' });
      await assert.rejects(gate.resolve('x', { digest: 'other' }), {
        code: 'E_INVALID_TURN_GATE_RESOLUTION',
      });
      await gate.resolve('yes');
      const path = `${url}/${event.turnId!}/gates/may%2FI`;
      const late = await fetch(path, { method: 'POST', body: '{"value":"no"}' });
      assert.equal(late.status, 409);
      assert.match(await late.text(), /E_TURN_GATE_SETTLED/);
    });
    assert.equal((await stream.result).text, 'yes');
  });

  it('aborts a turn, and hears of its end', async () => {
    const stream = connect(url).stream({ message: 'abort' });
    for await (const event of stream) if (event.event === 'message') break;
    const { status, text, interrupted } = await stream.result;
    assert.deepEqual([status, text, interrupted], ['aborted', 'word', true]);
  });

  it('gets the error of a turn', async () => {
    const { status, error } = await connect(url).stream({ message: 'error' }).result;
    assert.deepEqual(
      [status, (error as TurncoreError).code],
      ['nack', 'E_LLM_EXECUTION_EXECUTOR_ERROR'],
    );
  });

  it('gets the same turn when it asks again', async () => {
    const ask = (): TurnStream => connect(url).stream({ message: 'count', turnId: 'js-count' });
    const first = await ask().result;
    const second = await ask().result;
    assert.deepEqual([first.text, second.text], ['1', '1']);
  });

  it('reads on after every cut', async () => {
    const body = '{"message":"plain","turnId":"js-cut-0000"}';
    const whole = await (await fetch(url, { method: 'POST', body })).text();
    // Durations may have another number of digits.
    for (let size = 1; size < whole.length - 20; size += 37) {
      let cuts = 0;
      const client = connect(url, {
        retryDelay: () => 0,
        fetch: async (address, init) => {
          const response = await fetch(address, init);
          if (cuts++ > 0) return response;
          const sent = new Uint8Array(await response.arrayBuffer()).subarray(0, size);
          return new Response(sent, response);
        },
      });
      const stream = client.stream({
        message: 'plain',
        turnId: `js-cut-${String(size).padStart(4, '0')}`,
      });
      assert.equal(await namesOf(stream), KINDS, `cut after ${size}`);
      assert.equal((await stream.result).text, 'One two three');
      assert.equal(cuts, 2);
    }
  });

  it('gets refusals', async () => {
    await assert.rejects(connect(url).run({ message: '' }), { code: 'E_TURN_REQUEST_INVALID' });
    const unknown = await fetch(`${url}/nobody/events`);
    assert.equal(unknown.status, 404);
    assert.match(await unknown.text(), /E_TURN_UNKNOWN/);
  });
});

describe('a client in Go of a server in JavaScript', () => {
  it('sees the same', async () => {
    const runner = createRunner({ executor: executor(), host: await testHost() });
    const turns = createTurnServer(runner, { onDisconnect: 'continue' });
    const server = createServer(nodeListener(turns.fetch)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const go = peer('follow', `http://127.0.0.1:${port}/turns`);
    let said = '';
    go.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [status] = (await once(go, 'close')) as [number];
    server.closeAllConnections();
    server.close();
    assert.equal(status, 0);
    const played = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const plain = { status: 'ack', text: 'One two three', kinds: `${KINDS} ` };
    assert.deepEqual(played.slice(0, 7), [
      { name: 'plain', ...plain },
      { name: 'tool', status: 'ack', text: '', tools: ['add{"a":1,"b":2}3'] },
      { name: 'gate', status: 'ack', text: 'yes' },
      { name: 'abort', status: 'aborted', text: 'word' },
      { name: 'error', status: 'nack', text: '', error: 'E_LLM_EXECUTION_EXECUTOR_ERROR' },
      { name: 'count', status: 'ack', text: '1' },
      { name: 'retry', status: 'ack', text: '1' },
    ]);
    const cut = played.slice(7);
    assert.ok(cut.length > 20, `${cut.length} cuts`);
    for (const turn of cut) assert.deepEqual(turn, { name: 'reconnect', ...plain });
  });
});
