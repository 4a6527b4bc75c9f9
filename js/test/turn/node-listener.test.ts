/**
 * Turns over real connections: a server of Node, clients that go away, and one that does not read.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTo, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';

import { createRunner, type DispatchExecutorFn } from '../../src/index.js';
import { connect, createTurnServer, nodeListener } from '../../src/entries/remote.js';
import { skip, testHost } from './harness.js';

/** A server on a port of its own. @returns its address, and the promise of its turn's status */
async function listen(
  t: TestContext,
  executor: DispatchExecutorFn,
): Promise<{ port: number; url: string; ended: Promise<string> }> {
  const runner = createRunner({ executor, host: await testHost() });
  const ended = new Promise<string>((resolve) => {
    runner.observe('turnEnd', ({ status }) => resolve(status));
  });
  const server = createServer(nodeListener(createTurnServer(runner).fetch));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/turns`, ended };
}

/** Sends a request on a connection of its own. */
function ask(t: TestContext, port: number): Socket {
  const body = '{"message":"hi"}';
  const socket = connectTo(port, '127.0.0.1');
  socket.write(`POST /turns HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  t.after(() => socket.destroy());
  return socket;
}

describe('turns on a server of Node', { skip }, () => {
  it('are run, settle gates and are aborted', async (t) => {
    const { url } = await listen(t, async (ctx, helpers) => {
      const ok = await ctx.waitFor({ id: 'g', reason: '?', payload: null, createdAt: 0 });
      helpers.reportMessage('m', `${String(ok)} 😀`);
      await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
    });
    const stream = connect(url).stream({ message: 'hi' });
    for await (const event of stream) {
      if (event.event === 'turnGateOpen') event.resolve(true);
      if (event.event === 'message') break;
    }
    const { status, text } = await stream.result;
    assert.deepEqual([status, text], ['aborted', 'true 😀']);
    const missing = await fetch(`${url}/x/events`);
    assert.equal(missing.status, 404);
    assert.equal((await fetch(url)).headers.get('allow'), 'POST');
  });

  it('are refused when no handler can take the request, and when it fails', async (t) => {
    const logged = t.mock.method(console, 'error', () => undefined);
    const server = createServer(
      nodeListener(() => Promise.reject(new Error('a fault of the handler'))),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const statusOf = (head: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectTo(port, '127.0.0.1');
        socket.on('error', reject);
        socket.once('data', (data) => {
          resolve(data.toString().slice(9, 12));
          socket.destroy();
        });
        socket.write(`${head}\r\n\r\n`);
      });
    assert.equal(await statusOf('GET / HTTP/1.1\r\nHost: a b'), '400');
    assert.equal(await statusOf('GET / HTTP/1.1\r\nHost:'), '400');
    assert.equal(await statusOf('TRACE / HTTP/1.1\r\nHost: x'), '400');
    assert.equal(logged.mock.callCount(), 0);
    assert.equal(await statusOf('GET / HTTP/1.1\r\nHost: x'), '500');
    assert.equal(logged.mock.callCount(), 1);
    const make = (): unknown => nodeListener(5 as unknown as () => Promise<Response>);
    assert.throws(make, { code: 'E_INVALID_VALUE', message: /fetch/ });
  });

  it('are aborted when the client goes away', async (t) => {
    const { port, ended } = await listen(t, async (ctx, helpers) => {
      helpers.reportMessage('m', 'word');
      await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
    });
    const socket = ask(t, port);
    socket.once('data', () => socket.destroy());
    assert.equal(await ended, 'aborted');
  });

  it('send no more than a client reads', async (t) => {
    const piece = 'x'.repeat(65_536);
    const pieces = 400;
    const { port, ended } = await listen(t, async (ctx, helpers) => {
      for (let i = 0; i < pieces; i++) {
        helpers.reportMessage('m', piece);
        await new Promise(setImmediate);
      }
      ctx.ack();
    });
    const socket = ask(t, port);
    let rest = '';
    let told: () => void = () => undefined;
    const faulted = new Promise<void>((resolve) => (told = resolve));
    const begun = new Promise<void>((resolve) => {
      socket.on('data', (data) => {
        rest = rest.slice(-200) + data.toString('latin1');
        if (/event:(end|fault)\ndata:.*\n/.test(rest)) told();
        resolve();
      });
    });
    await begun;
    socket.pause();
    assert.equal(await ended, 'ack');
    socket.resume();
    await faulted;
    // It was too slow: most of the answer is no longer kept.
    assert.match(rest, /event:fault\ndata:{"code":"E_TURN_EVENTS_LOST"/);
  });
});
