/**
 * Turns as responses: what a server sends with `toResponse`, and what `readTurnStream` makes of it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTurncoreError, type TurnEvent, type TurnStream } from '../../src/index.js';
import { readTurnStream } from '../../src/entries/remote.js';
import { makeRun, skip } from './harness.js';

const words = 'A turn that is streamed costs little more than its text.\n'.match(/.{1,4}|\n/g)!;

async function streamOf(...args: Parameters<typeof makeRun>): Promise<TurnStream> {
  const { runner } = await makeRun(...args);
  return runner.stream({ systemPrompt: 'test' });
}

/** All events of a stream, with the deltas of a text that follow each other as one. */
async function joined(stream: TurnStream): Promise<string[]> {
  const names: string[] = [];
  for await (const event of stream) {
    const isDelta = event.event === 'message' && !event.isComplete;
    const name = isDelta ? `message ${event.id}` : describeEvent(event);
    if (!isDelta || names.at(-1) !== name) names.push(name);
  }
  return names;
}

function describeEvent(event: TurnEvent): string {
  const line = JSON.parse(JSON.stringify(event)) as Record<string, unknown>;
  return JSON.stringify(event.event === 'message' ? { ...line, aDelta: undefined } : line);
}

describe('a turn as a response', { skip }, () => {
  const answer: Parameters<typeof makeRun>[0] = async (ctx, helpers) => {
    for (const word of words) {
      helpers.reportMessage('m', word);
      await Promise.resolve();
    }
    helpers.reportMessage('m', '', { isComplete: true });
    helpers.reportGenerationStats({ promptTokens: 3, completionTokens: 4 });
    ctx.ack();
  };

  it('is read as if it ran here', async () => {
    const here = await streamOf(answer);
    const response = here.toResponse();
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const there = readTurnStream(response);
    assert.deepEqual(await joined(there), await joined(here));
    assert.deepEqual(await there.result, await here.result);
    assert.equal((await there.result).text, words.join(''));
    assert.deepEqual((await there.result).usage, (await here.result).usage);
  });

  it('costs at most 1.3 times the bytes of the answer, whatever the pace', async () => {
    const deltas = Array.from({ length: 5000 }, (_, i) => words[i % words.length]!);
    const size = deltas.join('').length;
    for (const slow of [false, true]) {
      const stream = await streamOf(async (ctx, helpers) => {
        for (const delta of deltas) {
          helpers.reportMessage('m', delta);
          if (slow) await new Promise(setImmediate);
        }
        helpers.reportMessage('m', '', { isComplete: true });
        ctx.ack();
      });
      const sent = (await stream.toResponse().arrayBuffer()).byteLength;
      assert.ok(sent <= 1.3 * size, `${sent} bytes for ${size}, ${sent / size} times`);
    }
  });

  it('brings each delta at once', async () => {
    let heard: (() => void) | undefined;
    const stream = await streamOf(async (ctx, helpers) => {
      for (const word of words) {
        const next = new Promise<void>((resolve) => (heard = resolve));
        helpers.reportMessage('m', word);
        await next;
      }
      ctx.ack();
    });
    let text = '';
    for await (const event of readTurnStream(stream.toResponse())) {
      if (event.event !== 'message') continue;
      text += event.aDelta;
      assert.equal(event.full, text);
      heard!();
    }
    assert.equal(text, words.join(''));
  });

  it('says how a turn ended that failed, was aborted or was refused', async () => {
    const no = new TypeError('no', { cause: new Error('why') });
    const nacked = readTurnStream((await streamOf((ctx) => ctx.nack(no))).toResponse());
    await assert.rejects(joined(nacked), { name: 'TypeError', message: 'no' });
    const { status, error } = await nacked.result;
    assert.equal(status, 'nack');
    assert.equal((error as Error & { cause: Error }).cause.message, 'why');

    const aborted = readTurnStream((await streamOf((ctx) => ctx.abort(no))).toResponse());
    await joined(aborted);
    assert.equal((await aborted.result).status, 'aborted');

    const { runner } = await makeRun((ctx) => ctx.ack(), { host: { module: new Uint8Array(1) } });
    const refused = readTurnStream(runner.stream({ systemPrompt: 'test' }).toResponse());
    await assert.rejects(joined(refused), { code: 'E_INVALID_MODULE' });
    assert.equal((await refused.result).status, 'failed');
  });

  /** A turn that reports a word and waits to be aborted. */
  async function waiting(): Promise<TurnStream> {
    return streamOf(async (ctx, helpers) => {
      helpers.reportMessage('m', 'word');
      await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
    });
  }

  it('aborts its turn when the client goes away', async () => {
    const cancelled = await waiting();
    const body = cancelled.toResponse().body!.getReader();
    await body.read();
    await body.cancel();
    assert.equal((await cancelled.result).status, 'aborted');

    const closed = await waiting();
    readTurnStream(closed.toResponse()).abort();
    assert.equal((await closed.result).status, 'aborted');

    for (const early of [true, false]) {
      const signalled = await waiting();
      const client = new AbortController();
      if (early) client.abort();
      const response = signalled.toResponse({ signal: client.signal });
      const text = response.text();
      client.abort();
      await text;
      assert.equal((await signalled.result).status, 'aborted');
    }
  });

  it('lets its turn run on if it is to', async () => {
    let go: () => void = () => undefined;
    const stream = await streamOf(async (ctx) => {
      await new Promise<void>((resolve) => (go = resolve));
      ctx.ack();
    });
    const client = new AbortController();
    const options = { onDisconnect: 'continue', signal: client.signal } as const;
    const text = stream.toResponse(options).text();
    client.abort();
    assert.doesNotMatch(await text, /event:end/);
    await stream.toResponse(options).body?.cancel();
    go();
    assert.equal((await stream.result).status, 'ack');
  });

  it('begins after the event that the client has', async () => {
    const stream = await streamOf(answer);
    await stream.result;
    const all = await stream.toResponse().text();
    const ids = Array.from(all.matchAll(/^id:(\d+)$/gm), ([, id]) => Number(id));
    for (const lastEventId of [0, ...ids]) {
      const rest = await stream.toResponse({ lastEventId: String(lastEventId) }).text();
      const left = Array.from(rest.matchAll(/^id:(\d+)$/gm), ([, id]) => Number(id));
      assert.ok(left.every((id) => id > lastEventId));
      assert.equal(left.at(-1), Math.max(ids.at(-1)!, lastEventId + 1));
    }
  });

  it('rejects options that are none', async () => {
    const stream = await streamOf((ctx) => ctx.ack());
    const refuses = (options: object, field: string): void =>
      assert.throws(
        () => stream.toResponse(options),
        (error) => isTurncoreError(error, 'E_INVALID_VALUE') && error.message.includes(field),
      );
    refuses({ onDisconnect: 'stop' }, 'onDisconnect');
    for (const lastEventId of ['x', -1, 1.5]) refuses({ lastEventId }, 'lastEventId');
    await stream.result;
  });
});

describe('a response that is not a turn', () => {
  const events = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } };

  const cases: readonly (readonly [
    name: string,
    response: () => Response,
    code: string,
    says: RegExp,
  ])[] = [
    [
      'HTML',
      () => new Response('<p>', { headers: { 'content-type': 'text/html' } }),
      'E_TURN_STREAM_MALFORMED',
      /text\/html/,
    ],
    ['no type', () => new Response(new Uint8Array(3)), 'E_TURN_STREAM_MALFORMED', /missing/],
    ['no body', () => new Response(null, events), 'E_TURN_STREAM_MALFORMED', /no body/],
    [
      '404 as HTML',
      () => new Response('<h1>Not\n found</h1>', { status: 404 }),
      'E_TURN_REQUEST_REFUSED',
      /404.*: <h1>Not found/,
    ],
    [
      '502 without a body',
      () => new Response(null, { status: 502, statusText: 'Bad Gateway' }),
      'E_TURN_REQUEST_REFUSED',
      /502 Bad Gateway$/,
    ],
    [
      'an error of the server',
      () => Response.json({ error: { code: 'E_CLOSED', message: 'gone' } }, { status: 410 }),
      'E_CLOSED',
      /^gone$/,
    ],
    [
      'other JSON',
      () => Response.json({ error: 'no' }, { status: 500 }),
      'E_TURN_REQUEST_REFUSED',
      /500.*"no"/,
    ],
    ['nothing', () => new Response('', events), 'E_TURN_STREAM_CUT', /after event 0/],
    [
      'a beginning',
      () =>
        new Response('data:{"event":"turnStart","at":1,"startedAt":1}\nid:1\n\ndata:{"eve', events),
      'E_TURN_STREAM_CUT',
      /after event 1/,
    ],
    [
      'a failure without its error',
      () => new Response('event:end\ndata:{"status":"failed","iterations":1}\nid:1\n\n', events),
      'E_TURN_STREAM_MALFORMED',
      /`error`/,
    ],
    [
      'an end whose error is none',
      () =>
        new Response('event:end\ndata:{"status":"ack","iterations":1,"error":5}\nid:1\n\n', events),
      'E_TURN_STREAM_MALFORMED',
      /`error`/,
    ],
    ['garbage', () => new Response('data:garbage\n\n', events), 'E_TURN_STREAM_MALFORMED', /JSON/],
  ];
  for (const [name, response, code, says] of cases) {
    it(name, async () => {
      const stream = readTurnStream(response());
      await assert.rejects(
        joined(stream),
        (error) => isTurncoreError(error, code) && says.test(error.message),
      );
      const result = await stream.result;
      assert.equal(result.status, 'failed');
      assert.ok(isTurncoreError(result.error, code));
    });
  }

  it('a value that is none', () => {
    const read = (): unknown => readTurnStream(undefined as unknown as Response);
    assert.throws(read, { code: 'E_INVALID_VALUE', message: /response/ });
  });

  it('a connection that breaks', async () => {
    const body = new ReadableStream({ pull: (stream) => stream.error(new Error('reset')) });
    const { error } = await readTurnStream(new Response(body, events)).result;
    assert.ok(isTurncoreError(error, 'E_TURN_STREAM_CUT'));
    assert.match(error.message, /reset/);
  });
});
